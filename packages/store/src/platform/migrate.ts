import type { Log } from "@svc/log";
import pg from "pg";
import { MIGRATIONS_DIRECTORY, MIGRATIONS_TABLE, bundledMigrations } from "./migrations.ts";

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
