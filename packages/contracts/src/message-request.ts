import { z } from "zod";
import { CHANNEL_IDS } from "./channels.ts";
import { countChars, hasControlCharacters, isMalformedText, LIMITS, messageText, wellFormedString } from "./limits.ts";

/** How a caller of the HTTP API receives replies (service document, section 2.1). */
export const messageModeSchema = z.enum(["sync", "async", "webhook"], { error: "must be sync, async or webhook" });
export type MessageMode = z.infer<typeof messageModeSchema>;

/**
 * A conversation ID: 1 to 200 characters without control characters, not `.` or `..` (which disappear from URLs), and
 * not starting with `issue:`, which is reserved for submitted issues of the tool server.
 */
export const chatIdSchema = wellFormedString
  .min(1, { error: "must have at least 1 character" })
  .refine((id) => countChars(id) <= LIMITS.chatIdMaxChars, {
    error: `must have at most ${LIMITS.chatIdMaxChars} characters`,
  })
  .refine((id) => !hasControlCharacters(id), { error: "must not contain control characters" })
  .refine((id) => id !== "." && id !== "..", { error: 'must not be "." or ".."' })
  .refine((id) => !id.startsWith("issue:"), { error: 'must not start with "issue:"' })
  .meta({
    maxLength: LIMITS.chatIdMaxChars,
    pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    not: { enum: [".", ".."] },
    description: "ID of a conversation. Must not start with `issue:`.",
  });

/**
 * Returns what is wrong with a `meta` object, or null. Iterates instead of recursing, so that depth cannot exhaust the
 * stack.
 */
function metaError(meta: object): string | null {
  const open: [value: unknown, depth: number][] = [[meta, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === "string" && isMalformedText(value))
      return "must not contain NUL characters or unpaired surrogates";
    if (typeof value !== "object" || value === null) continue;
    if (depth > LIMITS.metaMaxDepth) return `must be at most ${LIMITS.metaMaxDepth} levels deep`;
    for (const [key, child] of Object.entries(value)) {
      if (isMalformedText(key)) return "must not contain NUL characters or unpaired surrogates";
      open.push([child, depth + 1]);
    }
  }
  const sizeBytes = Buffer.byteLength(JSON.stringify(meta));
  return sizeBytes > LIMITS.metaMaxBytes ? `must have at most ${LIMITS.metaMaxBytes} bytes as JSON` : null;
}

/** Arbitrary data of the caller: a JSON object of at most 64 KB and 32 levels. */
export const metaSchema = z
  .custom<Record<string, unknown>>()
  .check((context) => {
    const meta: unknown = context.value;
    const error = (message: string) => context.issues.push({ code: "custom", message, input: meta });
    if (typeof meta !== "object" || meta === null || Array.isArray(meta)) {
      error("must be an object");
      return;
    }
    const found = metaError(meta);
    if (found !== null) error(found);
  })
  .meta({
    type: "object",
    additionalProperties: true,
    description: `Arbitrary data: at most ${LIMITS.metaMaxBytes} bytes as JSON, ${LIMITS.metaMaxDepth} levels deep.`,
  });

const TIMEOUT = `must be an integer from 1 to ${LIMITS.timeoutMaxMs} (milliseconds)`;

/** Body of `POST /api/v1/messages` (service document, section 2.1). Unknown fields are ignored. */
export const messageRequestSchema = z.object({
  text: messageText(LIMITS.textMaxChars).describe("Text of the message."),
  chatId: chatIdSchema
    .optional()
    .describe("The conversation. Send the same ID to continue it; omit it to start a new one."),
  userId: wellFormedString
    .min(1, { error: "must have at least 1 character" })
    .refine((id) => countChars(id) <= LIMITS.userIdMaxChars, {
      error: `must have at most ${LIMITS.userIdMaxChars} characters`,
    })
    .meta({ maxLength: LIMITS.userIdMaxChars })
    .optional()
    .describe("Your ID of the user. Stored in `meta`."),
  meta: metaSchema.optional().describe("Arbitrary data. Stored in the ticket's `channel_meta`."),
  mode: messageModeSchema.optional().describe("How the answer is delivered. Defaults to `sync`."),
  webhookUrl: wellFormedString
    .max(2048)
    .meta({ format: "uri" })
    .optional()
    .describe("URL for callbacks with the answer. Selects the mode `webhook`, whatever the value of `mode`."),
  timeoutMs: z
    .int({ error: TIMEOUT })
    .min(1, { error: TIMEOUT })
    .max(LIMITS.timeoutMaxMs, { error: TIMEOUT })
    .optional()
    .describe(
      "How long a sync request waits, and after which time a callback reports `message.timeout`. The default is a setting of the channel.",
    ),
});
export type MessageRequest = z.infer<typeof messageRequestSchema>;

/** Query of `GET /api/v1/messages/:chatId` (service document, section 4.3, and the drain of the public contract). */
export const drainQuerySchema = z.object({
  wait: z
    .string()
    .regex(/^\d{1,6}$/, { error: `must be an integer of at most ${LIMITS.waitMaxMs} (milliseconds)` })
    .transform(Number)
    .refine((wait) => wait <= LIMITS.waitMaxMs, { error: `must be at most ${LIMITS.waitMaxMs} milliseconds` })
    .optional()
    .meta({
      type: "integer",
      minimum: 0,
      maximum: LIMITS.waitMaxMs,
      description: "How long to wait for a reply if there is none yet, in milliseconds.",
    }),
  after: z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be the cursor of an earlier response, or 0" })
    .transform(Number)
    .optional()
    .describe(
      "The `cursor` of an earlier response, or `0` to start. Acknowledges the replies up to this cursor and returns the later ones, until they are acknowledged.",
    ),
  // A common mistake that would acknowledge unseen replies: responses have `cursor`, requests `after`.
  cursor: z.never({ error: "is not supported; send the cursor of a response as after" }).optional(),
  peek: z
    .enum(["0", "1"], { error: "must be 0 or 1" })
    .optional()
    .describe("`1` returns the replies without removing them from the buffer."),
});
export type DrainQuery = z.infer<typeof drainQuerySchema>;

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
