import { ServiceError } from "@svc/contracts";
import type { Quotas, UsageDay } from "@svc/contracts";
import { createBriefCache, stateOf } from "../context.ts";
import type { Context } from "../context.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { REPORTED_WITHIN_MS } from "./processes.ts";
import { quotaExceeded, storageQuotaExceeded } from "./stored-bytes.ts";

/**
 * Cache duration of limits and usage. Other processes may accept more than the limit for this long; messages of this
 * process are added at once.
 */
const REMEMBERED_MS = 1_000;

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

/** Returns true for the error of a project that may not accept more for now. */
export const isQuotaExceeded = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === "quota_exceeded";

/** Projects that this process knows to have a daily limit of messages. */
const limitedOf = stateOf((_context: Context) => new Set<ProjectId>());

/**
 * Counts a message before it is accepted, if this process knows that its project has a daily limit; returns whether it
 * does. Throws quota_exceeded if the project has reached its daily limit.
 */
async function countMessage(context: Context, project: ProjectId): Promise<boolean> {
  const limited = limitedOf(context);
  if (!limited.has(project)) return false;
  const usage = await readUsage(context, project);
  const limit = usage?.quotas.messagesPerDay ?? null;
  if (usage === null || limit === null) {
    // The statement that accepts the next message checks it again.
    limited.delete(project);
    return true;
  }
  if (usage.messagesToday >= limit) throw quotaExceeded("messagesPerDay", limit, usage.messagesToday);
  usage.messagesToday++;
  return true;
}

/**
 * Accepts a message by `accept`, which returns null for one that is not counted and whose project has a daily limit.
 * Throws quota_exceeded if the project has reached its daily limit. With several processes the limit may be exceeded by
 * the messages that the others accept within a second.
 */
export async function acceptWithinLimit<Accepted>(
  context: Context,
  project: ProjectId,
  accept: (isCounted: boolean) => Promise<Accepted | null>,
): Promise<Accepted> {
  const accepted = await accept(await countMessage(context, project));
  if (accepted !== null) return accepted;
  limitedOf(context).add(project);
  const counted = await accept(await countMessage(context, project));
  if (counted === null) throw new Error("a counted message was not inserted");
  return counted;
}

/**
 * Throws quota_exceeded if this process, with `own` open sockets, and the others have reached the project's limit. The
 * counts of others are at most three seconds old.
 */
export async function checkSockets(context: Context, project: ProjectId, own: number): Promise<void> {
  const usage = await readUsage(context, project);
  const limit = usage?.quotas.sockets ?? null;
  if (usage === null || limit === null) return;
  const used = usage.otherSockets + own;
  if (used >= limit) throw quotaExceeded("sockets", limit, used);
}

/**
 * Throws storage_quota_exceeded if the project exceeds its limit of documents. Called after documents were inserted, in
 * the same transaction, so that a replaced document never counts as a new one.
 */
export async function checkDocuments(tx: Db, project: ProjectId): Promise<void> {
  const row = await sql.countDocuments.one(tx, { project });
  if (row !== null && row.used > row.limit) throw storageQuotaExceeded("documents", row.limit, row.used - 1);
}

/**
 * Returns the usage of all projects, or of one, by day from `from` to `to` (dates), newest day first; at most `limit`
 * rows.
 */
export const listDays = (
  db: Db,
  { project, ...span }: { from: string; to: string; project: ProjectId | null; limit: number },
): Promise<UsageDay[]> => sql.listDays.all<UsageDay>(db, { project, ...span });
