import type { Scope } from "@svc/contracts";
import type { Db, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const keySql = statements("people/api-keys");

/** An API key as it is stored: its SHA-256, never the key. */
export interface ApiKeyRecord {
  id: string;
  name: string;
  /** First characters of the key, by which people recognize it. */
  prefix: string;
  scopes: Scope[];
  /** Its project; null for an administrator's key. */
  project: ProjectId | null;
  createdAt: Date;
  createdBy: string;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  /** Requests per minute and address; null for no limit, undefined for the default. */
  rateLimit: number | null | undefined;
}

/** Fields of a new key. */
export interface NewApiKey {
  name: string;
  prefix: string;
  hash: Buffer;
  scopes: Scope[];
  project: ProjectId | null;
  createdBy: string;
  expiresAt: Date | null;
  /** As in the record; the default if absent. */
  rateLimit?: number | null | undefined;
}

/** A key with the name of its project, for display. */
export interface NamedApiKey extends ApiKeyRecord {
  projectName: string | null;
}

/** NULL is the default, 0 is no limit. */
type KeyRow<Key extends ApiKeyRecord> = Omit<Key, "rateLimit"> & { rateLimit: number | null };

function asApiKey<Key extends ApiKeyRecord>(row: KeyRow<Key>): Key {
  return { ...row, rateLimit: row.rateLimit === 0 ? null : (row.rateLimit ?? undefined) } as Key;
}

/** Returns the valid key with this SHA-256 (not revoked, not expired), or null. */
async function findLiveByHash(db: Db, hash: Buffer): Promise<ApiKeyRecord | null> {
  const row = await keySql.findLiveByHash.one<KeyRow<ApiKeyRecord>>(db, { hash });
  return row === null ? null : asApiKey<ApiKeyRecord>(row);
}

/** Inserts a key; null if a valid key with this hash exists. */
async function insertKey(db: Db, key: NewApiKey): Promise<ApiKeyRecord | null> {
  const rows = await db.transaction(async (tx) => {
    await keySql.insert.run(tx, { hash: key.hash });
    return keySql.insertKey.all<KeyRow<ApiKeyRecord>>(tx, {
      ...key,
      id: newId(),
      rateLimit: key.rateLimit === null ? 0 : (key.rateLimit ?? null),
    });
  });
  const row = rows[0];
  return row === undefined ? null : asApiKey<ApiKeyRecord>(row);
}

/** Returns the key with this id, valid or not, or null. */
async function findKey(db: Db, id: string): Promise<NamedApiKey | null> {
  const row = await keySql.find.one<KeyRow<NamedApiKey>>(db, { id });
  return row === null ? null : asApiKey<NamedApiKey>(row);
}

/**
 * Returns keys of all projects, valid or not, newest first: those created before the key with id `before`, and with `q`
 * in the name (in any case) or at the start of the prefix. Ids sort by time, so that pages do not shift when keys are
 * added.
 */
async function listKeyPage(db: Db, { limit, before, q }: PageQuery): Promise<NamedApiKey[]> {
  const rows = await keySql.listPage.all<KeyRow<NamedApiKey>>(db, { limit, before, q });
  return rows.map(asApiKey<NamedApiKey>);
}

/**
 * Creates another key with the name, scopes, project, limit and expiry of a valid one, which expires after
 * `overlapSeconds`, or is revoked if that is 0. Null if there is no such valid key. Locks the row of the old key
 * against a concurrent revocation.
 */
async function rotateKey(
  db: Db,
  id: string,
  replacement: Pick<NewApiKey, "prefix" | "hash" | "createdBy">,
  overlapSeconds: number,
): Promise<NamedApiKey | null> {
  const row = await keySql.rotate.one<KeyRow<NamedApiKey>>(db, { ...replacement, id, overlapSeconds, id2: newId() });
  return row === null ? null : asApiKey<NamedApiKey>(row);
}

/** Returns the valid keys that one creator has created, newest first. */
async function listLiveCreatedBy(db: Db, createdBy: string): Promise<ApiKeyRecord[]> {
  const rows = await keySql.listLiveCreatedBy.all<KeyRow<ApiKeyRecord>>(db, { createdBy });
  return rows.map(asApiKey<ApiKeyRecord>);
}

/** Returns true if there is a valid administrator key that none of these creators has created. */
const hasLiveAdminBeside = (db: Db, makers: string[]) => keySql.hasLiveAdminBeside.any(db, { makers });

/** Revokes a key; false if there is no such valid key. */
const revokeKey = (db: Db, id: string) => keySql.revoke.any(db, { id });

/** Revokes all keys of a creator except the one with this hash; returns how many. */
const revokeOthersOf = (db: Db, createdBy: string, hash: Buffer) => keySql.revokeOthersOf.run(db, { createdBy, hash });

/** Records the last use of keys, to the minute. */
async function touchKey(db: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await keySql.touch.run(db, { ids });
}

/** A session of an operator in one browser. */
export interface SessionRecord {
  id: string;
  operatorId: string;
  createdAt: Date;
  lastUsedAt: Date;
}

/** Maximum durations of a session. */
export interface SessionLimits {
  /** Since its last use. */
  idleSeconds: number;
  /** Since the sign-in. */
  totalSeconds: number;
}

/** Maximum of sessions of one operator: the oldest one ends when another one starts. */
const MAX_SESSIONS = 50;

/** Starts a session; null if the operator may not sign in. Deletes expired ones. */
async function insertSession(
  db: Db,
  operatorId: string,
  hash: Buffer,
  { idleSeconds, totalSeconds }: SessionLimits,
): Promise<SessionRecord | null> {
  return db.transaction(async (tx) => {
    if (!(await signInSql.lockOperator.any(tx, { operatorId }))) return null;
    await signInSql.deleteExpiredSessions.run(tx, { operatorId, totalSeconds, idleSeconds });
    await signInSql.deleteSurplusSessions.run(tx, { operatorId, kept: MAX_SESSIONS - 1 });
    return signInSql.addSession.one<SessionRecord>(tx, { id: newId(), operatorId, hash });
  });
}

/** Returns the session with this SHA-256 if it is valid and its operator may sign in, or null. */
const findLiveSession = (db: Db, hash: Buffer, { idleSeconds, totalSeconds }: SessionLimits) =>
  signInSql.findLive.one<SessionRecord>(db, { hash, totalSeconds, idleSeconds });

/** Records the use of sessions and the last activity of their operators. */
const touchSession = (db: Db, ids: readonly string[]) => signInSql.touch.exec(db, { ids });

/** Ends a session. */
const removeSession = (db: Db, id: string) => signInSql.removeSession.exec(db, { id });

/** Ends the session with this SHA-256, if there is one. */
const removeSessionByHash = (db: Db, hash: Buffer) => signInSql.removeByHash.exec(db, { hash });

/** Ends all sessions of an operator and their push subscriptions; returns the number of sessions. */
const removeSessionsOf = (db: Db, operatorId: string) => signInSql.removeOf.run(db, { operatorId });

const signInSql = statements("people/operator-sign-in");

/** Purpose of a link: an operator who sets a password, or (null) the first administrator. */
export interface LinkRecord {
  operatorId: string | null;
  expiresAt: Date;
}

/** Number of the advisory lock for creating the first administrator; used for nothing else. */
const FIRST_LOCK = 7_305_417;

/** Returns true while no administrator of all projects can sign in with a password. */
async function isFirstMissing(db: Db): Promise<boolean> {
  const row = await signInSql.hasAdministrator.one(db);
  return row?.has === false;
}

/** Creates a link, which replaces an earlier one for the same operator. */
async function putLink(db: Db, operatorId: string | null, hash: Buffer, lifetimeSeconds: number): Promise<LinkRecord> {
  const row = await signInSql.putLink.one<LinkRecord>(db, { id: newId(), operatorId, hash, lifetimeSeconds });
  if (row === null) throw new Error("a stored link was not found");
  return row;
}

/** Returns the link with this SHA-256 if it is valid, or null. */
async function findLink(db: Db, hash: Buffer): Promise<LinkRecord | null> {
  const row = await signInSql.findLink.one<LinkRecord>(db, { hash });
  if (row === null) return null;
  if (row.operatorId === null && !(await isFirstMissing(db))) return null;
  return row;
}

/**
 * Consumes a link for setting an operator's password: sets it, and ends the operator's sessions. Returns the operator's
 * id; null if the link is invalid or was used in the meantime. Of two concurrent calls, one succeeds.
 */
const usePassword = (db: Db, hash: Buffer, passwordHash: string): Promise<string | null> =>
  db.transaction(async (tx) => {
    const row = await signInSql.takePasswordLink.one(tx, { hash });
    const id = row?.operatorId;
    if (id === undefined) return null;
    if (!(await signInSql.setPassword.any(tx, { id, passwordHash }))) return null;
    await signInSql.deleteSessions.run(tx, { id });
    return id;
  });

/**
 * Consumes the link of the first administrator and creates that operator, before any other call can. Returns the
 * operator's id; null if the link is invalid or was used in the meantime, or if an operator has a password already.
 */
const useFirst = (
  db: Db,
  hash: Buffer,
  { email, emailKey, name, passwordHash }: { email: string; emailKey: string; name: string; passwordHash: string },
) =>
  db.transaction(async (tx): Promise<string | null> => {
    await signInSql.lockFirst.run(tx, { firstLock: FIRST_LOCK });
    const count = await signInSql.takeFirstLink.run(tx, { hash });
    if (count === 0 || !(await isFirstMissing(tx))) return null;

    const row = await signInSql.putAdministrator.one(tx, {
      id: newId(),
      email,
      emailKey,
      name,
      passwordHash,
    });
    const id = row?.id;
    if (id === undefined) throw new Error("a stored operator was not found");
    await signInSql.deleteOldRole.run(tx, { id });
    await signInSql.insertRole.run(tx, { id });
    return id;
  });

/** Functions of `store.apiKeys`. */
export const apiKeys = {
  findLiveByHash,
  insert: insertKey,
  find: findKey,
  listPage: listKeyPage,
  rotate: rotateKey,
  listLiveCreatedBy,
  hasLiveAdminBeside,
  revoke: revokeKey,
  revokeOthersOf,
  touch: touchKey,
};

/** Functions of `store.operatorSessions`. */
export const operatorSessions = {
  insert: insertSession,
  findLive: findLiveSession,
  touch: touchSession,
  remove: removeSession,
  removeByHash: removeSessionByHash,
  removeOf: removeSessionsOf,
};

/** Functions of `store.operatorLinks`. */
export const operatorLinks = { isFirstMissing, put: putLink, find: findLink, usePassword, useFirst };
