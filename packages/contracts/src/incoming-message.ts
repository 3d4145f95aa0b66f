// Separate from the channels, which browsers load without zod.
import { z } from "zod";
import { CHANNEL_IDS } from "./channels.ts";

/** The channels (service document, section 2.3). */
export const channelIdSchema = z.enum(CHANNEL_IDS);

/** Everything that Integrations lists and that can be enabled or disabled: the channels and the tool server. */
export const integrationIdSchema = z.enum([...channelIdSchema.options, "tool-server"]);
export type IntegrationId = z.infer<typeof integrationIdSchema>;
export const INTEGRATION_IDS = integrationIdSchema.options;

/** A file attached to a message (service document, section 2.3). */
export const attachmentRefSchema = z.object({
  type: z.string(),
  url: z.string().optional(),
  name: z.string().optional(),
  expired: z.boolean().optional().describe("True if the file has expired; it then has no `url`."),
});
export type AttachmentRef = z.infer<typeof attachmentRefSchema>;

/** An incoming message as a channel passes it on (service document, section 2.3). */
export const incomingMessageSchema = z.object({
  channelId: channelIdSchema,
  chatId: z.string(),
  userId: z.string().optional(),
  text: z.string(),
  /** Epoch milliseconds. */
  timestamp: z.number(),
  attachments: z.array(attachmentRefSchema).optional(),
  // A zod record would drop the key `__proto__`, which is valid data.
  channelMeta: z.custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    { error: "must be an object" },
  ),
});
export type IncomingMessage = z.infer<typeof incomingMessageSchema>;
