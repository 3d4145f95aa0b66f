import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { replyFilesSchema } from "./operator-file.ts";
import { projectNameSchema } from "./project.ts";
import { lineUpTo, messageText } from "./well-formed.ts";

/** Bounds of what operators write. Characters are Unicode code points. */
export const REVIEW_LIMITS = {
  textMaxChars: LIMITS.textMaxChars,
  noteMaxChars: 10_000,
  mentionsMaxCount: 20,
  reasonMaxChars: 2_000,
  assigneeMaxChars: 320,
} as const;

/** What an operator can decide about a ticket. */
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

/** Name of a person, as the operators call each other: one line. */
const assigneeSchema = lineUpTo(REVIEW_LIMITS.assigneeMaxChars);

const markdownSchema = z.boolean({ error: "true or false" }).optional();
const emptySchema = z.strictObject({});

/** The body of each action at `POST /api/v1/admin/tickets/:id/<action>`. Unknown fields are faults. */
export const REVIEW_INPUTS = {
  approve: emptySchema,
  edit: z.strictObject({
    text: messageText(REVIEW_LIMITS.textMaxChars).describe("What goes out in the draft's place."),
    markdown: markdownSchema.describe("As the draft, where it is left out."),
    attachments: replyFilesSchema,
  }),
  reject: z.strictObject({
    reason: messageText(REVIEW_LIMITS.reasonMaxChars)
      .optional()
      .describe("Why there is no answer: for the ticket's events, the customer does not see it."),
  }),
  regenerate: emptySchema,
  takeover: emptySchema,
  assign: z.strictObject({ assignee: assigneeSchema }),
  unassign: z.strictObject({
    keepsDraft: z
      .boolean({ error: "true or false" })
      .optional()
      .describe("True: what waits goes on waiting for a person, with its draft. False, where it is left out."),
  }),
  note: z.strictObject({
    text: messageText(REVIEW_LIMITS.noteMaxChars).describe("For the operators; the customer does not see it."),
    mentions: z
      .array(z.uuid({ error: "the id of an operator" }))
      .max(REVIEW_LIMITS.mentionsMaxCount, { error: `at most ${REVIEW_LIMITS.mentionsMaxCount} operators` })
      .optional()
      .describe("Ids of the operators whom it is for: the console tells them."),
  }),
  reply: z.strictObject({
    text: messageText(REVIEW_LIMITS.textMaxChars),
    markdown: markdownSchema.describe("False, where it is left out."),
    attachments: replyFilesSchema,
  }),
  reroute: z.strictObject({
    agentId: z
      .uuid({ error: "the id of an agent, or null" })
      .nullable()
      .describe("The agent that is to answer from now on; null for none."),
    project: projectNameSchema
      .optional()
      .describe("Name of the project that is to work on the ticket, where that is another one."),
  }),
  resolve: z.strictObject({
    status: z
      .enum(["resolved", "spam"], { error: "one of resolved, spam" })
      .optional()
      .describe("resolved, where it is left out."),
  }),
  reopen: z.strictObject({
    restore: z
      .boolean({ error: "true or false" })
      .optional()
      .describe("True: status and assignee are as before the ticket was closed. False, where it is left out."),
  }),
  retry: emptySchema,
} as const satisfies Record<ReviewAction, z.ZodType>;

/** What an action takes. */
export type ReviewInput<Action extends ReviewAction> = z.infer<(typeof REVIEW_INPUTS)[Action]>;
