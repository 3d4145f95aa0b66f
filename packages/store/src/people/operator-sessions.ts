import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("people/operator-sessions");

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

/** Sessions of one operator at most: the oldest ends where another one begins. */
const MAX_SESSIONS = 50;

/** Begins a session; null when the operator may not sign in (any more). Ends those that are over. */
export async function insert(
  db: Db,
  operatorId: string,
  hash: Buffer,
  { idleSeconds, totalSeconds }: SessionLimits,
): Promise<SessionRecord | null> {
  return db.transaction(async (tx) => {
    const count = await sql.insert.run(tx, { operatorId });
    if (count === 0) return null;
    await sql.deleteOperatorSessions.run(tx, { operatorId, totalSeconds, idleSeconds });
    await sql.deleteOperatorSessions2.run(tx, { operatorId, kept: MAX_SESSIONS - 1 });
    return sql.insertOperatorSessions.one<SessionRecord>(tx, { id: newId(), operatorId, hash });
  });
}

/** The session with this SHA-256 as long as it is live and its operator may sign in, or null. */
export async function findLive(
  db: Db,
  hash: Buffer,
  { idleSeconds, totalSeconds }: SessionLimits,
): Promise<SessionRecord | null> {
  return sql.findLive.one<SessionRecord>(db, { hash, totalSeconds, idleSeconds });
}

/** Notes that sessions were used just now, and their operators seen. */
export async function touch(db: Db, ids: readonly string[]): Promise<void> {
  await sql.touch.run(db, { ids });
}

/** Ends a session. */
export async function remove(db: Db, id: string): Promise<void> {
  await sql.remove.run(db, { id });
}

/** Ends the session with this SHA-256, where there is one. */
export async function removeByHash(db: Db, hash: Buffer): Promise<void> {
  await sql.removeByHash.run(db, { hash });
}

/** Ends all sessions of an operator; answers how many there were. */
export async function removeOf(db: Db, operatorId: string): Promise<number> {
  const count = await sql.removeOf.run(db, { operatorId });
  return count;
}
