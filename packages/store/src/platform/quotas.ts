import { ServiceError } from "@svc/contracts";
import type { QuotaName, Quotas, ReachedQuota, UsageDay } from "@svc/contracts";
import { createBriefCache, stateOf } from "../context.ts";
import type { Context } from "../context.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { REPORTED_WITHIN_MS } from "./processes.ts";

/**
 * How long limits and usage are remembered. Other processes may accept so much longer than the limit allows; what this
 * one accepts is added at once.
 */
const REMEMBERED_MS = 1_000;

/** Seconds after which a client may retry that finds all sockets of the project in use. */
const SOCKET_RETRY_S = 30;

const sql = statements("platform/quotas", { reportedWithinMs: REPORTED_WITHIN_MS });

interface KnownUsage {
  quotas: Partial<Quotas>;
  messagesToday: number;
  otherSockets: number;
}

const usageOf = stateOf((_context: Context) => createBriefCache<KnownUsage>(REMEMBERED_MS));

const readUsage = (context: Context, project: ProjectId) =>
  usageOf(context).get(project, () =>
    sql.find.one<KnownUsage>(context.leases, { project, replica: context.processId }),
  );

const WORDS: Record<QuotaName, string> = {
  messagesPerDay: "messages of the day",
  documents: "documents",
  storageMb: "MB of storage",
  sockets: "open sockets",
};

const reached = (
  name: QuotaName,
  { limit, used, until = null }: { limit: number; used: number; until?: Date | null },
) => {
  const quota: ReachedQuota = { name, limit, used, resetsAt: until?.toISOString() ?? null };
  return { text: `The project uses ${used} of its ${limit} ${WORDS[name]}.`, quota };
};

/** The error of a limit of content: of documents, or of stored megabytes. */
export function storageQuotaExceeded(name: "documents" | "storageMb", limit: number, used: number): ServiceError {
  const { text, quota } = reached(name, { limit, used });
  return new ServiceError(
    "storage_quota_exceeded",
    `${text} Delete some content, or ask an administrator to raise the limit.`,
    {
      quota,
    },
  );
}

function quotaExceeded(name: "messagesPerDay" | "sockets", limit: number, used: number): ServiceError {
  const midnight = new Date(new Date().setUTCHours(24, 0, 0, 0));
  const until = name === "messagesPerDay" ? midnight : null;
  const { text, quota } = reached(name, { limit, used, until });
  const seconds = until === null ? SOCKET_RETRY_S : Math.max(1, Math.ceil((until.getTime() - Date.now()) / 1_000));
  const when = until === null ? `in ${seconds} s` : `after ${until.toISOString()}`;
  return new ServiceError("quota_exceeded", `${text} Retry ${when}, or ask an administrator to raise the limit.`, {
    quota,
    headers: { "Retry-After": String(seconds) },
  });
}

/** True if the project may accept no more for now. */
export const isQuotaExceeded = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === "quota_exceeded";

/**
 * Counts a message that is about to be accepted. Throws quota_exceeded if the project has accepted all messages of its
 * day. With several processes a limit can be passed by what the others accept within a second.
 */
export async function takeMessage(context: Context, project: ProjectId): Promise<void> {
  const usage = await readUsage(context, project);
  const limit = usage?.quotas.messagesPerDay ?? null;
  if (usage === null || limit === null) return;
  if (usage.messagesToday >= limit) throw quotaExceeded("messagesPerDay", limit, usage.messagesToday);
  usage.messagesToday++;
}

/**
 * Throws quota_exceeded if this process, with `own` open sockets, and the others have as many as the project may have.
 * Those of others are at most three seconds old.
 */
export async function checkSockets(context: Context, project: ProjectId, own: number): Promise<void> {
  const usage = await readUsage(context, project);
  const limit = usage?.quotas.sockets ?? null;
  if (usage === null || limit === null) return;
  const used = usage.otherSockets + own;
  if (used >= limit) throw quotaExceeded("sockets", limit, used);
}

/**
 * Throws storage_quota_exceeded if the project has more documents than it may have. Called after documents were inserted,
 * in the same transaction, so that a replaced document never counts as a new one.
 */
export async function checkDocuments(tx: Db, project: ProjectId): Promise<void> {
  const row = await sql.countDocuments.one<{ limit: number; used: number }>(tx, { project });
  if (row !== null && row.used > row.limit) throw storageQuotaExceeded("documents", row.limit, row.used - 1);
}

/** Usage of all projects, or of one, by day from `from` to `to` (dates), the newest day first; at most `limit` rows. */
export const listDays = (
  db: Db,
  { project, ...span }: { from: string; to: string; project: ProjectId | null; limit: number },
): Promise<UsageDay[]> => sql.listDays.all<UsageDay>(db, { project, ...span });
