import { z } from "zod";
import { replyItemSchema } from "./reply-item.ts";

/** What every answer to a message names. */
const names = {
  ok: z.literal(true),
  chatId: z.string().describe("The conversation: the one that was sent, or a new one."),
  ticketId: z.uuid().describe("Its ticket."),
  messageId: z.uuid().describe("The message itself; replies to it have it as `inReplyTo`."),
};
const drainUrl = z.string().describe("Path under which the replies are collected.");

/** Answer 200 of a sync call: the replies to its message (service document, section 4.2). */
export const syncAnswerSchema = z.object({
  ...names,
  mode: z.literal("sync"),
  status: z.literal("rejected").optional().describe("An operator has decided that there will be no answer."),
  replies: z.array(replyItemSchema),
  coveredBy: z
    .uuid()
    .optional()
    .describe("A later message of the chat whose reply, decided on by an operator, answers this one too."),
});
export type SyncAnswer = z.infer<typeof syncAnswerSchema>;

/** Answer 202 of a sync call: no reply of an agent in time, or a person has to look. It will be in the drain. */
export const pendingAnswerSchema = z.object({
  ...names,
  mode: z.literal("sync"),
  status: z.enum(["pending", "in_review"]).describe("`in_review`: a person has to look."),
  timedOut: z.boolean().describe("True when `timeoutMs` was over first."),
  replies: z.array(replyItemSchema).describe("The project's hand-off text, where it has one."),
  drainUrl,
});
export type PendingAnswer = z.infer<typeof pendingAnswerSchema>;

/** Answer 202 of an async call. */
export const asyncAnswerSchema = z.object({
  ...names,
  mode: z.literal("async"),
  status: z.literal("queued"),
  drainUrl,
});
export type AsyncAnswer = z.infer<typeof asyncAnswerSchema>;

/** Answer 202 of a call that is answered by a callback. */
export const webhookAnswerSchema = z.object({
  ...names,
  mode: z.literal("webhook"),
  status: z.literal("queued"),
  deliveryId: z
    .uuid()
    .nullable()
    .describe("Id of the final callback; null when the call repeats one whose callback is not kept any more."),
  drainUrl,
});
export type WebhookAnswer = z.infer<typeof webhookAnswerSchema>;

/** Answer of `GET /api/v1/messages/:chatId` (service document, section 4.3). */
export const drainAnswerSchema = z.object({
  ok: z.literal(true),
  chatId: z.string(),
  replies: z.array(replyItemSchema).describe("In their order; none is a normal result."),
  cursor: z.string().describe("Place of the last reply, to be sent as `after`."),
  more: z.boolean().describe("True when there are more than one answer holds."),
});
export type DrainAnswer = z.infer<typeof drainAnswerSchema>;
