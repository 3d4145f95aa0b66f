import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { readWhole } from "../messages/file-objects.ts";
import type { ObjectStore } from "./object-store.ts";
import {
  MIGRATIONS_TABLE,
  MIGRATION_LOCK,
  bundledMigrations,
  findOwnObjects,
  opensSecretKeyCheck,
  createSealer,
} from "./installation.ts";

/** Header of a copy of a store. */
export interface StoreCopyHead {
  /** Time of its snapshot, by the clock of the database. */
  takenAt: string;
  /** Version of the PostgreSQL that it was read from. */
  postgres: string;
  /** Migrations of its schema, in order. */
  migrations: string[];
  /** Check value that is sealed with the installation's secret key; null if none was set. */
  secretKeyCheck: string | null;
}

/** A copy of a store that is being created. */
export interface StoreCopy {
  head: StoreCopyHead;
  /**
   * Yields the tables, each with its rows in PostgreSQL's text format for COPY: one line per row, never just `\.`. The
   * rows of a table must be read before the next table is requested.
   */
  tables(): AsyncGenerator<{ table: CopiedTable; rows: AsyncIterable<Buffer> }>;
}

/** Quotes names, which come from the catalog. */
const quoted = (names: readonly string[], client: pg.Client) =>
  names.map((name) => client.escapeIdentifier(name)).join(", ");

/** Returns the COPY statement of a table, in one direction. */
export const copyStatement = (
  client: pg.Client,
  table: { name: string; columns: readonly string[] },
  end: string,
): string => {
  const [name, columns] = [client.escapeIdentifier(table.name), quoted(table.columns, client)];
  // PostgreSQL can copy rows into a partitioned table, but not out of one.
  return end.startsWith("TO") ? `COPY (SELECT ${columns} FROM ${name}) ${end}` : `COPY ${name} (${columns}) ${end}`;
};

/** Reason why a copy cannot be created or restored. */
export type StoreCopyErrorKind =
  /** Another migration, copy or restore is running on this database. */
  | "busy"
  /** The database has migrations that are unknown to this version. */
  | "newer_database"
  /** The database has no schema yet. */
  | "no_schema"
  /** The copy was made by a newer version. */
  | "newer_copy"
  /** The secret key is not the one that sealed the secrets. */
  | "wrong_key"
  /** Processes of the product use the database. */
  | "in_use"
  /** The database contains data that may not be replaced. */
  | "not_empty"
  /** The content of the copy is inconsistent, or does not match its schema. */
  | "bad_copy";

/** A rejected copy of a store; nothing has been changed. The message describes the reason. */
export class StoreCopyError extends Error {
  readonly fault: StoreCopyErrorKind;

  constructor(error: StoreCopyErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreCopyError";
    this.fault = error;
  }
}

/** Database of a copy or restore. */
export interface CopyDatabase {
  url: string;
  log: Log;
  /** Closes the connection, so that the database rolls back. */
  signal: AbortSignal;
}

/**
 * The text format of values must not depend on the server. There is no statement timeout, since large tables take long.
 * Waiting for locks times out, so that other statements do not queue behind it.
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

/** Runs `work` on its own connection, which is closed at the end; uncommitted changes are rolled back. */
export async function onCopyClient<Result>(
  { url, log, signal }: CopyDatabase,
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
  // Its user gets the error of a dropped connection from the next statement; without a listener it would crash the
  // process.
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
    // Report the reason of the abort instead of the error of the closed connection.
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", end);
    await client.end();
  }
}

/**
 * Acquires the lock for schema changes until the connection ends: exclusive, or shared with other readers. Throws
 * StoreCopyError `busy` if it is not available.
 */
export async function lockSchema(client: pg.Client, mode: "alone" | "shared"): Promise<void> {
  const take = { alone: "pg_try_advisory_lock", shared: "pg_try_advisory_lock_shared" }[mode];
  const { rows } = await client.query<{ taken: boolean }>(`SELECT ${take}(${MIGRATION_LOCK}) AS taken`);
  if (rows[0]?.taken === true) return;
  throw new StoreCopyError("busy", "Another migration, backup or restore is running on this database.");
}

