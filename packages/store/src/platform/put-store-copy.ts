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

/** Options of a restore. */
export interface PutOptions extends CopyDatabase {
  /** Secret key of the copy's installation. */
  secretKey: string;
  head: Pick<StoreCopyHead, "migrations" | "secretKeyCheck">;
  /** Whether existing data in the database may be replaced. */
  mayReplace: boolean;
  /** Whether to proceed although processes of the product seem to use the database. */
  mayInterrupt: boolean;
  /** Called after each restored table. */
  onTable: (name: string, rowCount: number) => void;
}

/** Result of a restore. */
export interface PutResult {
  tables: number;
  rows: number;
  /** Migrations that were applied after the rows were restored, since the copy had an older version. */
  migrated: string[];
}

/** Tables that migrations fill: a database with rows only in these counts as empty. */
const FILLED_BY_MIGRATIONS = new Set(["installation", "channels_config", "audit_head", "ticket_index"]);

// By application names of connections, and by the processes' own records, since a proxy may hide the names. There is no
// grace period: a killed process counts for a few more seconds.
const FIND_PROCESSES = {
  connections: `SELECT DISTINCT application_name AS name FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'svc-%'`,
  instances: "SELECT DISTINCT 'svc-' || app AS name FROM instances WHERE alive_until > now()",
  channel_states: `SELECT DISTINCT 'channel ' || channel_id AS name FROM channel_states
    WHERE reported_at > now() - interval '5 seconds'`,
} as const;

/** Returns the processes of the product that use the database. */
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

/** Rejects copies that cannot be restored here. Nothing is changed yet. */
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

/** Drops the product's own objects, and nothing else. */
async function dropOwn(client: pg.Client): Promise<void> {
  const own = await findOwnObjects();
  const list = (names: Set<string>) => [...names].map((name) => client.escapeIdentifier(name)).join(", ");
  await client.query(`DROP TABLE IF EXISTS ${list(own.tables)}`);
  await client.query(`DROP FUNCTION IF EXISTS ${list(own.functions)}`);
}

/** Applies migrations within the transaction, and records them as node-pg-migrate does. */
async function migrate(client: pg.Client, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await client.query(await readMigration(name));
    await client.query(`INSERT INTO ${MIGRATIONS_TABLE} (name, run_on) VALUES ($1, now())`, [name]);
  }
}

/** Creates an empty schema of the copy's version. */
async function makeSchema(client: pg.Client, migrations: readonly string[]): Promise<FoundTables> {
  // Objects that prevent dropping a table, such as another user's view on it, are reported as PostgreSQL's error.
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
 * Enables or disables our triggers, which guard rows during normal operation. Foreign keys are not affected and always
 * hold.
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

/** Copies the rows of a table into the database. */
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
    // PostgreSQL's message may quote a row, which must not appear in an error.
    // Data exceptions and violated constraints; a full disk or a shutdown says nothing about the backup.
    const damage = /^2[23]/.test(error.code ?? "") ? "The backup is damaged: " : "";
    throw new StoreCopyError(
      "bad_copy",
      `${damage}PostgreSQL rejected the rows of the table ${table.name} (SQLSTATE ${error.code ?? "unknown"}).`,
      { cause: error },
    );
  }
  return copy.rowCount;
}

async function setSequences(client: pg.Client, found: FoundTable, { sequences }: CopiedTable): Promise<void> {
  const table = client.escapeIdentifier(found.name);
  for (const column of found.identities) {
    // Never behind an existing row, whatever the copy contains; unchanged if there is no value.
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, $2)::regclass, v.last) FROM (
         SELECT greatest($3::bigint, max(${client.escapeIdentifier(column)})) AS last FROM ${table}) v
       WHERE v.last IS NOT NULL`,
      [table, column, sequences[column] ?? null],
    );
  }
}

/** Adjusts rows that are only valid at the time and place of the copy. */
async function adjustRows(client: pg.Client, tables: FoundTables): Promise<void> {
  // The holders of leases do not exist here. The leases end now, as after a crash, and the next process claims the
  // work.
  for (const { name } of tables.copied.filter(({ columns }) => columns.includes("lease_until"))) {
    await client.query(`UPDATE ${client.escapeIdentifier(name)} SET lease_until = now() WHERE lease_until > now()`);
  }
  // Transaction ids are meaningless on another server. All events up to the newest one exist.
  if (tables.all.includes("ticket_index")) {
    await client.query(
      `UPDATE ticket_index SET reached_id = greatest(settled_id, (SELECT coalesce(max(id), 0) FROM ticket_events)),
         reached_xmax = pg_snapshot_xmax(pg_current_snapshot())`,
    );
  }
}

/** Returns true if the secret key is the one that sealed the check value in the database, or if that has none. */
async function fitsKey(client: pg.Client, secretKey: string): Promise<boolean> {
  const { rows } = await client.query<{ check: string | null }>("SELECT secret_key_check AS check FROM installation");
  const sealed = rows.length === 1 ? rows[0]?.check : undefined;
  return sealed === null || (sealed !== undefined && opensSecretKeyCheck(createSealer(secretKey), sealed));
}

/**
 * Returns the objects of the replaced database. The copy contains the contents of files, so nothing refers to them any
 * more.
 */
async function findObjects(client: pg.Client): Promise<string[]> {
  const { all } = await findTables(client);
  if (!all.includes("object_deletions")) return [];
  const { rows } = await client.query<{ id: string }>(
    "SELECT object_id AS id FROM widget_files WHERE object_id IS NOT NULL UNION SELECT object_id FROM object_deletions",
  );
  return rows.map(({ id }) => id);
}

/** Runs all steps in the transaction. */
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
  await adjustRows(client, schema);
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
 * Restores a copy of a store into a database, in one transaction: either completely, or nothing changes. Creates the
 * schema of the copy's version, streams the rows into it, and then applies newer migrations. `tables` throws if it is
 * incomplete; it is read to its end before the commit. Throws StoreCopyError with any kind but `no_schema`. The queues'
 * schema is not changed: due work is found in these tables.
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
      // The next process must find the lock free. A dropped connection needs no rollback.
      await client.query("ROLLBACK").catch((problem: unknown) => log.debug({ error: problem }, "restore interrupted"));
      throw error;
    }
    await client.query("COMMIT");
    // Plans for empty tables would be bad until autovacuum analyzes them.
    const { all } = await findTables(client);
    await client.query(`ANALYZE ${all.map((name) => client.escapeIdentifier(name)).join(", ")}`);
    return result;
  });
}
