import { z } from "zod";

/** Limits of the service document (sections 2.1, 4.3 and 8) and of the public contract. */
export const LIMITS = {
  /** Maximum characters (Unicode code points) of a message's text. */
  textMaxChars: 50_000,
  /** Maximum characters (Unicode code points) of a chat ID and of a user ID. */
  chatIdMaxChars: 200,
  userIdMaxChars: 200,
  /** Maximum bytes of `meta` as JSON, and its maximum nesting depth. */
  metaMaxBytes: 64 * 1024,
  metaMaxDepth: 32,
  idempotencyKeyMaxChars: 255,
  /** Maximum bytes of a request body. */
  bodyMaxBytes: 1024 * 1024,
  timeoutMaxMs: 120_000,
  waitMaxMs: 60_000,
  /** Maximum number and bytes of replies in one response of a drain. */
  drainMaxReplies: 100,
  drainMaxBytes: 8 * 1024 * 1024,
  /** Number of attempts to process a message before it becomes a dead letter. */
  maxAttempts: 5,
  /** Default rate limit of a key: requests per minute from one address. */
  rateLimitPerMinute: 120,
  /** Rate limit of a key from all addresses together, as a multiple of its limit for one address. */
  rateLimitAddresses: 10,
  /** Maximum number of failed authentications per minute from one address. */
  failedAuthsPerMinute: 30,
} as const;

/** Limits of a project, by name; each with its maximum value. */
const QUOTA_MAX = {
  messagesPerDay: 1_000_000_000,
  documents: 10_000_000,
  storageMb: 100_000_000,
  sockets: 1_000_000,
} as const;

export type QuotaName = keyof typeof QUOTA_MAX;

const upTo = (name: QuotaName, text: string) =>
  z.int().min(1).max(QUOTA_MAX[name]).nullable().optional().describe(`${text} Null (default) for no limit.`);

/** Limits of a project that administrators set. Omitted limits stay unchanged. */
export const quotasInputSchema = z.strictObject({
  messagesPerDay: upTo("messagesPerDay", "Maximum messages that are accepted per day (UTC), on all channels together."),
  documents: upTo("documents", "Maximum documents in the knowledge bases of the project together."),
  storageMb: upTo("storageMb", "Maximum stored content in MB: files, documents, request bodies of hooks, and texts."),
  sockets: upTo("sockets", "Maximum widget sockets that are open at the same time, on all processes together."),
});

/** Limits of a project; null for no limit. */
export const quotasSchema = z.object({
  messagesPerDay: z.int().nullable(),
  documents: z.int().nullable(),
  storageMb: z.int().nullable(),
  sockets: z.int().nullable(),
});
export type Quotas = z.infer<typeof quotasSchema>;

/** A limit that is reached, as an error response describes it. */
export const reachedQuotaSchema = z.object({
  name: z
    .enum(Object.keys(QUOTA_MAX) as [QuotaName, ...QuotaName[]])
    .describe("Name of the limit in `quotas` of the project."),
  limit: z.number(),
  used: z.number().describe("What the project uses, in the unit of the limit."),
  resetsAt: z.iso
    .datetime()
    .nullable()
    .describe("When the usage starts at zero again. Null: when something is deleted or closed."),
});
export type ReachedQuota = z.infer<typeof reachedQuotaSchema>;
