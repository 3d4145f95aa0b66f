import type { Log } from "@svc/log";
import pg from "pg";
import { MIGRATIONS_TABLE, MIGRATION_LOCK, bundledMigrations } from "./migrations.ts";
import { StoreCopyError } from "./store-copy-error.ts";

/** Where a copy is made of, or put back to. */
export interface CopyPlace {
  url: string;
  log: Log;
  /** Cuts the connection, so that the database undoes what was not finished. */
  signal: AbortSignal;
}

/**
 * Values as text must mean the same on whatever server they are read again. And nothing here is in a hurry: a large table
 * takes its time. What waits for a lock gives up, so that nobody waits behind it.
 */
const SETTINGS = `
  SET client_encoding = 'UTF8';
  SET DateStyle = 'ISO, YMD';
  SET IntervalStyle = 'postgres';
  SET TimeZone = 'UTC';
  SET bytea_output = 'hex';
  SET extra_float_digits = 3;
  SET statement_timeout = 0;
  SET idle_in_transaction_session_timeout = 0;
  SET lock_timeout = '15s'`;

/** Runs `work` on a connection of its own, which ends with it; what is not committed by then is undone. */
export async function onCopyClient<Result>(
  { url, log, signal }: CopyPlace,
  applicationName: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: applicationName,
  });
  // Whoever works on it learns of a break by the next statement; without a listener it would end the process.
  client.on("error", (error) => log.debug({ error }, "the connection for the copy was lost"));
  const end = () => {
    client.end().catch((error: unknown) => log.debug({ error }, "failed to close the connection for the copy"));
  };
  await client.connect();
  signal.addEventListener("abort", end, { once: true });
  try {
    await client.query(SETTINGS);
    return await work(client);
  } catch (error) {
    // What a cut connection says is not why it was cut.
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", end);
    await client.end();
  }
}

/**
 * Takes the lock of those who change the schema, until the connection ends: alone, or together with others who only read.
 * Throws StoreCopyError `busy` when it is taken.
 */
export async function lockSchema(client: pg.Client, mode: "alone" | "shared"): Promise<void> {
  const take = { alone: "pg_try_advisory_lock", shared: "pg_try_advisory_lock_shared" }[mode];
  const { rows } = await client.query<{ taken: boolean }>(`SELECT ${take}(${MIGRATION_LOCK}) AS taken`);
  if (rows[0]?.taken === true) return;
  throw new StoreCopyError("busy", "Another migration, backup or restore is running on this database.");
}

/**
 * The migrations that a database has had, in their order; none where there is no schema yet. Throws StoreCopyError
 * `newer_database` when this version does not know one of them.
 */
export async function readApplied(client: pg.Client): Promise<string[]> {
  const there = await client.query<{ there: boolean }>("SELECT to_regclass($1) IS NOT NULL AS there", [
    MIGRATIONS_TABLE,
  ]);
  if (there.rows[0]?.there !== true) return [];
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY name COLLATE "C"`,
  );
  const known = new Set(await bundledMigrations());
  const unknown = rows.find(({ name }) => !known.has(name));
  if (unknown !== undefined) {
    throw new StoreCopyError(
      "newer_database",
      "The schema of this database is newer than this version of the product. Use the newer version.",
    );
  }
  return rows.map(({ name }) => name);
}
