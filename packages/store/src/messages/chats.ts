import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** How long a worker's lease on a chat lasts without being renewed. */
export const LEASE_MS = 4_000;

/** A lease on a chat. */
export interface LeaseRef {
  project: ProjectId;
  ticketId: string;
  leaseId: string;
}

/** Leases on chats: whoever holds one is the only worker on that conversation. */
export function chatsTable(db: Db) {
  // Extends the leases that are still ours and names them; a lease that is missing in the answer is lost.
  // Locks: the chats' rows in the order of their ids, as every statement on chats.
  const RENEW = `
    WITH held AS MATERIALIZED (
      SELECT c.ticket_id FROM chats c
      JOIN unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS r (project_id, ticket_id, lease_id)
        ON c.ticket_id = r.ticket_id AND c.project_id = r.project_id AND c.lease_id = r.lease_id
      ORDER BY c.ticket_id FOR UPDATE OF c
    )
    UPDATE chats c SET lease_until = now() + interval '${LEASE_MS} milliseconds'
    FROM held WHERE c.ticket_id = held.ticket_id RETURNING c.lease_id`;

  // What the stages of a long run have found so far is kept with the message, so that a crash repeats little.
  const SAVE_PROGRESS = `
    UPDATE messages m SET progress = $3
    FROM chats c
    WHERE m.id = $2 AND m.project_id = $1 AND c.ticket_id = m.ticket_id AND c.lease_id = $4 AND m.state = 'received'`;

  // Gives a lease back. Fenced: only if it is still ours.
  const RELEASE = `
    UPDATE chats SET lease_id = NULL, lease_until = NULL
    WHERE ticket_id = $2 AND project_id = $1 AND lease_id = $3`;

  return {
    /** Extends leases by another 4 s; answers the ids of those that are still held. */
    async renewLeases(leases: LeaseRef[]): Promise<Set<string>> {
      if (leases.length === 0) return new Set();
      const sorted = leases.toSorted((a, b) => (a.ticketId < b.ticketId ? -1 : 1));
      const rows = await db.prepared<{ lease_id: string }>("chats_renew", RENEW, [
        sorted.map((lease) => lease.project),
        sorted.map((lease) => lease.ticketId),
        sorted.map((lease) => lease.leaseId),
      ]);
      return new Set(rows.map((row) => row.lease_id));
    },

    /** Keeps what a run has found so far, if the lease is still held. */
    async saveProgress(project: ProjectId, messageId: string, leaseId: string, progress: object): Promise<void> {
      await db.query(SAVE_PROGRESS, [project, messageId, JSON.stringify(progress), leaseId]);
    },

    /** Gives a lease back without an outcome; does nothing when it is no longer ours. */
    async releaseLease(lease: LeaseRef): Promise<void> {
      await db.query(RELEASE, [lease.project, lease.ticketId, lease.leaseId]);
    },
  };
}
