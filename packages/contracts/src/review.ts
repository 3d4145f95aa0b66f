import { z } from "zod";
import { createdAnswer, itemAnswer, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { LIMITS, TEXT_OR_FILES, hasTextOrFiles, lineUpTo, messageText, textUpTo, wellFormedString } from "./limits.ts";
import { projectNameSchema } from "./project.ts";
import { ticketItemSchema, ticketPriorityField, ticketTagsField } from "./ticket.ts";

/** Limits of files attached by operators. */
export const OPERATOR_FILE_LIMITS = {
  /** Maximum number of files per reply. */
  maxCount: 10,
  fileMaxBytes: 10 * 1024 * 1024,
  /** Maximum body size of an upload, as base64 or as a form. */
  bodyMaxBytes: 15 * 1024 * 1024,
  /** Maximum number and bytes of a ticket's files that are not attached to a reply yet. */
  unusedMaxBytes: 100 * 1024 * 1024,
  /** Hours after which a file that is not attached to a reply is deleted. */
  unusedHours: 24,
} as const;

const NAME_MAX_CHARS = 500;
/** Base64 encodes three bytes as four characters. */
const CONTENT_MAX_CHARS = Math.ceil(OPERATOR_FILE_LIMITS.fileMaxBytes / 3) * 4;

/** A file uploaded as JSON. */
export const operatorFileInputSchema = z.strictObject({
  filename: wellFormedString.max(NAME_MAX_CHARS),
  content: z.base64({ error: "must be the content of the file in base64" }).max(CONTENT_MAX_CHARS),
});

/** An uploaded file for a reply. */
export const operatorFileSchema = z.object({
  fileId: z.uuid(),
  filename: z.string(),
  mime: z.string().describe("Detected from the content."),
  sizeBytes: z.int(),
});
export type OperatorFile = z.infer<typeof operatorFileSchema>;

/** Files attached to a reply, as referenced by a decision. */
export const replyFilesField = z
  .array(z.strictObject({ fileId: z.uuid({ error: "must be the ID of a file" }) }))
  .max(OPERATOR_FILE_LIMITS.maxCount, { error: `must have at most ${OPERATOR_FILE_LIMITS.maxCount} files` })
  .refine((files) => new Set(files.map(({ fileId }) => fileId.toLowerCase())).size === files.length, {
    error: "must not contain the same file twice",
  })
  .optional()
  .describe("Files of this ticket, as returned by `POST …/files`. The customer receives them after the text.");

const route = routesAt("Reviews", "/api/v1/admin/tickets");

/** Files attached by operators. */
export const replyFileEndpoints = {
  addReplyFile: {
    ...route("POST /{id}/files", "tickets:write", "Upload a file for a reply"),
    description:
      "At most 10 MB. Reference it in `attachments` of `reply` or `edit`; otherwise it is deleted after one day. The customer receives it as a download in the widget, as a file in Telegram, and as an attachment of the reply in the HTTP API.",
    body: {
      schema: operatorFileInputSchema,
      maxBytes: OPERATOR_FILE_LIMITS.bodyMaxBytes,
      otherTypes: { "multipart/form-data": "A form with one file, in a field with any name." },
    },
    answers: [createdAnswer(operatorFileSchema, "/api/v1/admin/tickets/{id}/files/{fileId}")],
    errors: ["rate_limited", "storage_full", "storage_quota_exceeded"],
    example: { body: { filename: "label.txt", content: "UmV0dXJuIGxhYmVs" } },
  },
} as const satisfies Record<string, Endpoint>;

/** Limits of what operators write. Characters are Unicode code points. */
export const REVIEW_LIMITS = {
  textMaxChars: LIMITS.textMaxChars,
  noteMaxChars: 10_000,
  mentionsMaxCount: 20,
  reasonMaxChars: 2_000,
  assigneeMaxChars: 320,
  snoozeMaxDays: 366,
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
  "snooze",
  "unsnooze",
] as const;
export type ReviewAction = (typeof REVIEW_ACTIONS)[number];

/** Name of an operator, as shown to other operators: one line. */
const assigneeSchema = lineUpTo(REVIEW_LIMITS.assigneeMaxChars);

const flagSchema = z.boolean({ error: "must be true or false" }).optional();
const markdownSchema = flagSchema;
const resolvesSchema = flagSchema.describe(
  "If true, the ticket is resolved with the reply, unless another message is waiting by then. Defaults to false.",
);
const emptySchema = z.strictObject({});

const untilSchema = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-12-24T09:00:00Z, or null" })
  .nullable()
  .describe("When the ticket returns to the inbox. Null: when the customer writes, which always ends the snooze.");

/** Changes to a ticket that come with a reply, in the same decision. Unknown fields are rejected. */
export const replyActionsSchema = z.strictObject({
  addTags: ticketTagsField.optional().describe("Tags that the ticket gets besides its own."),
  priority: ticketPriorityField.optional(),
  assignee: assigneeSchema
    .nullable()
    .optional()
    .describe("Who has the ticket after the reply. Null: nobody. Defaults to the author, unless it is assigned."),
  snooze: z.strictObject({ until: untilSchema }).optional(),
});
export type ReplyActions = z.infer<typeof replyActionsSchema>;

/** Returns true unless a reply both resolves the ticket and snoozes it. */
const isOneEnd = ({ resolves, actions }: { resolves?: boolean | undefined; actions?: ReplyActions | undefined }) =>
  resolves !== true || actions?.snooze === undefined;
const ONE_END = { path: ["actions", "snooze"], error: "cannot be combined with resolves" };

/** Bodies of the actions at `POST /api/v1/admin/tickets/:id/<action>`. Unknown fields are rejected. */
export const REVIEW_INPUTS = {
  approve: z.strictObject({ resolves: resolvesSchema }),
  edit: z
    .strictObject({
      text: messageText(REVIEW_LIMITS.textMaxChars).describe("Text to send instead of the draft."),
      markdown: markdownSchema.describe("Defaults to the draft's value."),
      attachments: replyFilesField,
      resolves: resolvesSchema,
      actions: replyActionsSchema.optional(),
    })
    .refine(isOneEnd, ONE_END),
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
  reply: z
    .strictObject({
      text: textUpTo(REVIEW_LIMITS.textMaxChars)
        .optional()
        .describe("May be empty or omitted with `attachments`: only the files are sent then."),
      markdown: markdownSchema.describe("Defaults to false."),
      attachments: replyFilesField,
      resolves: resolvesSchema,
      actions: replyActionsSchema.optional(),
    })
    .refine(isOneEnd, ONE_END)
    .refine(hasTextOrFiles, TEXT_OR_FILES),
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
  snooze: z.strictObject({ until: untilSchema }),
  unsnooze: emptySchema,
} as const satisfies Record<ReviewAction, z.ZodType>;

/** Body of each action. */
export type ReviewInput<Action extends ReviewAction> = z.infer<(typeof REVIEW_INPUTS)[Action]>;

/** Returns the common fields of all decisions, for the action at the end of the path. */
function decision<Action extends ReviewAction>(action: Action, summary: string) {
  return {
    ...route(`POST /{id}/${action}`, "tickets:write", summary),
    answers: [itemAnswer(ticketItemSchema, { headers: { ETag: "Version of the ticket after the decision." } })],
    errors: ["version_conflict"],
  } as const satisfies Endpoint;
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
    ...decision("approve", "Approve the draft"),
    description: `${NOT_OVER_NEWER_MESSAGE} Sends the draft unchanged. The reply answers every message that is waiting for an operator, and is delivered like replies to the newest of them.`,
    body: optional("approve"),
    ifMatch: "required",
  },
  editDraft: {
    ...decision("edit", "Edit the draft and send it"),
    description: `${NOT_OVER_NEWER_MESSAGE} The author of the reply is \`operator\`, and the ticket is assigned to the operator unless it is already assigned.`,
    body: { schema: REVIEW_INPUTS.edit },
    ifMatch: "required",
    example: { body: { text: "Your parcel left us this morning.", markdown: false } },
  },
  rejectDraft: {
    ...decision("reject", "Dismiss the draft"),
    description: `${NOT_OVER_NEWER_MESSAGE} The waiting messages are not answered; senders that use webhooks receive \`message.rejected\`.`,
    body: optional("reject"),
    ifMatch: "required",
    example: { body: { reason: "It was advertising." } },
  },
  regenerateDraft: {
    ...decision("regenerate", "Regenerate the draft"),
    description: "The agent drafts a new answer, for example after a change to the agent or its knowledge bases.",
    body: optional("regenerate"),
    ifMatch: true,
  },
  takeOverTicket: {
    ...decision("takeover", "Take over the ticket"),
    description: "Assigns the ticket to the caller. While a ticket is assigned, nothing is sent automatically.",
    body: optional("takeover"),
    ifMatch: true,
  },
  assignTicket: {
    ...decision("assign", "Assign the ticket"),
    description:
      "While a ticket is assigned, nothing is sent automatically. An operator of the console (`operator:<id>`) must be allowed to answer in the project.",
    body: { schema: REVIEW_INPUTS.assign },
    ifMatch: true,
    example: { body: { assignee: "ada@example.com" } },
  },
  unassignTicket: {
    ...decision("unassign", "Unassign the ticket"),
    description:
      "The agent continues, including with waiting messages. If the customer was promised a person, or with `keepsDraft`, the ticket stays in review with its draft.",
    body: optional("unassign"),
    ifMatch: true,
  },
  addNote: {
    ...decision("note", "Add an internal note"),
    description: "Notes are events of the ticket and are not visible to the customer.",
    body: { schema: REVIEW_INPUTS.note },
    ifMatch: true,
    example: { body: { text: "Called back, wants it by Friday." } },
  },
  replyToTicket: {
    ...decision("reply", "Reply to the customer"),
    description:
      "Answers every message that is waiting for an operator and replaces the draft. If no message is waiting, the reply is delivered like replies to the newest message of the chat. The ticket is assigned to the author unless it is already assigned, so that nothing is sent automatically until it is unassigned or resolved. Send `If-Match` to make sure that a repeated request does not send the reply twice.",
    body: { schema: REVIEW_INPUTS.reply },
    ifMatch: true,
    example: { body: { text: "We have found your parcel." } },
  },
  rerouteTicket: {
    ...decision("reroute", "Route the ticket to another agent or project"),
    description:
      "Future routing learns from this decision. If messages are waiting for an operator, the new agent creates a draft. Another project requires a key with `admin:*`; operators of the console need `tickets:write` in that project.",
    body: { schema: REVIEW_INPUTS.reroute },
    ifMatch: true,
    errors: ["version_conflict", "project_mismatch"],
    example: { body: { agentId: null } },
  },
  resolveTicket: {
    ...decision("resolve", "Close the ticket"),
    description:
      "Sets the status to `resolved` or `spam`. Waiting messages are not answered. A later message from the customer reopens a resolved ticket.",
    body: optional("resolve"),
    ifMatch: true,
    example: { body: { status: "resolved" } },
  },
  reopenTicket: {
    ...decision("reopen", "Reopen the ticket"),
    description:
      "Messages that were unanswered when the ticket was closed wait again, with the previous draft. `restore` also restores the status and the assignee.",
    body: optional("reopen"),
    ifMatch: true,
  },
  retryTicket: {
    ...decision("retry", "Retry failed messages and replies"),
    description:
      "Messages that failed five times are processed again. A reply that could not be delivered is sent again.",
    body: optional("retry"),
    ifMatch: true,
  },
  snoozeTicket: {
    ...decision("snooze", "Snooze the ticket"),
    description:
      "Takes an open ticket out of the views of open work until a time, at most a year ahead, or until the customer writes, whichever is earlier. Messages that are waiting keep waiting. A reply, closing and reopening end the snooze.",
    body: { schema: REVIEW_INPUTS.snooze },
    ifMatch: true,
    example: { body: { until: null } },
  },
  unsnoozeTicket: {
    ...decision("unsnooze", "End the snooze of a ticket"),
    description: "The ticket is in the views of open work again.",
    body: optional("unsnooze"),
    ifMatch: true,
  },
} as const satisfies Record<string, Endpoint>;
