import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { findTables, lockSchema, onCopyClient, readApplied, StoreCopyError, copyStatement } from "./store-copy.ts";
import type { CopiedTable, FoundTable, FoundTables, CopyDatabase, StoreCopyHead } from "./store-copy.ts";
import {
  opensSecretKeyCheck,
  createSealer,
  MIGRATIONS_TABLE,
  bundledMigrations,
  findOwnObjects,
  readMigration,
} from "./installation.ts";

/** How a copy is put back. */
export interface PutOptions extends CopyDatabase {
  /** The one that the copy's installation was set up with. */
  secretKey: string;
  head: Pick<StoreCopyHead, "migrations" | "secretKeyCheck">;
  /** Whether what the database holds may be removed for it. */
  mayReplace: boolean;
  /** Whether it is done although processes of the product seem to be at work on the database. */
  mayInterrupt: boolean;
  /** Called when a table has been read in. */
  onTable: (name: string, rowCount: number) => void;
}

/** What was put back. */
export interface PutResult {
  tables: number;
  rows: number;
  /** The migrations that were made after the rows had been read in, as the copy was of an older version. */
  migrated: string[];
}

/** Tables that the migrations fill by themselves: a database with rows in these alone is empty. */
const FILLED_BY_MIGRATIONS = new Set(["installation", "channels_config", "audit_head", "ticket_index"]);

// Connections by their names, and what processes say of themselves, since a proxy may hide the names. Nobody is waited
// for: a killed process counts for some seconds more.
const FIND_PROCESSES = {
  connections: `SELECT DISTINCT application_name AS name FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'svc-%'`,
  instances: "SELECT DISTINCT 'svc-' || app AS name FROM instances WHERE alive_until > now()",
  channel_states: `SELECT DISTINCT 'channel ' || channel_id AS name FROM channel_states
    WHERE reported_at > now() - interval '5 seconds'`,
} as const;

/** Which processes of the product are at work on the database. */
async function findProcesses(client: pg.Client, { all }: FoundTables): Promise<string[]> {
  const names: string[] = [];
  for (const [source, statement] of Object.entries(FIND_PROCESSES)) {
    if (source !== "connections" && !all.includes(source)) continue;
    const { rows } = await client.query<{ name: string }>(statement);
    names.push(...rows.map(({ name }) => name));
  }
  return [...new Set(names)].sort();
}

async function findFilled(client: pg.Client, { copied }: FoundTables): Promise<string[]> {
  const filled: string[] = [];
  for (const { name } of copied) {
    if (FILLED_BY_MIGRATIONS.has(name)) continue;
    const { rows } = await client.query<{ has: boolean }>(
      `SELECT EXISTS (SELECT FROM ${client.escapeIdentifier(name)}) AS has`,
    );
    if (rows[0]?.has === true) filled.push(name);
  }
  return filled;
}

/** Refuses what cannot be put back here. Nothing is changed yet. */
async function check(client: pg.Client, options: PutOptions): Promise<void> {
  const { head, secretKey, mayReplace, mayInterrupt } = options;
  const bundled = await bundledMigrations();
  if (head.migrations.length === 0 || head.migrations.some((name, index) => name !== bundled[index])) {
    const isNewer = head.migrations.some((name) => !bundled.includes(name));
    throw isNewer
      ? new StoreCopyError("newer_copy", "The backup was made by a newer version of the product.")
      : new StoreCopyError("bad_copy", "The migrations in the backup are not in sequence.");
  }
  if (head.secretKeyCheck !== null && !opensSecretKeyCheck(createSealer(secretKey), head.secretKeyCheck)) {
    throw new StoreCopyError("wrong_key", "The secret key does not match this backup.");
  }
  await readApplied(client);
  const tables = await findTables(client);
  const processes = mayInterrupt ? [] : await findProcesses(client, tables);
  if (processes.length > 0) {
    throw new StoreCopyError("in_use", `The service is using this database: ${processes.join(", ")}.`);
  }
  const filled = mayReplace ? [] : await findFilled(client, tables);
  if (filled.length > 0) {
    const some =
      filled.length > 5 ? `${filled.slice(0, 5).join(", ")} and ${filled.length - 5} more` : filled.join(", ");
    throw new StoreCopyError("not_empty", `This database already contains data: ${some}.`);
  }
}

