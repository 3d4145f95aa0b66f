import { z } from "zod";

/** Limits of emails to customers. */
export const REPLY_EMAIL_LIMITS = { delayMaxMinutes: 1_440 } as const;

/**
 * When customers who have left the page with the widget get replies by email. Parsing an empty object returns the
 * defaults.
 */
export const replyEmailsSchema = z.strictObject({
  delayMinutes: z
    .int()
    .min(1)
    .max(REPLY_EMAIL_LIMITS.delayMaxMinutes)
    .default(5)
    .describe("Minutes that a reply waits for the customer's browser before it is sent by email. Defaults to 5."),
  recipients: z
    .enum(["all", "verified"], { error: "must be all or verified" })
    .default("all")
    .describe(
      "`verified`: only addresses that are the signed user ID or were set by an operator. `all` (default): also addresses from the form before the first message, which may belong to somebody else; these emails do not contain what the customer wrote.",
    ),
});
export type ReplyEmails = z.output<typeof replyEmailsSchema>;
