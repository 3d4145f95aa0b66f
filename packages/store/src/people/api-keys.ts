import type { Scope } from "@svc/contracts";
import type { Db, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("people/api-keys");

/** An API key as it is stored: its SHA-256, never the key. */
export interface ApiKeyRecord {
  id: string;
  name: string;
  /** First characters of the key, so that people can tell keys apart. */
  prefix: string;
  scopes: Scope[];
  /** The project that it is bound to; null for an administrator's key. */
  project: ProjectId | null;
  createdAt: Date;
  createdBy: string;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  /** Requests a minute from one address; null for no limit, undefined for the default of the service. */
  rateLimit: number | null | undefined;
}

/** What a new key record needs. */
export interface NewApiKey {
  name: string;
  prefix: string;
  hash: Buffer;
  scopes: Scope[];
  project: ProjectId | null;
  createdBy: string;
  expiresAt: Date | null;
  /** As in the record; the default of the service where absent. */
  rateLimit?: number | null | undefined;
}

/** A key with the name of the project that it is bound to, as people see it. */
export interface NamedApiKey extends ApiKeyRecord {
  projectName: string | null;
}

/** NULL is the default of the service, 0 is no limit. */
type RowOf<Key extends ApiKeyRecord> = Omit<Key, "rateLimit"> & { rateLimit: number | null };

function asApiKey<Key extends ApiKeyRecord>(row: RowOf<Key>): Key {
  return { ...row, rateLimit: row.rateLimit === 0 ? null : (row.rateLimit ?? undefined) } as Key;
}

/** The live key with this SHA-256 (not revoked, not expired), or null. */
export async function findLiveByHash(db: Db, hash: Buffer): Promise<ApiKeyRecord | null> {
  const row = await sql.findLiveByHash.one<RowOf<ApiKeyRecord>>(db, { hash });
  return row === null ? null : asApiKey<ApiKeyRecord>(row);
}

/** Adds a key; null when a live key with this hash exists. */
export async function insert(db: Db, key: NewApiKey): Promise<ApiKeyRecord | null> {
  const rows = await db.transaction(async (tx) => {
    await sql.insert.run(tx, { hash: key.hash });
    return sql.insertKey.all<RowOf<ApiKeyRecord>>(tx, {
      id: newId(),
      name: key.name,
      prefix: key.prefix,
      hash: key.hash,
      scopes: key.scopes,
      project: key.project,
      createdBy: key.createdBy,
      expiresAt: key.expiresAt,
      rateLimit: key.rateLimit === null ? 0 : (key.rateLimit ?? null),
    });
  });
  const row = rows[0];
  return row === undefined ? null : asApiKey<ApiKeyRecord>(row);
}

/** The key with this id, whether it lives or not, or null. */
export async function find(db: Db, id: string): Promise<NamedApiKey | null> {
  const row = await sql.find.one<RowOf<NamedApiKey>>(db, { id });
  return row === null ? null : asApiKey<NamedApiKey>(row);
}

/**
 * Keys of all projects, live or not, newest first: those made before the key with the id `before`, and with `q` in
 * the name (in any case) or at the beginning of the prefix. Ids sort by time, so that a page stays where it is
 * whatever is added.
 */
export async function listPage(db: Db, { limit, before, q }: PageQuery): Promise<NamedApiKey[]> {
  const rows = await sql.listPage.all<RowOf<NamedApiKey>>(db, { limit, before, q });
  return rows.map(asApiKey<NamedApiKey>);
}

/**
 * Makes another key with the name, scopes, project, limit and expiry of a live one, which ends after
 * `overlapSeconds`, or is revoked when that is 0. Null when there is no such live key. Locks the row of the old key,
 * so that nobody revokes it in between.
 */
export async function rotate(
  db: Db,
  id: string,
  replacement: Pick<NewApiKey, "prefix" | "hash" | "createdBy">,
  overlapSeconds: number,
): Promise<NamedApiKey | null> {
  const row = await sql.rotate.one<RowOf<NamedApiKey>>(db, {
    id,
    overlapSeconds,
    id2: newId(),
    prefix: replacement.prefix,
    hash: replacement.hash,
    createdBy: replacement.createdBy,
  });
  return row === null ? null : asApiKey<NamedApiKey>(row);
}

/** The live keys that one maker has made, newest first. */
export async function listLiveCreatedBy(db: Db, createdBy: string): Promise<ApiKeyRecord[]> {
  const rows = await sql.listLiveCreatedBy.all<RowOf<ApiKeyRecord>>(db, { createdBy });
  return rows.map(asApiKey<ApiKeyRecord>);
}

/** True when there is a live administrator's key that none of these has made. */
export const hasLiveAdminBeside = (db: Db, makers: string[]) => sql.hasLiveAdminBeside.any(db, { makers });

/** Revokes a key; false when there is no such live key. */
export const revoke = (db: Db, id: string) => sql.revoke.any(db, { id });

/** Revokes what a maker has made except the key with this hash; returns how many. */
export const revokeOthersOf = (db: Db, createdBy: string, hash: Buffer) =>
  sql.revokeOthersOf.run(db, { createdBy, hash });

/** Notes that keys were used, to the minute. */
export async function touch(db: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.touch.run(db, { ids });
}
