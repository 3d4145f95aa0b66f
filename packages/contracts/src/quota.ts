import { z } from "zod";

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
