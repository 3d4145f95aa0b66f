import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { textUpTo } from "./well-formed.ts";

/** What `POST /api/v1/admin/channels/messenger/test` is asked. Unknown fields are faults. */
export const messengerTestSchema = z.strictObject({
  chatId: textUpTo(LIMITS.chatIdMaxChars)
    .min(1, { error: "at least 1 character" })
    .optional()
    .describe("The chat's number in Telegram; where it is left out, the one in which something happened last."),
});
export type MessengerTestInput = z.infer<typeof messengerTestSchema>;

/** What became of a test message. */
export const messengerTestResultSchema = z.object({
  chatId: z.string(),
  ticketId: z.string(),
  state: z
    .enum(["delivered", "waiting", "failed"])
    .describe("`waiting`: it is still tried; the channel's state may say why."),
  failure: z.string().nullable().describe("Why it was not delivered, in words."),
});
export type MessengerTestResult = z.infer<typeof messengerTestResultSchema>;
