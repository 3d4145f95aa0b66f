import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("people/operator-links");

/** What a link is for: an operator who chooses a password, or (null) the first administrator. */
export interface LinkRecord {
  operatorId: string | null;
  expiresAt: Date;
}

interface LinkRow {
  operatorId: string | null;
  expiresAt: Date;
}

/** Number of the advisory lock that whoever makes the first administrator holds; nothing else of ours takes it. */
const FIRST_LOCK = 7_305_417;

const isFirstMissingIn = async (on: Db): Promise<boolean> => {
  const row = await sql.isFirstMissing.one<{ has: boolean }>(on);
  return row?.has === false;
};

/** True while nobody has a password with which to sign in. */
export const isFirstMissing = (db: Db): Promise<boolean> => isFirstMissingIn(db);

/** Makes a link, in the place of an earlier one for the same. */
export async function put(
  db: Db,
  operatorId: string | null,
  hash: Buffer,
  lifetimeSeconds: number,
): Promise<LinkRecord> {
  const row = await sql.put.one<LinkRow>(db, { id: newId(), operatorId, hash, lifetimeSeconds });
  if (row === null) throw new Error("a stored link was not found");
  return { operatorId: row.operatorId, expiresAt: row.expiresAt };
}

/** The link with this SHA-256, as long as it can be used, or null. */
export async function find(db: Db, hash: Buffer): Promise<LinkRecord | null> {
  const row = await sql.find.one<LinkRow>(db, { hash });
  if (row === null) return null;
  if (row.operatorId === null && !(await isFirstMissingIn(db))) return null;
  return { operatorId: row.operatorId, expiresAt: row.expiresAt };
}

/**
 * Uses a link up for an operator's password: sets it, and ends the operator's sessions. Answers the operator's id;
 * null when the link is none, or was used meanwhile. Of two at once, one gets it.
 */
export const usePassword = (db: Db, hash: Buffer, passwordHash: string): Promise<string | null> =>
  db.transaction(async (tx) => {
    const row = await sql.usePassword.one<{ operatorId: string }>(tx, { hash });
    const id = row?.operatorId;
    if (id === undefined) return null;
    const count = await sql.updateOperators.run(tx, { id, passwordHash });
    if (count === 0) return null;
    await sql.deleteOperatorSessions.run(tx, { id });
    return id;
  });

/**
 * Uses the link of the first administrator up: true when `make` may go on, which it does before anybody else can.
 * False when the link is none, was used meanwhile, or somebody has a password by now.
 */
export const useFirst = (db: Db, hash: Buffer, email: string, emailKey: string, name: string, passwordHash: string) =>
  db.transaction(async (tx): Promise<string | null> => {
    await sql.useFirst.run(tx, { firstLock: FIRST_LOCK });
    const count = await sql.deleteOperatorLinks.run(tx, { hash });
    if (count === 0 || !(await isFirstMissingIn(tx))) return null;

    const row = await sql.insertOperators.one<{ id: string }>(tx, { id: newId(), email, emailKey, name, passwordHash });
    const id = row?.id;
    if (id === undefined) throw new Error("a stored operator was not found");
    await sql.deleteOperatorRoles.run(tx, { id });
    await sql.insertOperatorRoles.run(tx, { id });
    return id;
  });
