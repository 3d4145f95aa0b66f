import { z } from "zod";
import { wellFormedString } from "./well-formed.ts";

/** Characters of a test message. */
export const TEST_MESSAGE_MAX_CHARS = 2_000;

/** `origin` in the channel_meta of a test message's ticket. */
export const TEST_ORIGIN = "test";

/** What somebody writes to see what the agents answer. */
export const testMessageSchema = z.strictObject({
  text: wellFormedString
    .max(TEST_MESSAGE_MAX_CHARS, { error: `at most ${TEST_MESSAGE_MAX_CHARS} characters` })
    .refine((text) => text.trim() !== "", { error: "at least 1 character that is not white space" }),
});
export type TestMessageInput = z.infer<typeof testMessageSchema>;

/** Where a test message can be followed. */
export const sentTestMessageSchema = z.object({ ticketId: z.string(), messageId: z.string(), chatId: z.string() });
export type SentTestMessage = z.infer<typeof sentTestMessageSchema>;
