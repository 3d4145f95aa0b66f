import type { Scope } from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

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

interface ApiKeyRow {
  id: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  project_id: string | null;
  created_at: Date;
  created_by: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
  /** NULL: the default; 0: no limit. */
  rate_limit: number | null;
}

interface NamedApiKeyRow extends ApiKeyRow {
  project_name: string | null;
}

const COLUMNS =
  "id, name, prefix, scopes, project_id, created_at, created_by, expires_at, last_used_at, revoked_at, rate_limit";
/** The columns of a NamedApiKey. */
const NAMED_COLUMNS = `${COLUMNS}, (SELECT p.name FROM projects p WHERE p.id = project_id) AS project_name`;

/** SQL that is true for keys that people see: not for those of deleted projects. */
const IS_SEEN = "NOT EXISTS (SELECT 1 FROM projects d WHERE d.id = project_id AND d.deleted_at IS NOT NULL)";

/** API keys. They come before the choice of a project, so these functions take none. */
export function apiKeysTable(db: Db) {
  return {
    /** The live key with this SHA-256 (not revoked, not expired), or null. */
    async findLiveByHash(hash: Buffer): Promise<ApiKeyRecord | null> {
      const rows = await db.prepared<ApiKeyRow>(
        "api_keys_find",
        `SELECT ${COLUMNS} FROM api_keys
         WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
        [hash],
      );
      const row = rows[0];
      return row === undefined ? null : asApiKey(row);
    },

    /** Adds a key; null when a live key with this hash exists. */
    async insert(key: NewApiKey): Promise<ApiKeyRecord | null> {
      const rows = await db.transaction(async (tx) => {
        await tx.query(
          "UPDATE api_keys SET revoked_at = now() WHERE hash = $1 AND revoked_at IS NULL AND expires_at <= now()",
          [key.hash],
        );
        return tx.query<ApiKeyRow>(
          `INSERT INTO api_keys (id, name, prefix, hash, scopes, project_id, created_by, expires_at, rate_limit)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (hash) WHERE revoked_at IS NULL DO NOTHING RETURNING ${COLUMNS}`,
          [
            newId(),
            key.name,
            key.prefix,
            key.hash,
            key.scopes,
            key.project,
            key.createdBy,
            key.expiresAt,
            // NULL stands for the default, 0 for none.
            key.rateLimit === null ? 0 : (key.rateLimit ?? null),
          ],
        );
      });
      const row = rows[0];
      return row === undefined ? null : asApiKey(row);
    },

    /** The key with this id, whether it lives or not, or null. */
    async find(id: string): Promise<NamedApiKey | null> {
      const rows = await db.query<NamedApiKeyRow>(
        `SELECT ${NAMED_COLUMNS} FROM api_keys WHERE id = $1 AND ${IS_SEEN}`,
        [id],
      );
      const row = rows[0];
      return row === undefined ? null : asNamedApiKey(row);
    },

    /**
     * Keys of all projects, live or not, newest first: those made before the key with the id `before`, and with `q` in
     * the name (in any case) or at the beginning of the prefix. Ids sort by time, so that a page stays where it is
     * whatever is added.
     */
    async listPage({
      limit,
      before,
      q,
    }: {
      limit: number;
      before?: string | undefined;
      q?: string | undefined;
    }): Promise<NamedApiKey[]> {
      // strpos takes the text as it is, where LIKE would read signs of it as wildcards.
      const rows = await db.query<NamedApiKeyRow>(
        `SELECT ${NAMED_COLUMNS} FROM api_keys
         WHERE ${IS_SEEN} AND ($2::uuid IS NULL OR id < $2)
           AND ($3::text IS NULL OR strpos(lower(name), lower($3)) > 0 OR starts_with(prefix, $3))
         ORDER BY id DESC LIMIT $1`,
        [limit, before ?? null, q ?? null],
      );
      return rows.map(asNamedApiKey);
    },

    /**
     * Makes another key with the name, scopes, project, limit and expiry of a live one, which ends after
     * `overlapSeconds`, or is revoked when that is 0. Null when there is no such live key. Locks the row of the old key,
     * so that nobody revokes it in between.
     */
    async rotate(
      id: string,
      replacement: Pick<NewApiKey, "prefix" | "hash" | "createdBy">,
      overlapSeconds: number,
    ): Promise<NamedApiKey | null> {
      // One statement, so that there is never one key without the other. It reads the old row as it was before.
      const rows = await db.query<NamedApiKeyRow>(
        `WITH old AS (
           SELECT * FROM api_keys WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
           FOR UPDATE
         ), ended AS (
           UPDATE api_keys k
           SET is_rotated = true, successor_expires_at = CASE WHEN k.is_rotated THEN k.successor_expires_at ELSE k.expires_at END,
               revoked_at = CASE WHEN $2::integer = 0 THEN now() END,
               expires_at = CASE WHEN $2 = 0 THEN k.expires_at
                                 ELSE least(k.expires_at, now() + $2 * interval '1 second') END
           FROM old WHERE k.id = old.id
         )
         INSERT INTO api_keys (id, name, prefix, hash, scopes, project_id, created_by, expires_at, rate_limit)
         SELECT $3, name, $4, $5, scopes, project_id, $6,
           CASE WHEN is_rotated THEN successor_expires_at ELSE expires_at END, rate_limit FROM old
         RETURNING ${NAMED_COLUMNS}`,
        [id, overlapSeconds, newId(), replacement.prefix, replacement.hash, replacement.createdBy],
      );
      const row = rows[0];
      return row === undefined ? null : asNamedApiKey(row);
    },

    /** The live keys that one maker has made, newest first. */
    async listLiveCreatedBy(createdBy: string): Promise<ApiKeyRecord[]> {
      const rows = await db.query<ApiKeyRow>(
        `SELECT ${COLUMNS} FROM api_keys WHERE created_by = $1 AND revoked_at IS NULL
           AND (expires_at IS NULL OR expires_at > now()) ORDER BY created_at DESC`,
        [createdBy],
      );
      return rows.map(asApiKey);
    },

    /** True when there is a live administrator's key that none of these has made. */
    async hasLiveAdminBeside(makers: string[]): Promise<boolean> {
      const rows = await db.query(
        `SELECT 1 FROM api_keys WHERE 'admin:*' = ANY (scopes) AND revoked_at IS NULL AND created_by <> ALL ($1::text[])
           AND (expires_at IS NULL OR expires_at > now()) LIMIT 1`,
        [makers],
      );
      return rows.length > 0;
    },

    /** Revokes a key; false when there is no such live key. */
    async revoke(id: string): Promise<boolean> {
      const rows = await db.query(
        "UPDATE api_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING id",
        [id],
      );
      return rows.length > 0;
    },

    /** Revokes what a maker has made except the key with this hash; answers how many. */
    async revokeOthersOf(createdBy: string, hash: Buffer): Promise<number> {
      const rows = await db.query(
        "UPDATE api_keys SET revoked_at = now() WHERE created_by = $1 AND hash <> $2 AND revoked_at IS NULL RETURNING id",
        [createdBy, hash],
      );
      return rows.length;
    },

    /** Notes that keys were used, to the minute. */
    async touch(ids: string[]): Promise<void> {
      if (ids.length === 0) return;
      await db.query(
        `UPDATE api_keys SET last_used_at = now()
         WHERE id = ANY ($1::uuid[]) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
        [ids],
      );
    },
  };
}

function asApiKey(row: ApiKeyRow): ApiKeyRecord {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    project: row.project_id === null ? null : asProjectId(row.project_id),
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    rateLimit: row.rate_limit === 0 ? null : (row.rate_limit ?? undefined),
  };
}

function asNamedApiKey(row: NamedApiKeyRow): NamedApiKey {
  return { ...asApiKey(row), projectName: row.project_name };
}
