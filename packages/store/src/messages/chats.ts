import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** How long a worker's lease on a chat lasts without being renewed. */
export const LEASE_MS = 4_000;

/** A lease on a chat. */
export interface LeaseRef {
  project: ProjectId;
  ticketId: string;
  leaseId: string;
}

const sql = statements("messages/chats", {
  leaseMs: LEASE_MS,
});

/** Extends leases by another 4 s; answers the ids of those that are still held. */
export async function renewLeases(db: Db, leases: LeaseRef[]): Promise<Set<string>> {
  if (leases.length === 0) return new Set();
  const sorted = leases.toSorted((a, b) => (a.ticketId < b.ticketId ? -1 : 1));
  const rows = await sql.renew.all<{ leaseId: string }>(db, {
    projectId: sorted.map((lease) => lease.project),
    ticketId: sorted.map((lease) => lease.ticketId),
    leaseId: sorted.map((lease) => lease.leaseId),
  });
  return new Set(rows.map((row) => row.leaseId));
}

/** Keeps what a run has found so far, if the lease is still held. */
export async function saveProgress(
  db: Db,
  project: ProjectId,
  messageId: string,
  leaseId: string,
  progress: object,
): Promise<void> {
  await sql.saveProgress.run(db, { project, messageId, progress: JSON.stringify(progress), leaseId });
}

/** Gives a lease back without an outcome; does nothing when it is no longer ours. */
export async function releaseLease(db: Db, lease: LeaseRef): Promise<void> {
  await sql.release.run(db, { project: lease.project, ticketId: lease.ticketId, leaseId: lease.leaseId });
}
