import type { Scope } from "@svc/contracts";
import type { Db } from "./db.ts";
import { asProjectId, newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

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
}

const COLUMNS = "id, name, prefix, scopes, project_id, created_at, created_by, expires_at, last_used_at, revoked_at";

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
          `INSERT INTO api_keys (id, name, prefix, hash, scopes, project_id, created_by, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (hash) WHERE revoked_at IS NULL DO NOTHING RETURNING ${COLUMNS}`,
          [newId(), key.name, key.prefix, key.hash, key.scopes, key.project, key.createdBy, key.expiresAt],
        );
      });
      const row = rows[0];
      return row === undefined ? null : asApiKey(row);
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
  };
}