/** Removes what the product has made, and nothing else. */
async function dropOwn(client: pg.Client): Promise<void> {
  const own = await findOwnObjects();
  const list = (names: Set<string>) => [...names].map((name) => client.escapeIdentifier(name)).join(", ");
  await client.query(`DROP TABLE IF EXISTS ${list(own.tables)}`);
  await client.query(`DROP FUNCTION IF EXISTS ${list(own.functions)}`);
}

/** Makes migrations within the transaction, and notes them as node-pg-migrate does. */
async function migrate(client: pg.Client, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await client.query(await readMigration(name));
    await client.query(`INSERT INTO ${MIGRATIONS_TABLE} (name, run_on) VALUES ($1, now())`, [name]);
  }
}

/** An empty schema of the version that the copy was made of. */
async function makeSchema(client: pg.Client, migrations: readonly string[]): Promise<FoundTables> {
  // What keeps a table of ours from being removed, such as somebody else's view on it, is reported as it is.
  await dropOwn(client);
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
       id SERIAL PRIMARY KEY, name varchar(255) NOT NULL, run_on timestamp NOT NULL)`,
  );
  await client.query(`DELETE FROM ${MIGRATIONS_TABLE}`);
  await migrate(client, migrations);
  const tables = await findTables(client);
  for (const name of tables.all) await setTriggers(client, name, "DISABLE");
  await client.query(`TRUNCATE ${tables.all.map((name) => client.escapeIdentifier(name)).join(", ")}`);
  return tables;
}

/**
 * Our triggers guard rows against those who work with them. Foreign keys are no such triggers, and hold all the time.
 */
async function setTriggers(client: pg.Client, name: string, to: "ENABLE" | "DISABLE"): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    "SELECT $1::regclass::text AS table UNION SELECT relid::text FROM pg_partition_tree($1::regclass)",
    [client.escapeIdentifier(name)],
  );
  for (const { table } of rows) await client.query(`ALTER TABLE ${table} ${to} TRIGGER USER`);
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && new Set([...one, ...other]).size === one.length;
}

/** Reads the rows of a table in. */
async function copyIn(
  client: pg.Client,
  table: CopiedTable,
  rows: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<number> {
  const copy = client.query(copyFrom(copyStatement(client, table, "FROM STDIN")));
  try {
    await pipeline(Readable.from(rows, { objectMode: false }), copy, { signal });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    // What PostgreSQL says may quote a row, which belongs into no message.
    throw new StoreCopyError(
      "bad_copy",
      `The backup is damaged: PostgreSQL rejected the rows of the table ${table.name} ` +
        `(SQLSTATE ${error.code ?? "unknown"}).`,
      { cause: error },
    );
  }
  return copy.rowCount;
}

async function setSequences(client: pg.Client, found: FoundTable, { sequences }: CopiedTable): Promise<void> {
  const table = client.escapeIdentifier(found.name);
  for (const column of found.identities) {
    // Never behind a row that is there, whatever the copy says; untouched where neither has a value.
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, $2)::regclass, v.last) FROM (
         SELECT greatest($3::bigint, max(${client.escapeIdentifier(column)})) AS last FROM ${table}) v
       WHERE v.last IS NOT NULL`,
      [table, column, sequences[column] ?? null],
    );
  }
}

/** Makes rows true here that were true only where and when they were copied. */
async function settle(client: pg.Client, tables: FoundTables): Promise<void> {
  // The holder of a lease is not there. It ends now, as if its process had died: the next one takes the work over.
  for (const { name } of tables.copied.filter(({ columns }) => columns.includes("lease_until"))) {
    await client.query(`UPDATE ${client.escapeIdentifier(name)} SET lease_until = now() WHERE lease_until > now()`);
  }
  // Numbers of transactions mean nothing on another server. All events that there will ever be before the newest one
  // are there.
  if (tables.all.includes("ticket_index")) {
    await client.query(
      `UPDATE ticket_index SET reached_id = greatest(settled_id, (SELECT coalesce(max(id), 0) FROM ticket_events)),
         reached_xmax = pg_snapshot_xmax(pg_current_snapshot())`,
    );
  }
}

