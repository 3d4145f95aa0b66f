import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { CHANNELS, channelsConfigSchema } from "@svc/contracts";
import type { ChannelDescriptor, ChannelId, ChannelsConfig, IntegrationId, Sealed } from "@svc/contracts";
import { statements } from "../sql.ts";
import type { Db } from "../db.ts";
import type { Log } from "@svc/log";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { findPoolerOn, onConnection } from "./server-checks.ts";
import type { PoolerMode } from "./server-checks.ts";

/** Seals and opens secrets at rest, and computes fingerprints. */
export interface Sealer {
  seal(secret: string): Sealed;
  /** Returns the secret, or null if it was sealed with another key or has been changed. */
  open(sealed: Sealed): string | null;
  /**
   * Returns 16 hexadecimal digits that are the same for the same text; the text cannot be guessed from them without the
   * key.
   */
  fingerprint(text: string): string;
}

const FORMAT = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const CHECK_TEXT = "svc secret key check";

/** Returns true if this sealer has the secret key with which the check value of an installation was sealed. */
export const opensSecretKeyCheck = (sealer: Sealer, sealed: string): boolean => sealer.open({ sealed }) === CHECK_TEXT;

/** Number of the advisory lock of an initialization; used for nothing else. */
const INITIALIZE_LOCK = 7_305_416;

/**
 * Compares the secret key of this process with the one that sealed this store's secrets; the first process sets it.
 * Returns false for another key, which cannot open the secrets.
 */
export async function checkSecretKey(db: Db, sealer: Sealer): Promise<boolean> {
  await sql.setSecretKeyCheck.run(db, { sealed: sealer.seal(CHECK_TEXT).sealed });
  const row = await sql.readSecretKeyCheck.one(db);
  const sealed = row?.secretKeyCheck;
  return sealed !== undefined && opensSecretKeyCheck(sealer, sealed);
}

/**
 * Runs `work` while no other process initializes this store; waits up to 30 s for one that does. Takes an advisory
 * lock, which ends with the connection, also after a crash.
 */
export function exclusively<Result>(db: Db, work: () => Promise<Result>): Promise<Result> {
  return db.transaction(async (tx) => {
    await sql.lockInitialization.run(tx, { initializeLock: INITIALIZE_LOCK });

    await sql.setLockTimeout.run(tx);
    return work();
  });
}

/** Returns true once the first initialization has finished. */
export async function isInitialized(db: Db): Promise<boolean> {
  const row = await sql.isInitialized.one(db);
  return row?.done ?? false;
}

/** Returns true once the first administrator key was shown. */
export async function isAdminKeyShown(db: Db): Promise<boolean> {
  const row = await sql.isAdminKeyShown.one(db);
  return row?.done ?? false;
}

/** Records that the first administrator key was shown. */
export const markAdminKeyShown = (db: Db) => sql.markAdminKeyShown.exec(db);

/** Records that the first initialization has finished: what it created is not created again after a deletion. */
export const markInitialized = (db: Db) => sql.markInitialized.exec(db);

/** Stored settings of the language model server. */
export interface StoredModelSettings {
  baseUrl: string;
  api: "openai" | "anthropic";
  apiKey: Sealed | null;
  /** Default model of agents; null: they use none. */
  model: string | null;
}

/** Returns the stored settings of the language model server; null if there are none. */
export async function findModelSettings(db: Db): Promise<StoredModelSettings | null> {
  return (await sql.findModelSettings.one<{ settings: StoredModelSettings }>(db))?.settings ?? null;
}

/** Stores the settings of the language model server; null removes them. */
export async function setModelSettings(db: Db, settings: StoredModelSettings | null): Promise<void> {
  await sql.setModelSettings.exec(db, { settings: settings === null ? null : JSON.stringify(settings) });
}

/** Columns of channels_config that `toChannelsConfig` takes. */
export const CHANNELS_COLUMNS =
  "enabled, tool_server_enabled, to_jsonb(channels_config) AS settings, channels_config.version";

const sql = statements("platform/installation", { channelsColumns: CHANNELS_COLUMNS });

