import { z } from "zod";

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
export type TypingEvent = z.infer<typeof typingEventSchema>;

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
