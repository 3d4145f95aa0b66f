import type { Db } from "../db.ts";
import { newId } from "../ids.ts";

/** Somebody who is signed in, in one browser. */
export interface SessionRecord {
  id: string;
  operatorId: string;
  createdAt: Date;
  lastUsedAt: Date;
}

/** How long a session may last. */
export interface SessionLimits {
  /** Since it was last used. */
  idleSeconds: number;
  /** Since the sign-in. */
  totalSeconds: number;
}

interface SessionRow {
  id: string;
  operator_id: string;
  created_at: Date;
  last_used_at: Date;
}

/** Sessions of one operator at most: the oldest ends where another one begins. */
const MAX_SESSIONS = 50;

const asSession = (row: SessionRow): SessionRecord => ({
  id: row.id,
  operatorId: row.operator_id,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
});

/** Sessions of operators. A token is known by its SHA-256 alone. */
export function operatorSessionsTable(db: Db) {
  return {
    /** Begins a session; null when the operator may not sign in (any more). Ends those that are over. */
    async insert(
      operatorId: string,
      hash: Buffer,
      { idleSeconds, totalSeconds }: SessionLimits,
    ): Promise<SessionRecord | null> {
      return db.transaction(async (tx) => {
        // The row of the operator is locked, so that a session cannot begin while somebody shuts the operator out.
        const operators = await tx.query(
          "UPDATE operators SET last_seen_at = now() WHERE id = $1 AND disabled_at IS NULL RETURNING id",
          [operatorId],
        );
        if (operators.length === 0) return null;
        await tx.query(
          `DELETE FROM operator_sessions WHERE created_at < now() - make_interval(secs => $2)
             OR (operator_id = $1 AND last_used_at < now() - make_interval(secs => $3))`,
          [operatorId, totalSeconds, idleSeconds],
        );
        await tx.query(
          `DELETE FROM operator_sessions WHERE id IN (
             SELECT id FROM operator_sessions WHERE operator_id = $1 ORDER BY last_used_at DESC OFFSET $2)`,
          [operatorId, MAX_SESSIONS - 1],
        );
        const rows = await tx.query<SessionRow>(
          `INSERT INTO operator_sessions (id, operator_id, hash) VALUES ($1, $2, $3)
           RETURNING id, operator_id, created_at, last_used_at`,
          [newId(), operatorId, hash],
        );
        const [row] = rows;
        return row === undefined ? null : asSession(row);
      });
    },

    /** The session with this SHA-256 as long as it is live and its operator may sign in, or null. */
    async findLive(hash: Buffer, { idleSeconds, totalSeconds }: SessionLimits): Promise<SessionRecord | null> {
      const rows = await db.query<SessionRow>(
        `SELECT s.id, s.operator_id, s.created_at, s.last_used_at FROM operator_sessions s
         JOIN operators o ON o.id = s.operator_id AND o.disabled_at IS NULL
         WHERE s.hash = $1 AND s.created_at > now() - make_interval(secs => $2)
           AND s.last_used_at > now() - make_interval(secs => $3)`,
        [hash, totalSeconds, idleSeconds],
      );
      const [row] = rows;
      return row === undefined ? null : asSession(row);
    },

    /** Notes that sessions were used just now, and their operators seen. */
    async touch(ids: readonly string[]): Promise<void> {
      // Locks in the order of the ids, as every replica that does the same.
      await db.query(
        `WITH used AS (
           UPDATE operator_sessions SET last_used_at = now()
           WHERE id IN (SELECT id FROM operator_sessions WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE)
           RETURNING operator_id)
         UPDATE operators SET last_seen_at = now() WHERE id IN (SELECT operator_id FROM used)`,
        [ids],
      );
    },

    /** Ends a session. */
    async remove(id: string): Promise<void> {
      await db.query("DELETE FROM operator_sessions WHERE id = $1", [id]);
    },

    /** Ends the session with this SHA-256, where there is one. */
    async removeByHash(hash: Buffer): Promise<void> {
      await db.query("DELETE FROM operator_sessions WHERE hash = $1", [hash]);
    },

    /** Ends all sessions of an operator; answers how many there were. */
    async removeOf(operatorId: string): Promise<number> {
      const rows = await db.query("DELETE FROM operator_sessions WHERE operator_id = $1 RETURNING id", [operatorId]);
      return rows.length;
    },
  };
}
