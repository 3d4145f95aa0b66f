import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { statements } from "../sql.ts";

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
export async function insertSession(
  db: Db,
  operatorId: string,
  hash: Buffer,
  { idleSeconds, totalSeconds }: SessionLimits,
): Promise<SessionRecord | null> {
  return db.transaction(async (tx) => {
    if (!(await sql.lockOperator.any(tx, { operatorId }))) return null;
    await sql.deleteExpiredSessions.run(tx, { operatorId, totalSeconds, idleSeconds });
    await sql.deleteSurplusSessions.run(tx, { operatorId, kept: MAX_SESSIONS - 1 });
    return sql.addSession.one<SessionRecord>(tx, { id: newId(), operatorId, hash });
  });
}

/** The session with this SHA-256 as long as it is live and its operator may sign in, or null. */
export const findLive = (db: Db, hash: Buffer, { idleSeconds, totalSeconds }: SessionLimits) =>
  sql.findLive.one<SessionRecord>(db, { hash, totalSeconds, idleSeconds });

/** Notes that sessions were used just now, and their operators seen. */
export const touch = (db: Db, ids: readonly string[]) => sql.touch.exec(db, { ids });

/** Ends a session. */
export const removeSession = (db: Db, id: string) => sql.removeSession.exec(db, { id });

/** Ends the session with this SHA-256, where there is one. */
export const removeByHash = (db: Db, hash: Buffer) => sql.removeByHash.exec(db, { hash });

/** Ends all sessions of an operator; returns how many there were. */
export const removeOf = (db: Db, operatorId: string) => sql.removeOf.run(db, { operatorId });

const sql = statements("people/operator-sign-in");

/** What a link is for: an operator who chooses a password, or (null) the first administrator. */
export interface LinkRecord {
  operatorId: string | null;
  expiresAt: Date;
}

/** Number of the advisory lock of a process that makes the first administrator; nothing else of ours takes it. */
const FIRST_LOCK = 7_305_417;

/** True while nobody has a password with which to sign in. */
export async function isFirstMissing(db: Db): Promise<boolean> {
  const row = await sql.hasAdministrator.one<{ has: boolean }>(db);
  return row?.has === false;
}

/** Makes a link, in the place of an earlier one for the same. */
export async function putLink(
  db: Db,
  operatorId: string | null,
  hash: Buffer,
  lifetimeSeconds: number,
): Promise<LinkRecord> {
  const row = await sql.putLink.one<LinkRecord>(db, { id: newId(), operatorId, hash, lifetimeSeconds });
  if (row === null) throw new Error("a stored link was not found");
  return row;
}

/** The link with this SHA-256, as long as it can be used, or null. */
export async function findLink(db: Db, hash: Buffer): Promise<LinkRecord | null> {
  const row = await sql.findLink.one<LinkRecord>(db, { hash });
  if (row === null) return null;
  if (row.operatorId === null && !(await isFirstMissing(db))) return null;
  return row;
}

/**
 * Uses a link up for an operator's password: sets it, and ends the operator's sessions. Returns the operator's id;
 * null when the link is none, or was used meanwhile. Of two at once, one gets it.
 */
export const usePassword = (db: Db, hash: Buffer, passwordHash: string): Promise<string | null> =>
  db.transaction(async (tx) => {
    const row = await sql.takePasswordLink.one<{ operatorId: string }>(tx, { hash });
    const id = row?.operatorId;
    if (id === undefined) return null;
    if (!(await sql.setPassword.any(tx, { id, passwordHash }))) return null;
    await sql.deleteSessions.run(tx, { id });
    return id;
  });

/**
 * Uses the link of the first administrator up: true when `make` may continue, which it does before anybody else can.
 * False when the link is none, was used meanwhile, or somebody has a password by now.
 */
export const useFirst = (
  db: Db,
  hash: Buffer,
  { email, emailKey, name, passwordHash }: { email: string; emailKey: string; name: string; passwordHash: string },
) =>
  db.transaction(async (tx): Promise<string | null> => {
    await sql.lockFirst.run(tx, { firstLock: FIRST_LOCK });
    const count = await sql.takeFirstLink.run(tx, { hash });
    if (count === 0 || !(await isFirstMissing(tx))) return null;

    const row = await sql.putAdministrator.one<{ id: string }>(tx, {
      id: newId(),
      email,
      emailKey,
      name,
      passwordHash,
    });
    const id = row?.id;
    if (id === undefined) throw new Error("a stored operator was not found");
    await sql.deleteOldRole.run(tx, { id });
    await sql.insertRole.run(tx, { id });
    return id;
  });