/** The check of the installation's key, as it is in the database now. */
async function fitsKey(client: pg.Client, secretKey: string): Promise<boolean> {
  const { rows } = await client.query<{ check: string | null }>("SELECT secret_key_check AS check FROM installation");
  const sealed = rows.length === 1 ? rows[0]?.check : undefined;
  return sealed === null || (sealed !== undefined && opensSecretKeyCheck(createSealer(secretKey), sealed));
}

/** Objects of the database that is replaced. The copy has its contents of files, so nothing needs them any more. */
async function findObjects(client: pg.Client): Promise<string[]> {
  const { all } = await findTables(client);
  if (!all.includes("object_deletions")) return [];
  const { rows } = await client.query<{ id: string }>(
    "SELECT object_id AS id FROM widget_files WHERE object_id IS NOT NULL UNION SELECT object_id FROM object_deletions",
  );
  return rows.map(({ id }) => id);
}

/** Everything that happens in the transaction. */
async function replaceAll(
  client: pg.Client,
  { head, signal, onTable, secretKey }: PutOptions,
  tables: AsyncIterable<{ table: CopiedTable; rows: AsyncIterable<Buffer> }>,
): Promise<PutResult> {
  const released = await findObjects(client);
  const schema = await makeSchema(client, head.migrations);
  const waiting = new Map(schema.copied.map((found) => [found.name, found]));
  const result: PutResult = { tables: 0, rows: 0, migrated: [] };
  for await (const { table, rows } of tables) {
    const found = waiting.get(table.name);
    if (found === undefined || !sameNames(found.columns, table.columns)) {
      throw new StoreCopyError("bad_copy", "A table of the backup does not match the schema version of the backup.");
    }
    waiting.delete(table.name);
    const rowCount = await copyIn(client, table, rows, signal);
    await setSequences(client, found, table);
    result.tables += 1;
    result.rows += rowCount;
    onTable(table.name, rowCount);
  }
  if (waiting.size > 0) {
    throw new StoreCopyError("bad_copy", `Tables are missing from the backup: ${[...waiting.keys()].join(", ")}.`);
  }
  await settle(client, schema);
  for (const name of schema.all) await setTriggers(client, name, "ENABLE");
  if (!(await fitsKey(client, secretKey))) {
    throw new StoreCopyError(
      "wrong_key",
      "The installation in the backup has a different secret key from the one in the header.",
    );
  }
  result.migrated = (await bundledMigrations()).slice(head.migrations.length);
  await migrate(client, result.migrated);
  await client.query("INSERT INTO object_deletions (object_id) SELECT unnest($1::uuid[])", [released]);
  return result;
}

/**
 * Puts a copy of a store into a database, in one transaction: it is all there at the end, or nothing has been changed.
 * The schema of the copy's version is made, the rows are read in as they come (memory is not taken for them), and then
 * what newer migrations there are. `tables` throws when it does not end as it should; it is read to its end before
 * anything counts. Throws StoreCopyError with every error but `no_schema`. The queues' schema is not touched: what is
 * due is found in these tables.
 */
export function putStoreCopy(
  options: PutOptions,
  tables: AsyncIterable<{ table: CopiedTable; rows: AsyncIterable<Buffer> }>,
): Promise<PutResult> {
  const { log } = options;
  return onCopyClient(options, "svc-restore", async (client) => {
    await lockSchema(client, "alone");
    await check(client, options);
    await client.query("BEGIN");
    let result: PutResult;
    try {
      result = await replaceAll(client, options, tables);
    } catch (error) {
      // The next process must not find the lock still taken. A connection that was cut says nothing any more.
      await client.query("ROLLBACK").catch((problem: unknown) => log.debug({ error: problem }, "restore interrupted"));
      throw error;
    }
    await client.query("COMMIT");
    // Plans that were made for empty tables would be bad ones until PostgreSQL looks by itself.
    const { all } = await findTables(client);
    await client.query(`ANALYZE ${all.map((name) => client.escapeIdentifier(name)).join(", ")}`);
    return result;
  });
}
