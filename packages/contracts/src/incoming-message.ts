import { z } from "zod";

/** The channels of the service document, section 2.3. */
export const channelIdSchema = z.enum(["messenger", "widget", "api"]);
export type ChannelId = z.infer<typeof channelIdSchema>;
export const CHANNEL_IDS = channelIdSchema.options;

/** What can be switched on and off, and what Integrations lists: the channels and the tool server. */
export const integrationIdSchema = z.enum([...channelIdSchema.options, "tool-server"]);
export type IntegrationId = z.infer<typeof integrationIdSchema>;
export const INTEGRATION_IDS = integrationIdSchema.options;

/** A file that came with a message (service document, section 2.3). */
export const attachmentRefSchema = z.object({
  type: z.string(),
  url: z.string().optional(),
  name: z.string().optional(),
  expired: z.boolean().optional().describe("True when the retention of files has removed it; it has no `url` then."),
});
export type AttachmentRef = z.infer<typeof attachmentRefSchema>;

/** What a channel hands over for every message that comes in (service document, section 2.3). */
export const incomingMessageSchema = z.object({
  channelId: channelIdSchema,
  chatId: z.string(),
  userId: z.string().optional(),
  text: z.string(),
  /** Epoch milliseconds. */
  timestamp: z.number(),
  attachments: z.array(attachmentRefSchema).optional(),
  // Kept as it is: a record of zod would leave out a key `__proto__`, which is data like any other.
  channelMeta: z.custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    { error: "must be an object" },
  ),
});
export type IncomingMessage = z.infer<typeof incomingMessageSchema>;
