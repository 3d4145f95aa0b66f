import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { replyFilesSchema } from "./operator-file.ts";
import { projectNameSchema } from "./project.ts";
import { lineUpTo, messageText } from "./well-formed.ts";

/** Limits of what operators write. Characters are Unicode code points. */
export const REVIEW_LIMITS = {
  textMaxChars: LIMITS.textMaxChars,
  noteMaxChars: 10_000,
  mentionsMaxCount: 20,
  reasonMaxChars: 2_000,
  assigneeMaxChars: 320,
} as const;

/** Actions of operators on a ticket. */
export const REVIEW_ACTIONS = [
  "approve",
  "edit",
  "reject",
  "regenerate",
  "takeover",
  "assign",
  "unassign",
  "note",
  "reply",
  "reroute",
  "resolve",
  "reopen",
  "retry",
] as const;
export type ReviewAction = (typeof REVIEW_ACTIONS)[number];

/** Name of an operator, as shown to other operators: one line. */
const assigneeSchema = lineUpTo(REVIEW_LIMITS.assigneeMaxChars);

const markdownSchema = z.boolean({ error: "must be true or false" }).optional();
const emptySchema = z.strictObject({});

/** Bodies of the actions at `POST /api/v1/admin/tickets/:id/<action>`. Unknown fields are rejected. */
export const REVIEW_INPUTS = {
  approve: emptySchema,
  edit: z.strictObject({
    text: messageText(REVIEW_LIMITS.textMaxChars).describe("Text to send instead of the draft."),
    markdown: markdownSchema.describe("Defaults to the draft's value."),
    attachments: replyFilesSchema,
  }),
  reject: z.strictObject({
    reason: messageText(REVIEW_LIMITS.reasonMaxChars)
      .optional()
      .describe("Why there is no answer. Stored in the ticket's events; not visible to the customer."),
  }),
  regenerate: emptySchema,
  takeover: emptySchema,
  assign: z.strictObject({ assignee: assigneeSchema }),
  unassign: z.strictObject({
    keepsDraft: z
      .boolean({ error: "must be true or false" })
      .optional()
      .describe("If true, waiting messages keep waiting for an operator, with their draft. Defaults to false."),
  }),
  note: z.strictObject({
    text: messageText(REVIEW_LIMITS.noteMaxChars).describe("For operators; not visible to the customer."),
    mentions: z
      .array(z.uuid({ error: "must be the ID of an operator" }))
      .max(REVIEW_LIMITS.mentionsMaxCount, { error: `must have at most ${REVIEW_LIMITS.mentionsMaxCount} operators` })
      .optional()
      .describe("IDs of mentioned operators. The console notifies them."),
  }),
  reply: z.strictObject({
    text: messageText(REVIEW_LIMITS.textMaxChars),
    markdown: markdownSchema.describe("Defaults to false."),
    attachments: replyFilesSchema,
  }),
  reroute: z.strictObject({
    agentId: z
      .uuid({ error: "must be the ID of an agent, or null" })
      .nullable()
      .describe("The new agent. Null for none."),
    project: projectNameSchema.optional().describe("Name of the project to move the ticket to, if different."),
  }),
  resolve: z.strictObject({
    status: z
      .enum(["resolved", "spam"], { error: "must be resolved or spam" })
      .optional()
      .describe("Defaults to `resolved`."),
  }),
  reopen: z.strictObject({
    restore: z
      .boolean({ error: "must be true or false" })
      .optional()
      .describe("If true, restores the status and assignee from before the ticket was closed. Defaults to false."),
  }),
  retry: emptySchema,
} as const satisfies Record<ReviewAction, z.ZodType>;

/** Body of each action. */
export type ReviewInput<Action extends ReviewAction> = z.infer<(typeof REVIEW_INPUTS)[Action]>;
