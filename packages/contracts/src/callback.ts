import { z } from "zod";
import { replyItemSchema } from "./reply-item.ts";

/** What a callback tells, and when (service document, section 6, completed). */
export const CALLBACK_TYPES = {
  "message.completed": "The message is answered; `replies` holds the answer. Later replies to it come the same way.",
  "message.in_review": "A person has to look; `replies` may hold a hand-off text. The answer follows as completed.",
  "message.timeout": "There is no answer yet at the end of `timeoutMs`. It still follows as completed.",
  "message.rejected": "An operator has decided that there will be no answer.",
  "message.failed": "The service failed at this message five times. Operators see it and can send it again.",
} as const;
export type CallbackType = keyof typeof CALLBACK_TYPES;
export const callbackTypeSchema = z.enum(Object.keys(CALLBACK_TYPES) as [CallbackType, ...CallbackType[]]);

/** Body of a callback: that of a sync answer, with what a receiver needs besides. */
export const callbackBodySchema = z.object({
  ok: z.literal(true),
  mode: z.literal("webhook"),
  type: callbackTypeSchema,
  deliveryId: z.uuid().describe("The same in all tries: what came twice is to be done once."),
  timestamp: z.iso.datetime().describe("When it happened, the same in all tries."),
  chatId: z.string(),
  ticketId: z.uuid(),
  messageId: z.uuid(),
  replies: z.array(replyItemSchema),
  coveredBy: z
    .uuid()
    .optional()
    .describe("A later message of the chat whose reply, decided on by an operator, answers this one too."),
  meta: z.record(z.string(), z.unknown()).describe("The message's own `meta`, with its `userId`."),
});
export type CallbackBody = z.infer<typeof callbackBodySchema>;

/** Where a delivery is: still tried, received, or given up. */
export const deliveryStateSchema = z.enum(["pending", "delivered", "dead"]);
export type DeliveryState = z.infer<typeof deliveryStateSchema>;

/** One try: the receiver's HTTP status, or why there was none. */
export const deliveryAttemptSchema = z.object({
  at: z.string(),
  status: z.int().nullable(),
  ms: z.int().nullable().describe("How long it took; null while it goes on, or when its process died."),
  error: z.string().nullable(),
});
export type DeliveryAttempt = z.infer<typeof deliveryAttemptSchema>;

/** A delivery as operators see it. */
export const deliveryItemSchema = z.object({
  id: z.uuid(),
  type: callbackTypeSchema,
  ticketId: z.uuid(),
  chatId: z.string(),
  messageId: z.uuid(),
  url: z
    .string()
    .describe("Without the scope webhooks:write user name, password and values of the query are shown as `***`."),
  state: deliveryStateSchema,
  attempts: z.array(deliveryAttemptSchema),
  nextAt: z.iso.datetime().nullable().describe("When it is tried next; null when it is not."),
  createdAt: z.iso.datetime(),
});
export type DeliveryItem = z.infer<typeof deliveryItemSchema>;
