import { z } from "zod";

/** Author of a reply. */
export const replyAuthorSchema = z.enum(["agent", "operator", "system"]);
export type ReplyAuthor = z.infer<typeof replyAuthorSchema>;

/** Source of a statement in an answer. `quote` occurs in the document word for word. */
export const sourceSchema = z.object({
  title: z.string(),
  url: z.string().optional(),
  documentId: z.string(),
  chunkId: z.string(),
  quote: z.string().describe("The passage that the answer is based on, word for word as in the document."),
  excerpt: z
    .string()
    .optional()
    .describe("Start of the quote as one line of plain text, for display. Absent from older answers."),
});
export type Source = z.infer<typeof sourceSchema>;

/** A text to send, written by a pipeline stage or an operator. */
export interface MessageDraft {
  type: "message";
  text: string;
  markdown: boolean;
  sources?: Source[];
}

/** A file to send. */
export interface AttachmentDraft {
  type: "attachment";
  filename: string;
  mime: string;
  content: Buffer;
}

/** A reply item before it has an ID and a position in its chat. */
export type ReplyDraft = MessageDraft | AttachmentDraft;

/** Fields of every reply item in addition to those in the service document, section 2.2. */
const positionSchema = z.object({
  id: z.string(),
  seq: z.number().describe("Position in the chat. Always increasing."),
  createdAt: z.string(),
  inReplyTo: z.string().nullable(),
  author: replyAuthorSchema,
});

/** Element of the `replies` array (service document, section 2.2). */
export const replyItemSchema = z.discriminatedUnion("type", [
  positionSchema.extend({
    type: z.literal("message"),
    text: z.string(),
    markdown: z.boolean(),
    sources: z.array(sourceSchema).optional(),
  }),
  positionSchema.extend({
    type: z.literal("attachment"),
    filename: z.string(),
    mime: z.string(),
    base64: z.string(),
  }),
]);
export type ReplyItem = z.infer<typeof replyItemSchema>;

/** Fields of every response to a message. */
const names = {
  ok: z.literal(true),
  chatId: z.string().describe("The conversation: the one from the request, or a new one."),
  ticketId: z.uuid().describe("Ticket of the conversation."),
  messageId: z.uuid().describe("ID of the message. Replies to it have it as `inReplyTo`."),
};
const drainUrl = z.string().describe("Path to collect the replies from.");

/** Response 200 of a sync request: the replies to its message (service document, section 4.2). */
export const syncAnswerSchema = z.object({
  ...names,
  mode: z.literal("sync"),
  status: z.literal("rejected").optional().describe("An operator decided not to answer."),
  replies: z.array(replyItemSchema),
  coveredBy: z
    .uuid()
    .optional()
    .describe("ID of a later message in the chat whose reply, from an operator, also answers this message."),
});
export type SyncAnswer = z.infer<typeof syncAnswerSchema>;

/**
 * Response 202 of a sync request: no reply from an agent within the timeout, or an operator must review it. The reply
 * is buffered.
 */
export const pendingAnswerSchema = z.object({
  ...names,
  mode: z.literal("sync"),
  status: z.enum(["pending", "in_review"]).describe("`in_review`: an operator must review the answer."),
  timedOut: z.boolean().describe("True if `timeoutMs` passed first."),
  replies: z.array(replyItemSchema).describe("Handoff text of the project, if there is one."),
  drainUrl,
});
export type PendingAnswer = z.infer<typeof pendingAnswerSchema>;

/** Response 202 of an async request. */
export const asyncAnswerSchema = z.object({
  ...names,
  mode: z.literal("async"),
  status: z.literal("queued"),
  drainUrl,
});
export type AsyncAnswer = z.infer<typeof asyncAnswerSchema>;

/** Response 202 of a request that is answered by a callback. */
export const webhookAnswerSchema = z.object({
  ...names,
  mode: z.literal("webhook"),
  status: z.literal("queued"),
  deliveryId: z
    .uuid()
    .nullable()
    .describe("ID of the final callback. Null if the request repeats one whose callback is no longer stored."),
  drainUrl,
});
export type WebhookAnswer = z.infer<typeof webhookAnswerSchema>;

/** Response of `GET /api/v1/messages/:chatId` (service document, section 4.3). */
export const drainAnswerSchema = z.object({
  ok: z.literal(true),
  chatId: z.string(),
  replies: z.array(replyItemSchema).describe("Replies in order. An empty list is a normal result."),
  cursor: z.string().describe("Position of the last reply. Send it as `after` to acknowledge the replies."),
  more: z.boolean().describe("True if there are more replies than one response contains."),
});
export type DrainAnswer = z.infer<typeof drainAnswerSchema>;

/** Event `accepted` of a streaming sync request: the message is stored. */
export const acceptedEventSchema = z.object({
  ok: z.literal(true),
  mode: z.literal("sync"),
  chatId: z.string(),
  ticketId: z.uuid(),
  messageId: z.uuid(),
  drainUrl: z.string(),
});
export type AcceptedEvent = z.infer<typeof acceptedEventSchema>;

/** Event `typing`: whether an answer is being written. */
export const typingEventSchema = z.object({ on: z.boolean() });

/**
 * Event `delta`: replaces everything after `offset` (in UTF-16 code units, as in JavaScript) in the partial answer with
 * `text`. `offset` is either 0, for a new text, or the end of the previous delta.
 */
export const deltaEventSchema = z.object({
  messageId: z.uuid().describe("The message that is being answered. The reply has it as `inReplyTo`."),
  offset: z.int().min(0).describe("0 replaces everything before; otherwise the end of the previous delta."),
  text: z.string(),
});
export type DeltaEvent = z.infer<typeof deltaEventSchema>;
