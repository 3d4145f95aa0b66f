import { z } from "zod";

/** Event `accepted` of a sync call that is answered with events: the message is stored. */
export const acceptedEventSchema = z.object({
  ok: z.literal(true),
  mode: z.literal("sync"),
  chatId: z.string(),
  ticketId: z.uuid(),
  messageId: z.uuid(),
  drainUrl: z.string(),
});
export type AcceptedEvent = z.infer<typeof acceptedEventSchema>;

/** Event `typing`: whether an answer is being made. */
export const typingEventSchema = z.object({ on: z.boolean() });
export type TypingEvent = z.infer<typeof typingEventSchema>;

/**
 * Event `delta`: what an answer says that is being made is what it said before, up to `offset` (in UTF-16 code units, as
 * JavaScript counts), and then `text`. `offset` is 0, and the text is all anew, or else where the delta before ended.
 */
export const deltaEventSchema = z.object({
  messageId: z.uuid().describe("The message that is being answered; the reply has it as `inReplyTo`."),
  offset: z.int().min(0).describe("0: what came before is replaced. Else where the delta before has ended."),
  text: z.string(),
});
export type DeltaEvent = z.infer<typeof deltaEventSchema>;