/**
 * Returns the applied migrations of a database in order; none without a schema. Throws StoreCopyError `newer_database`
 * if one of them is unknown to this version.
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

/**
 * Tables that are not copied, and why. Unlogged tables are not copied either: their data is valid for seconds only, and
 * a database crash deletes it.
 */
export const LEFT_OUT = {
  instances: "which processes live is true for seconds",
  processes: "which processes run, or have vanished, is true of the machine that they ran on",
  service_leases: "leases of the copied process are no longer valid",
  operator_sessions: "a session that was ended after the copy was made must not be restored: operators sign in again",
  object_deletions: "objects that are due to be deleted belong to the installation that was copied",
  operator_links: "a link that was used after the copy was made must not be valid again",
} as const satisfies Record<string, string>;

/** One table of a copy. */
export interface CopiedTable {
  name: string;
  /** In the order of the values in each row. */
  columns: string[];
  /** The last value of each identity column's sequence that has been used. */
  sequences: Record<string, number>;
}

interface CatalogRow {
  name: string;
  is_unlogged: boolean;
  columns: string[];
  identities: string[];
  /** Tables that its foreign keys refer to. */
  parents: string[];
}

// Generated columns cannot be copied into a table.
const READ_CATALOG = `
  SELECT c.relname::text AS name, c.relpersistence = 'u' AS is_unlogged,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      ORDER BY a.attnum) AS columns,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity <> ''
      ORDER BY a.attnum) AS identities,
    ARRAY(SELECT DISTINCT p.relname::text FROM pg_constraint k JOIN pg_class p ON p.oid = k.confrelid
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND p.oid <> c.oid) AS parents
  FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname = ANY ($1::text[])
  ORDER BY c.relname`;

/** A table of a database. */
export interface FoundTable {
  name: string;
  columns: string[];
  identities: string[];
}

/** The product's own tables in a database. */
export interface FoundTables {
  /** Copied tables; each follows those that its foreign keys refer to. */
  copied: FoundTable[];
  /** All tables, including those that are not copied. */
  all: string[];
}

/** Sorts tables after their parents. Throws for circular references. */
function inOrder(rows: readonly CatalogRow[]): CatalogRow[] {
  const ordered: CatalogRow[] = [];
  const waiting = new Map(rows.map((row) => [row.name, row]));
  while (waiting.size > 0) {
    const free = [...waiting.values()].filter(({ parents }) => !parents.some((parent) => waiting.has(parent)));
    if (free.length === 0) {
      throw new StoreCopyError("bad_copy", `Foreign keys go round in a circle: ${[...waiting.keys()].join(", ")}.`);
    }
    for (const row of free) waiting.delete(row.name);
    ordered.push(...free);
  }
  return ordered;
}

/** Reads the product's own tables from the catalog of a database, for any version of its schema. */
export async function findTables(client: pg.Client): Promise<FoundTables> {
  const own = await findOwnObjects();
  const { rows } = await client.query<CatalogRow>(READ_CATALOG, [[...own.tables]]);
  return {
    copied: inOrder(rows)
      .filter(({ name, is_unlogged }) => !is_unlogged && !(name in LEFT_OUT))
      .map(({ name, columns, identities }) => ({ name, columns, identities })),
    all: rows.map(({ name }) => name),
  };
}

async function readHead(client: pg.Client, migrations: string[]): Promise<StoreCopyHead> {
  const { rows } = await client.query<Omit<StoreCopyHead, "migrations" | "secretKeyCheck"> & { check: string | null }>(
    `SELECT to_char(transaction_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "takenAt",
       current_setting('server_version') AS postgres, (SELECT secret_key_check FROM installation) AS check`,
  );
  const [row] = rows;
  if (row === undefined) throw new StoreCopyError("no_schema", "The database contains no installation record.");
  return { takenAt: row.takenAt, postgres: row.postgres, migrations, secretKeyCheck: row.check };
}

// Sequences are not part of a snapshot: they may be ahead of the rows, and never behind them.
async function readSequences(client: pg.Client, { name, identities }: FoundTable): Promise<Record<string, number>> {
  const sequences: Record<string, number> = {};
  for (const column of identities) {
    const { rows } = await client.query<{ last: string | null }>(
      "SELECT pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass)::text AS last",
      [client.escapeIdentifier(name), column],
    );
    const last = rows[0]?.last ?? null;
    if (last !== null) sequences[column] = Number(last);
  }
  return sequences;
}

