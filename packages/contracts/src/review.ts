import { z } from "zod";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits.ts";
import { replyFilesField } from "./operator-file.ts";
import { projectNameSchema } from "./project.ts";
import { ticketItemSchema } from "./ticket-item.ts";
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
    attachments: replyFilesField,
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
    attachments: replyFilesField,
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

/** Common fields of all decisions, for the action at the end of the path. */
function decision<Action extends ReviewAction>(action: Action) {
  return {
    method: "POST",
    path: `/api/v1/admin/tickets/{id}/${action}`,
    tag: "Reviews",
    scope: "tickets:write",
    answers: [itemAnswer(ticketItemSchema, { headers: { ETag: "Version of the ticket after the decision." } })],
    errors: ["version_conflict"],
  } as const satisfies Partial<Endpoint>;
}

/** Body of an action that can be omitted. */
const optional = <Action extends ReviewAction>(action: Action) =>
  ({ schema: REVIEW_INPUTS[action], isOptional: true }) as const;

const NOT_OVER_NEWER_MESSAGE =
  "Returns 412, and sends nothing, if the ticket has a different version from the one in `If-Match`, or if the " +
  "customer has sent a message that is not in the ticket yet.";

/** Decisions of operators on tickets. Each decision is applied at most once, or rejected. */
export const reviewEndpoints = {
  approveDraft: {
    ...decision("approve"),
    summary: "Approve the draft",
    description: `${NOT_OVER_NEWER_MESSAGE} Sends the draft unchanged. The reply answers every message that is waiting for an operator, and is delivered like replies to the newest of them.`,
    body: optional("approve"),
    ifMatch: "required",
  },
  editDraft: {
    ...decision("edit"),
    summary: "Edit the draft and send it",
    description: `${NOT_OVER_NEWER_MESSAGE} The author of the reply is \`operator\`, and the ticket is assigned to the operator unless it is already assigned.`,
    body: { schema: REVIEW_INPUTS.edit },
    ifMatch: "required",
    example: { body: { text: "Your parcel left us this morning.", markdown: false } },
  },
  rejectDraft: {
    ...decision("reject"),
    summary: "Dismiss the draft",
    description: `${NOT_OVER_NEWER_MESSAGE} The waiting messages are not answered; senders that use webhooks receive \`message.rejected\`.`,
    body: optional("reject"),
    ifMatch: "required",
    example: { body: { reason: "It was advertising." } },
  },
  regenerateDraft: {
    ...decision("regenerate"),
    summary: "Regenerate the draft",
    description: "The agent drafts a new answer, for example after a change to the agent or its knowledge bases.",
    body: optional("regenerate"),
    ifMatch: true,
  },
  takeOverTicket: {
    ...decision("takeover"),
    summary: "Take over the ticket",
    description: "Assigns the ticket to the caller. While a ticket is assigned, nothing is sent automatically.",
    body: optional("takeover"),
    ifMatch: true,
  },
  assignTicket: {
    ...decision("assign"),
    summary: "Assign the ticket",
    description:
      "While a ticket is assigned, nothing is sent automatically. An operator of the console (`operator:<id>`) must be allowed to answer in the project.",
    body: { schema: REVIEW_INPUTS.assign },
    ifMatch: true,
    example: { body: { assignee: "ada@example.com" } },
  },
  unassignTicket: {
    ...decision("unassign"),
    summary: "Unassign the ticket",
    description:
      "The agent continues, including with waiting messages. If the customer was promised a person, or with `keepsDraft`, the ticket stays in review with its draft.",
    body: optional("unassign"),
    ifMatch: true,
  },
  addNote: {
    ...decision("note"),
    summary: "Add an internal note",
    description: "Notes are events of the ticket and are not visible to the customer.",
    body: { schema: REVIEW_INPUTS.note },
    ifMatch: true,
    example: { body: { text: "Called back, wants it by Friday." } },
  },
  replyToTicket: {
    ...decision("reply"),
    summary: "Reply to the customer",
    description:
      "Answers every message that is waiting for an operator and replaces the draft. If no message is waiting, the reply is delivered like replies to the newest message of the chat. The ticket is assigned to the author unless it is already assigned, so that nothing is sent automatically until it is unassigned or resolved. Send `If-Match` to make sure that a repeated request does not send the reply twice.",
    body: { schema: REVIEW_INPUTS.reply },
    ifMatch: true,
    example: { body: { text: "We have found your parcel." } },
  },
  rerouteTicket: {
    ...decision("reroute"),
    summary: "Route the ticket to another agent or project",
    description:
      "Future routing learns from this decision. If messages are waiting for an operator, the new agent creates a draft. Another project requires a key with `admin:*`; operators of the console need `tickets:write` in that project.",
    body: { schema: REVIEW_INPUTS.reroute },
    ifMatch: true,
    errors: ["version_conflict", "project_mismatch"],
    example: { body: { agentId: null } },
  },
  resolveTicket: {
    ...decision("resolve"),
    summary: "Close the ticket",
    description:
      "Sets the status to `resolved` or `spam`. Waiting messages are not answered. A later message from the customer reopens a resolved ticket.",
    body: optional("resolve"),
    ifMatch: true,
    example: { body: { status: "resolved" } },
  },
  reopenTicket: {
    ...decision("reopen"),
    summary: "Reopen the ticket",
    description:
      "Messages that were unanswered when the ticket was closed wait again, with the previous draft. `restore` also restores the status and the assignee.",
    body: optional("reopen"),
    ifMatch: true,
  },
  retryTicket: {
    ...decision("retry"),
    summary: "Retry failed messages and replies",
    description:
      "Messages that failed five times are processed again. A reply that could not be delivered is sent again.",
    body: optional("retry"),
    ifMatch: true,
  },
} as const satisfies Record<string, Endpoint>;
