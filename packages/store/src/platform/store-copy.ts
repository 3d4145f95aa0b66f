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

/** What a copy of a store says of itself. */
export interface StoreCopyHead {
  /** When its rows were so, by the clock of the database. */
  takenAt: string;
  /** Version of PostgreSQL that they were read from. */
  postgres: string;
  /** The migrations that its schema has had, in order. */
  migrations: string[];
  /** A constant that is sealed with the secret key of the installation; null where none was set yet. */
  secretKeyCheck: string | null;
}

/** A copy of a store while it is made. */
export interface StoreCopy {
  head: StoreCopyHead;
  /**
   * The tables one after the other, each with its rows in PostgreSQL's text format for COPY: a line a row, which is
   * never `\.` alone. The rows of a table must be read before the next one is asked for.
   */
  tables(): AsyncGenerator<{ table: CopiedTable; rows: AsyncIterable<Buffer> }>;
}

/** Names and columns come from the catalog. */
const quoted = (names: readonly string[], client: pg.Client) =>
  names.map((name) => client.escapeIdentifier(name)).join(", ");

/** The COPY of a table, in a direction. */
export const copyStatement = (
  client: pg.Client,
  table: { name: string; columns: readonly string[] },
  end: string,
): string => {
  const [name, columns] = [client.escapeIdentifier(table.name), quoted(table.columns, client)];
  // PostgreSQL copies rows into a partitioned table, but not out of one.
  return end.startsWith("TO") ? `COPY (SELECT ${columns} FROM ${name}) ${end}` : `COPY ${name} (${columns}) ${end}`;
};

/** Why a copy of a store cannot be made or put back. */
export type StoreCopyErrorKind =
  /** Another migration, copy or restore is at work on this database. */
  | "busy"
  /** The database has migrations that this version does not know. */
  | "newer_database"
  /** The database has no schema yet, so that there is nothing to copy. */
  | "no_schema"
  /** The copy was made by a newer version. */
  | "newer_copy"
  /** The secret key is not the one that the secrets are sealed with. */
  | "wrong_key"
  /** Processes of the product are at work on the database. */
  | "in_use"
  /** The database holds data, and nobody has said that it may be replaced. */
  | "not_empty"
  /** What is in the copy does not fit together, or not into the schema that it names. */
  | "bad_copy";

/** A copy of a store that was refused; nothing has been changed. The message says what was found. */
export class StoreCopyError extends Error {
  readonly fault: StoreCopyErrorKind;

  constructor(error: StoreCopyErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreCopyError";
    this.fault = error;
  }
}

/** Where a copy is made of, or put back to. */
export interface CopyDatabase {
  url: string;
  log: Log;
  /** Cuts the connection, so that the database undoes what was not finished. */
  signal: AbortSignal;
}

/**
 * Values as text must mean the same on whatever server they are read again. And nothing here is in a hurry: a large
 * table takes its time. What waits for a lock gives up, so that nobody waits behind it.
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
  // The process that works on it learns of a break by the next statement; without a listener it would end the process.
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
 * Takes the lock of those who change the schema, until the connection ends: alone, or together with others who only
 * read. Throws StoreCopyError `busy` when it is taken.
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

/**
 * Tables that no copy holds, and why. Besides, none holds an unlogged table: it has what is true for seconds only, and
 * what a crash of the database takes away at any time.
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
  /** In the order of their values in each row. */
  columns: string[];
  /** The last value of the sequence of each identity column that has given any out. */
  sequences: Record<string, number>;
}

interface CatalogRow {
  name: string;
  is_unlogged: boolean;
  columns: string[];
  identities: string[];
  /** The tables that its foreign keys point to. */
  parents: string[];
}

// What PostgreSQL computes by itself cannot be copied into a table.
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

/** A table as it is in a database. */
export interface FoundTable {
  name: string;
  columns: string[];
  identities: string[];
}

/** The product's own tables in a database. */
export interface FoundTables {
  /** What a copy holds; each table after those that its foreign keys point to. */
  copied: FoundTable[];
  /** All of them, also those that no copy holds. */
  all: string[];
}

/** Puts each table after its parents. Throws when they point at each other in a circle. */
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

/** Looks up the product's own tables in the catalog of a database, whatever its schema's version. */
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

// A sequence is no part of a snapshot: it may be further than the rows are, and never behind them.
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

/** The lines of a COPY, without their ends. */
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
 * Rows of files with the contents of their objects, so that a copy needs no object store: it is restored into PostgreSQL.
 * A file that was erased after the snapshot is copied as an expired one. COPY escapes tabs and ends of lines in values.
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
 * Makes a copy of a store, of one moment, while it may be worked on: a snapshot (REPEATABLE READ), read only, which
 * locks nobody out but migrations. It is read as far as `work` reads it, so that it takes no memory of its own. Works
 * on the schema of this version and of every one before. Contents of files in the object store are part of it. Throws
 * StoreCopyError `busy`, `no_schema`, `newer_database` and `wrong_key`, and unavailable while the object store is.
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

/** How many rows each of these tables of ours has; those that are not there are left out. Reads each of them whole. */
export function countStoreRows(position: CopyDatabase, names: readonly string[]): Promise<Map<string, number>> {
  return onCopyClient(position, "svc-backup", async (client) => {
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
}
