import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { countChars, hasControlCharacters, isMalformedText, messageText, wellFormedString } from "./well-formed.ts";

/** How a caller of the HTTP API takes its replies (service document, section 2.1). */
export const messageModeSchema = z.enum(["sync", "async", "webhook"], { error: "sync, async or webhook" });
export type MessageMode = z.infer<typeof messageModeSchema>;

/**
 * A conversation id: 1 to 200 characters without control characters, not `.` or `..` (they vanish from URLs), and not
 * beginning with `issue:`, which the tool server uses for submitted issues.
 */
export const chatIdSchema = wellFormedString
  .min(1, { error: "at least 1 character" })
  .refine((id) => countChars(id) <= LIMITS.chatIdMaxChars, { error: `at most ${LIMITS.chatIdMaxChars} characters` })
  .refine((id) => !hasControlCharacters(id), { error: "must not contain control characters" })
  .refine((id) => id !== "." && id !== "..", { error: 'must not be "." or ".."' })
  .refine((id) => !id.startsWith("issue:"), { error: 'must not begin with "issue:"' })
  .meta({
    maxLength: LIMITS.chatIdMaxChars,
    pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    not: { enum: [".", ".."] },
    description: "Id of a conversation. It must not begin with `issue:`.",
  });

/** What is wrong with a `meta` object, or null. Walks iteratively, so that depth cannot exhaust the stack. */
function metaFault(meta: object): string | null {
  const open: [value: unknown, depth: number][] = [[meta, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === "string" && isMalformedText(value)) return "must not contain NUL or a lone surrogate";
    if (typeof value !== "object" || value === null) continue;
    if (depth > LIMITS.metaMaxDepth) return `at most ${LIMITS.metaMaxDepth} levels deep`;
    for (const [key, child] of Object.entries(value)) {
      if (isMalformedText(key)) return "must not contain NUL or a lone surrogate";
      open.push([child, depth + 1]);
    }
  }
  const sizeBytes = Buffer.byteLength(JSON.stringify(meta));
  return sizeBytes > LIMITS.metaMaxBytes ? `at most ${LIMITS.metaMaxBytes} bytes as JSON` : null;
}

/** Arbitrary data of the caller: a JSON object of at most 64 KB and 32 levels. */
export const metaSchema = z
  .custom<Record<string, unknown>>()
  .check((context) => {
    const meta: unknown = context.value;
    const fault = (message: string) => context.issues.push({ code: "custom", message, input: meta });
    if (typeof meta !== "object" || meta === null || Array.isArray(meta)) {
      fault("must be an object");
      return;
    }
    const found = metaFault(meta);
    if (found !== null) fault(found);
  })
  .meta({
    type: "object",
    additionalProperties: true,
    description: `Any data of the caller: at most ${LIMITS.metaMaxBytes} bytes as JSON, ${LIMITS.metaMaxDepth} levels deep.`,
  });

const TIMEOUT = `a whole number of milliseconds from 1 to ${LIMITS.timeoutMaxMs}`;

/** Body of `POST /api/v1/messages` (service document, section 2.1). Unknown fields are ignored. */
export const messageRequestSchema = z.object({
  text: messageText(LIMITS.textMaxChars).describe("What is asked."),
  chatId: chatIdSchema.optional().describe("The conversation; send it again to go on with it. A new one where absent."),
  userId: wellFormedString
    .min(1, { error: "at least 1 character" })
    .refine((id) => countChars(id) <= LIMITS.userIdMaxChars, { error: `at most ${LIMITS.userIdMaxChars} characters` })
    .meta({ maxLength: LIMITS.userIdMaxChars })
    .optional()
    .describe("Your id of who asks; kept in `meta`."),
  meta: metaSchema.optional().describe("Any data of yours; kept in the ticket's `channel_meta`."),
  mode: messageModeSchema.optional().describe("How the answer comes: `sync` where absent."),
  webhookUrl: wellFormedString
    .max(2048, { error: "at most 2048 characters" })
    .meta({ format: "uri" })
    .optional()
    .describe("Where the answer is posted to; makes the mode `webhook`, whatever `mode` says."),
  timeoutMs: z
    .int({ error: TIMEOUT })
    .min(1, { error: TIMEOUT })
    .max(LIMITS.timeoutMaxMs, { error: TIMEOUT })
    .optional()
    .describe("How long a sync call waits, and when a callback says `message.timeout`. A setting where absent."),
});
export type MessageRequest = z.infer<typeof messageRequestSchema>;

/** Query of `GET /api/v1/messages/:chatId` (service document, section 4.3, and the drain of the public contract). */
export const drainQuerySchema = z.object({
  wait: z
    .string()
    .regex(/^\d{1,6}$/, { error: `a whole number of milliseconds, at most ${LIMITS.waitMaxMs}` })
    .transform(Number)
    .refine((wait) => wait <= LIMITS.waitMaxMs, { error: `at most ${LIMITS.waitMaxMs} milliseconds` })
    .optional()
    .meta({
      type: "integer",
      minimum: 0,
      maximum: LIMITS.waitMaxMs,
      description: "Waits for so many milliseconds when there is nothing yet.",
    }),
  after: z
    .string()
    .regex(/^\d{1,15}$/, { error: "the cursor of an earlier answer, or 0" })
    .transform(Number)
    .optional()
    .describe(
      "The `cursor` of an earlier answer, `0` to begin: acknowledges the replies up to it and returns the later ones, until they are acknowledged.",
    ),
  // A slip that would take replies unseen: answers name their place `cursor`, the question for it is `after`.
  cursor: z.never({ error: "is not known here; send the cursor of an answer as after" }).optional(),
  peek: z.enum(["0", "1"], { error: "0 or 1, or left out" }).optional().describe("`1` looks and takes nothing."),
});
export type DrainQuery = z.infer<typeof drainQuerySchema>;
