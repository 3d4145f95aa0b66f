import { z } from "zod";
import { wellFormedString } from "./well-formed.ts";

/** Maximum characters of a test message. */
export const TEST_MESSAGE_MAX_CHARS = 2_000;

/** `origin` in the channel_meta of a test message's ticket. */
export const TEST_ORIGIN = "test";

/** A message to test the agents' answers. */
export const testMessageSchema = z.strictObject({
  text: wellFormedString
    .max(TEST_MESSAGE_MAX_CHARS, { error: `must have at most ${TEST_MESSAGE_MAX_CHARS} characters` })
    .refine((text) => text.trim() !== "", { error: "must not be empty or only whitespace" }),
});
export type TestMessageInput = z.infer<typeof testMessageSchema>;

/** IDs under which a test message can be followed. */
export const sentTestMessageSchema = z.object({ ticketId: z.string(), messageId: z.string(), chatId: z.string() });
export type SentTestMessage = z.infer<typeof sentTestMessageSchema>;