/** Yields the lines of a COPY, without line breaks. */
async function* readLines(rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const piece of rows) {
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      yield Buffer.concat([...begun, piece.subarray(start, end)]);
      begun = [];
      start = end + 1;
    }
    if (start < piece.length) begun.push(piece.subarray(start));
  }
}

/** NULL in the text format of COPY. */
const NULL = "\\N";

/**
 * Yields rows of files with the contents of their objects, so that a copy can be restored into PostgreSQL without an
 * object store. A file that was erased after the snapshot is copied as an expired one. COPY escapes tabs and line
 * breaks in values.
 */
async function* withContents(
  rows: AsyncIterable<Buffer>,
  columns: readonly string[],
  objects: ObjectStore | null,
): AsyncGenerator<Buffer> {
  for await (const line of readLines(rows)) {
    const values = line.toString("utf8").split("\t");
    const set = (column: string, value: string) => {
      values[columns.indexOf(column)] = value;
    };
    const objectId = values[columns.indexOf("object_id")] ?? NULL;
    if (objectId !== NULL) {
      const content = await readWhole(objects, objectId).catch((error: unknown) => {
        if (error instanceof ServiceError && error.code === "not_found") return null;
        throw error;
      });
      set("content", `\\\\x${content?.toString("hex") ?? ""}`);
      if (content === null) set("expired_at", values[columns.indexOf("created_at")] ?? NULL);
      set("object_id", NULL);
      set("object_bytes", NULL);
    }
    yield Buffer.from(`${values.join("\t")}\n`);
  }
}

/**
 * Creates a copy of a store while it is in use: one read-only snapshot (REPEATABLE READ), which blocks nothing but
 * migrations. It is streamed at the speed of `work`, without buffering. Supports the schema of this and every earlier
 * version. Contents of files in the object store are included. Throws StoreCopyError `busy`, `no_schema`,
 * `newer_database` and `wrong_key`, and unavailable if the object store is.
 */
export function takeStoreCopy<Result>(
  position: CopyDatabase & { secretKey: string; objects?: ObjectStore | null },
  work: (copy: StoreCopy) => Promise<Result>,
): Promise<Result> {
  return onCopyClient(position, "svc-backup", async (client) => {
    await lockSchema(client, "shared");
    const migrations = await readApplied(client);
    if (migrations.length === 0) throw new StoreCopyError("no_schema", "This database has no schema yet.");
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const head = await readHead(client, migrations);
    if (head.secretKeyCheck !== null && !opensSecretKeyCheck(createSealer(position.secretKey), head.secretKeyCheck)) {
      throw new StoreCopyError("wrong_key", "The secret key does not match this database.");
    }
    const { copied } = await findTables(client);

    async function* tables(): ReturnType<StoreCopy["tables"]> {
      for (const found of copied) {
        position.signal.throwIfAborted();
        const { name, columns } = found;
        const table = { name, columns, sequences: await readSequences(client, found) };
        const rows = client.query(copyTo(copyStatement(client, table, "TO STDOUT")));
        const hasObjects = columns.includes("object_id");
        yield { table, rows: hasObjects ? withContents(rows, columns, position.objects ?? null) : rows };
      }
    }
    const result = await work({ head, tables });
    await client.query("COMMIT");
    return result;
  });
}

/** Counts the rows of each of these tables; missing ones are skipped. Reads each of them completely. */
export const countStoreRows = (position: CopyDatabase, names: readonly string[]): Promise<Map<string, number>> =>
  onCopyClient(position, "svc-backup", async (client) => {
    const { all } = await findTables(client);
    const counts = new Map<string, number>();
    for (const name of names.filter((wanted) => all.includes(wanted))) {
      const { rows } = await client.query<{ count: string }>(
        `SELECT count(*) AS count FROM ${client.escapeIdentifier(name)}`,
      );
      counts.set(name, Number(rows[0]?.count ?? 0));
    }
    return counts;
  });