/** The integration that is not a channel: it has a column of its own and no settings. */
const TOOL_SERVER = "tool-server";

/**
 * Returns the SET clause that merges the settings $1 into those of the channel $4. The column comes from the channel's
 * descriptor, so it can be part of the statement.
 */
function mergeClause(id: ChannelId): string {
  const { settingsColumn: column }: ChannelDescriptor = CHANNELS[id];
  if (column === null) {
    return `channels = channels || jsonb_build_object($4::text, jsonb_build_object('config',
      coalesce(channels -> $4::text -> 'config', '{}') || $1::jsonb))`;
  }
  return `${column} = jsonb_set(${column}, '{config}', coalesce(${column} -> 'config', '{}') || $1::jsonb)`;
}

/** Reads the settings, with defaults for those that are not set. */
const readChannels = async (db: Db): Promise<ChannelsConfig> => toChannelsConfig(await sql.readChannels.one(db));

/** A row of channels_config. */
interface ChannelsRow {
  enabled: string[] | null;
  toolServerEnabled: boolean | null;
  settings: unknown;
  version: number | null;
}

/** Returns the settings of a row, with defaults for those that are not set. */
export function toChannelsConfig(row: ChannelsRow | null): ChannelsConfig {
  // Columns by name; `channels` has the settings of the channels without a column of their own.
  const settings = row?.settings as { channels: object } | undefined;
  const enabled = [...(row?.enabled ?? []), ...(row?.toolServerEnabled === true ? [TOOL_SERVER] : [])];
  return channelsConfigSchema.parse({ ...settings?.channels, ...settings, version: row?.version, enabled });
}

/** Switches a channel on or off; returns whether that changed anything. */
async function setEnabled(db: Db, channelId: IntegrationId, enabled: boolean): Promise<boolean> {
  if (channelId === TOOL_SERVER) {
    return sql.setToolServerEnabled.any(db, { enabled });
  }
  return sql.setEnabled.any(db, { channelId, enabled });
}

/**
 * Changes settings of one channel, and optionally switches it on or off; omitted fields are unchanged. Values must be
 * validated by their schema. With `ifVersion`, nothing changes if the settings have another version, and the widget's
 * project must exist; returns whether they were changed.
 */
async function updateChannel(
  db: Db,
  channelId: IntegrationId,
  config: object,
  { ifVersion, enabled }: { ifVersion?: number; enabled?: boolean | undefined } = {},
): Promise<boolean> {
  if (channelId === TOOL_SERVER) {
    return sql.updateToolServer.any(db, { version: ifVersion, toolServerEnabled: enabled });
  }
  return db.transaction(async (tx) => {
    if (channelId === "widget" && "project" in config) {
      if (
        !(await sql.lockProject.any(tx, {
          project: typeof config.project === "string" ? config.project : null,
        }))
      )
        return false;
    }
    const rows = await tx.query(
      `UPDATE channels_config SET version = version + 1, updated_at = now(),
       ${mergeClause(channelId)},
       enabled = CASE $3::boolean
         WHEN true THEN CASE WHEN $4::text = ANY (enabled) THEN enabled ELSE enabled || $4::text END
         WHEN false THEN array_remove(enabled, $4::text)
         ELSE enabled END
     WHERE $2::integer IS NULL OR version = $2 RETURNING version`,
      [JSON.stringify(config), ifVersion ?? null, enabled ?? null, channelId],
    );
    return rows.length > 0;
  });
}

/**
 * Creates a sealer with AES-256-GCM; the key is the SHA-256 of `SVC_SECRET_KEY`, which must itself be long and random.
 */
export function createSealer(secretKey: string): Sealer {
  const key = createHash("sha256").update(secretKey).digest();
  const fingerprintKey = createHmac("sha256", key).update("fingerprint").digest();
  return {
    fingerprint: (text) => createHmac("sha256", fingerprintKey).update(text).digest("hex").slice(0, 16),

    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return { sealed: `${FORMAT}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}` };
    },
    open({ sealed }) {
      const [format, data = ""] = sealed.split(".");
      const bytes = Buffer.from(data, "base64url");
      if (format !== FORMAT || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
      } catch {
        // Node.js throws an untyped Error for a failed tag, which only means that the key or the data is different.
        return null;
      }
    },
  };
}

