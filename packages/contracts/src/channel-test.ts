import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { textUpTo } from "./well-formed.ts";

/** Body of `POST /api/v1/admin/channels/:id/test`. Unknown fields are rejected. */
export const channelTestSchema = z.strictObject({
  chatId: textUpTo(LIMITS.chatIdMaxChars)
    .min(1, { error: "must have at least 1 character" })
    .optional()
    .describe("Chat ID in Telegram. Defaults to the most recently active chat."),
});
export type ChannelTestInput = z.infer<typeof channelTestSchema>;

/** Result of a test message. */
export const channelTestResultSchema = z.object({
  chatId: z.string(),
  ticketId: z.string(),
  state: z
    .enum(["delivered", "waiting", "failed"])
    .describe("`waiting`: delivery is still being retried; the channel's state may contain the reason."),
  failure: z.string().nullable().describe("Why it was not delivered."),
});
export type ChannelTestResult = z.infer<typeof channelTestResultSchema>;
