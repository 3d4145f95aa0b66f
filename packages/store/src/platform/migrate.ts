import type { Log } from "@svc/log";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";

/** Folder of the migrations, one file of SQL each. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL("../../migrations", import.meta.url));

/** The table in which a database keeps the names of the migrations that it has had. */
export const MIGRATIONS_TABLE = "schema_migrations";

/** Number of the advisory lock of a process that changes the schema: the one that node-pg-migrate takes. */
export const MIGRATION_LOCK = "7241865325823964";

/** Names of the migrations that this version brings, in order. */
export async function bundledMigrations(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIRECTORY);
  return files
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.slice(0, -".sql".length))
    .sort();
}

/** The SQL of one of the `bundledMigrations`. They go forward only, so that the whole file is to be run. */
export const readMigration = (name: string): Promise<string> =>
  readFile(join(MIGRATIONS_DIRECTORY, `${name}.sql`), "utf8");

/** What the migrations of this version make, whether or not a later one takes it away again. */
export interface OwnObjects {
  tables: Set<string>;
  functions: Set<string>;
}

/**
 * Names what is the product's own in a database, so that what somebody else keeps next to it is neither read nor
 * removed. It is read from the migrations, so that none can be forgotten.
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

/** How the schema of a database stands to this version of the program. */
export type SchemaState = "current" | "older" | "newer";

/** Compares the database's schema with the one that this version knows. */
export async function readSchemaState(url: string): Promise<SchemaState> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const exists = await client.query<{ there: string | null }>("SELECT to_regclass($1)::text AS there", [
      MIGRATIONS_TABLE,
    ]);
    if (exists.rows[0]?.there == null) return "older";
    const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
    const bundled = await bundledMigrations();
    const applied = new Set(rows.map((row) => row.name));
    if (bundled.some((name) => !applied.has(name))) return "older";
    return applied.size > bundled.length ? "newer" : "current";
  } finally {
    await client.end();
  }
}

/**
 * Brings the schema up to this version: forward only, each file in a transaction, one migrator at a time (advisory
 * lock). Safe to repeat; when there is nothing to do it costs two reads.
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
