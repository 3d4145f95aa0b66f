import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { columnsOf, statements } from "../sql.ts";
import type { ReplyAuthor, Source } from "@svc/contracts";

/**
 * Number of leases that may expire in running processes before the work fails. With the delays of `lapseWait` this
 * takes at least 15 minutes, so that no work fails on a host that is overloaded for minutes.
 */
export const MAX_LAPSES = 15;

/** Number of lapses after which further claims are delayed, with a delay that doubles each time. */
const QUICK_LAPSES = 5;
const LAPSE_WAIT_MAX_S = 300;

/**
 * Number of crashed processes after which a message no longer runs next to messages that are not suspects (ADR 0026).
 */
export const SUSPECT_AFTER_CRASHES = 2;

/** Expired leases of a piece of work. */
export interface LeaseHistory {
  /** Number of processes that crashed, or vanished without a stop, while they held the lease. */
  crashes: number;
  /** Number of leases that expired although their process was running or had shut down. */
  lapses: number;
}

/** SQL: the expired lease of a row, as a JSON array to append to `expired_leases`; NULL if the lease was released. */
export function expiredLease(row: string, group = "NULL::integer"): string {
  return `CASE WHEN ${row}.lease_id IS NOT NULL THEN jsonb_build_array(jsonb_build_object(
    'process', ${row}.lease_holder, 'group', ${group}, 'until', ${row}.lease_until)) END`;
}

/**
 * SQL of a subquery with one row about a JSON array of expired leases: `crashes`, `lapses`, and `last_group`, the group
 * size of the last lease that a crash ended (NULL if it was claimed like any other). A lease counts as ended by a crash
 * if `processes` records its process as vanished or crashed, and the process sent no heartbeat after the lease expired.
 * A process that has shut down, or sends heartbeats again, does not count as crashed.
 */
export function leaseHistory(leases: string): string {
  return `SELECT count(DISTINCT p.id)::integer AS crashes,
      count(*) FILTER (WHERE p.id IS NULL)::integer AS lapses,
      (array_agg(l."group" ORDER BY l.until DESC) FILTER (WHERE p.id IS NOT NULL))[1] AS last_group
    FROM jsonb_to_recordset(${leases}) AS l (process uuid, "group" integer, until timestamptz)
    LEFT JOIN processes p ON p.id = l.process AND p.heard_at <= l.until
      AND (p.told_at IS NOT NULL OR p.crashed_at IS NOT NULL)`;
}

/** SQL: delay of work after its lease has expired, given the number of lapses including this one. */
export function lapseWait(lapses: string): string {
  return `CASE WHEN ${lapses} <= ${QUICK_LAPSES} THEN interval '0'
    ELSE least(${LAPSE_WAIT_MAX_S}, 2 ^ (${lapses} - ${QUICK_LAPSES})) * interval '1 second' END`;
}

/** Duration of a worker's lease on a chat without renewal. */
export const LEASE_MS = 4_000;

/** A lease on a chat. */
export interface LeaseRef {
  project: ProjectId;
  ticketId: string;
  leaseId: string;
}

/** Renews leases for 4 s; returns the ids of those that are still held. */
export async function renewLeases(db: Db, leases: LeaseRef[]): Promise<Set<string>> {
  if (leases.length === 0) return new Set();
  const sorted = leases.toSorted((a, b) => (a.ticketId < b.ticketId ? -1 : 1));
  const rows = await sql.renew.all(db, {
    ...columnsOf(sorted, "ticketId", "leaseId"),
    projectId: sorted.map((lease) => lease.project),
  });
  return new Set(rows.map((row) => row.leaseId));
}

/** Saves the results of a run so far, if the lease is still held. */
// oxlint-disable-next-line max-params -- Fence, range and caller are one value each.
export const saveProgress = (
  db: Db,
  project: ProjectId,
  messageId: string,
  leaseId: string,
  progress: object,
): Promise<void> => sql.saveProgress.exec(db, { project, messageId, progress: JSON.stringify(progress), leaseId });

/** Releases a lease without a result; has no effect if the lease was lost. */
export const releaseLease = (db: Db, lease: LeaseRef): Promise<void> => sql.release.exec(db, lease);

/** A text in a chat: a customer's message, or a reply. */
export interface Utterance {
  author: "customer" | ReplyAuthor;
  /** At most its first 4,000 characters; the name of a file that an operator sent. */
  text: string;
  /** Sources that a reply quotes; empty for a message. */
  sources: Source[];
}

const MAX_TEXT_CHARS = 4_000;

/**
 * SQL of a subquery: the last `limit` texts of a chat before a position in it, and the name of the first file that an
 * operator sent in place of a text. All four are SQL expressions.
 */
export function history({ ticketId, project, seq, limit }: Record<"ticketId" | "project" | "seq" | "limit", string>) {
  const isBefore = (row: string) =>
    `${row}.ticket_id = ${ticketId} AND ${row}.project_id = ${project} AND ${row}.seq < ${seq}`;
  return `SELECT seq, author, left(text, ${MAX_TEXT_CHARS}) AS text, sources FROM (
    (SELECT b.seq, 'customer' AS author, b.text, NULL::jsonb AS sources FROM messages b
     WHERE ${isBefore("b")} ORDER BY b.seq DESC LIMIT ${limit})
    UNION ALL
    (SELECT r.seq, r.author, coalesce(r.text, r.filename), r.sources FROM replies r
     WHERE ${isBefore("r")} AND (r.type = 'message' OR r.author = 'operator' AND NOT EXISTS (
       SELECT FROM replies b WHERE b.ticket_id = r.ticket_id AND b.seq = r.seq - 1 AND b.author = 'operator')) ORDER BY r.seq DESC LIMIT ${limit})
  ) AS said ORDER BY seq DESC LIMIT ${limit}`;
}

const sql = statements("messages/chats", {
  leaseMs: LEASE_MS,
  history: history({ ticketId: ":ticket_id", project: ":project", seq: ":seq", limit: ":limit" }),
});

/** Returns the last texts in a chat before a position, oldest first. */
// oxlint-disable-next-line max-params -- Fence, range and caller are one value each.
export async function listBefore(
  db: Db,
  project: ProjectId,
  ticketId: string,
  seq: number,
  limit: number,
): Promise<Utterance[]> {
  const rows = await sql.listBefore.all<{ author: Utterance["author"]; text: string; sources: Source[] | null }>(db, {
    project,
    ticketId,
    seq,
    limit,
  });
  return rows.map(({ author, text, sources }) => ({ author, text, sources: sources ?? [] }));
}