/** Folder of the migrations, one file of SQL each. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL("../../migrations", import.meta.url));

/** Table with the names of the migrations that were applied to a database. */
export const MIGRATIONS_TABLE = "schema_migrations";

/** Number of the advisory lock for schema changes, the same as that of node-pg-migrate. */
export const MIGRATION_LOCK = "7241865325823964";

/** Names of the migrations of this version, in order. */
export async function bundledMigrations(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIRECTORY);
  return files
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.slice(0, -".sql".length))
    .sort();
}

/** The SQL of one of the `bundledMigrations`. They have no down migration, so the whole file is SQL to run. */
export const readMigration = (name: string): Promise<string> =>
  readFile(join(MIGRATIONS_DIRECTORY, `${name}.sql`), "utf8");

/** Objects that the migrations of this version create, including those that a later one drops. */
export interface OwnObjects {
  tables: Set<string>;
  functions: Set<string>;
}

/**
 * Returns the names of the product's own objects in a database, so that other objects in it are neither read nor
 * removed. They are read from the migrations, which makes the list complete.
 */
export async function findOwnObjects(): Promise<OwnObjects> {
  const own: OwnObjects = { tables: new Set(), functions: new Set() };
  for (const name of await bundledMigrations()) {
    const text = await readMigration(name);
    for (const [, table = ""] of text.matchAll(/^\s*CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/gim)) {
      own.tables.add(table);
    }
    for (const [, made = ""] of text.matchAll(/^\s*CREATE (?:OR REPLACE )?FUNCTION (\w+)/gim)) own.functions.add(made);
  }
  return own;
}

/** Relation of a database's schema to this version of the program. */
export type SchemaState = "current" | "older" | "newer";

async function readSchemaStateOn(client: pg.ClientBase): Promise<SchemaState> {
  const exists = await client.query<{ there: string | null }>("SELECT to_regclass($1)::text AS there", [
    MIGRATIONS_TABLE,
  ]);
  if (exists.rows[0]?.there == null) return "older";
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
  const bundled = await bundledMigrations();
  const applied = new Set(rows.map((row) => row.name));
  if (bundled.some((name) => !applied.has(name))) return "older";
  return applied.size > bundled.length ? "newer" : "current";
}

/** Compares the database's schema with that of this version. */
export const readSchemaState = (url: string): Promise<SchemaState> => onConnection(url, readSchemaStateOn);

/** State of the database that a startup checks. */
export interface DatabaseState {
  schema: SchemaState;
  /** See `findPooler`. */
  pooler: PoolerMode | null;
}

/** Returns what `readSchemaState` and `findPooler` return, from one connection. */
export const readDatabaseState = (url: string): Promise<DatabaseState> =>
  onConnection(url, async (client) => ({
    schema: await readSchemaStateOn(client),
    pooler: await findPoolerOn(url, client),
  }));

/**
 * Migrates the schema to this version: forward only, each file in a transaction, one migrator at a time (advisory
 * lock). Safe to repeat; without pending migrations it costs two reads.
 */
export async function migrateStore(url: string, log: Log): Promise<void> {
  if ((await readSchemaState(url)) !== "older") return;
  const { runner } = await import("node-pg-migrate");
  await runner({
    databaseUrl: url,
    dir: MIGRATIONS_DIRECTORY,
    migrationsTable: MIGRATIONS_TABLE,
    direction: "up",
    checkOrder: true,
    advisoryLockMode: "wait",
    logger: {
      debug: (text) => log.debug({}, text),
      info: (text) => log.debug({}, text),
      warn: (text) => log.warn({}, text),
      error: (text) => log.error({}, text),
    },
  });
  log.info({}, "the database schema is up to date");
}

/** Functions of `store.channelsConfig`. */
export const channelsConfig = { read: readChannels, setEnabled, update: updateChannel };
