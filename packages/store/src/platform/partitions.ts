import pg from "pg";
import type { Log } from "@svc/log";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";
import { MIGRATION_LOCK } from "./installation.ts";

/** Months since January 1970, in UTC. */
type Month = number;

/** How a table is partitioned (ADR 0048). */
interface PartitionedTable {
  table: string;
  /** The partition key column; its values sort by time. */
  key: string;
  /** The first value of a month. */
  firstOf: (month: Month) => string;
  /** The month of a value. */
  monthOf: (value: string) => Month;
  /**
   * False if past months must remain: their rows are never erased, and no other partition accepts late rows. Ticket
   * events are never late, and an attempt of an old delivery goes to the default partition.
   */
  canDrop: boolean;
  /** SQL for additional objects of a partition, besides the definition of its table. */
  extras: (partition: string) => string[];
}

/**
 * Number of ticket event ids per month. Those of all months until the year 2652 are exact in a number of JavaScript.
 */
const EVENT_IDS_OF_MONTH = 2 ** 40;

/** Number of months after the current one for which partitions are created. */
const MONTHS_AHEAD = 2;

/** Maximum wait for an exclusive lock, in milliseconds. Statements on the table queue behind a waiting lock. */
const LOCK_WAIT_MS = 300;

/** Prefix of the name of a constraint that sets the end of a partition. */
const CLOSING = "closing_";

const startOf = (month: Month) => new Date(Date.UTC(1970, month));
const monthAt = (time: Date): Month => (time.getUTCFullYear() - 1970) * 12 + time.getUTCMonth();
const labelOf = (month: Month) => startOf(month).toISOString().slice(0, 7).replace("-", "_");

/** UUIDs begin with their time in milliseconds (RFC 9562). */
const byUuid = {
  firstOf: (month: Month) => {
    const hex = startOf(month).getTime().toString(16).padStart(12, "0");
    return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
  },
  monthOf: (value: string) => monthAt(new Date(Number.parseInt(value.replace("-", "").slice(0, 12), 16))),
};

const firstEventIdOf = (month: Month) => month * EVENT_IDS_OF_MONTH;

const TABLES: readonly PartitionedTable[] = [
  { table: "delivery_attempts", key: "delivery_id", ...byUuid, canDrop: true, extras: () => [] },
  {
    table: "ticket_events",
    key: "id",
    firstOf: (month) => `${firstEventIdOf(month)}`,
    monthOf: (value) => Math.floor(Number(value) / EVENT_IDS_OF_MONTH),
    canDrop: true,
    extras: () => [],
  },
  {
    table: "audit_events",
    key: "id",
    ...byUuid,
    canDrop: false,
    extras: (partition) => [
      `ALTER TABLE ${partition} ADD UNIQUE (day, number)`,
      `CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${partition}
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
    ],
  },
];

/** Names of the tables with a partition for each month. */
export const PARTITIONED_TABLES: readonly string[] = TABLES.map(({ table }) => table);

const sql = statements("platform/partitions");

/** A partition with its bounds in SQL; null for the default partition. */
interface Partition {
  name: string;
  range: { from: string; to: string } | null;
}

/** Changes of one run of `maintainPartitions`. */
export interface PartitionChanges {
  /** Created partitions. */
  made: string[];
  /** Partitions that were dropped because all of their rows had been erased. */
  dropped: string[];
}

const RANGE = /^FOR VALUES FROM \((.+)\) TO \((.+)\)$/;
const OPEN_END = "MAXVALUE";

async function listPartitions(db: Db): Promise<Map<string, Partition[]>> {
  const rows = await sql.list.all(db, {
    tables: PARTITIONED_TABLES,
  });
  const partitions = new Map<string, Partition[]>();
  for (const { tableName, name, bounds } of rows) {
    const [, from, to] = RANGE.exec(bounds) ?? [];
    const range = from === undefined || to === undefined ? null : { from, to };
    partitions.set(tableName, [...(partitions.get(tableName) ?? []), { name, range }]);
  }
  return partitions;
}

const unquoted = (bound: string) => bound.replaceAll("'", "");

/** Returns the partition without an end, if it starts so early that no later one exists for new months. */
function openPartition({ monthOf }: PartitionedTable, partitions: readonly Partition[], target: Month) {
  const open = partitions.find(({ range }) => range?.to === OPEN_END);
  if (open?.range == null) return null;
  const { from } = open.range;
  if (from !== "MINVALUE" && monthOf(unquoted(from)) >= target) return null;
  return { name: open.name, from };
}

/** Partitions of past months. */
const pastPartitions = ({ monthOf }: PartitionedTable, partitions: readonly Partition[], now: Month) =>
  partitions.filter(({ range }) => range !== null && range.to !== OPEN_END && monthOf(unquoted(range.to)) <= now);

const hasRows = async (client: pg.Client, table: string): Promise<boolean> =>
  (await client.query<{ has: boolean }>(`SELECT EXISTS (SELECT FROM ${table}) AS has`)).rows[0]?.has === true;

/** Returns the bounds of a partition; null if another process has dropped it. */
async function boundsOf(client: pg.Client, partition: string): Promise<string | null> {
  const { rows } = await client.query<{ bounds: string }>(
    "SELECT pg_get_expr(relpartbound, oid) AS bounds FROM pg_class WHERE oid = to_regclass($1)",
    [partition],
  );
  return rows[0]?.bounds ?? null;
}

/** Returns the constraints that set the end of a partition. */
async function closingOf(client: pg.Client, partition: string): Promise<{ name: string; isValid: boolean }[]> {
  const { rows } = await client.query<{ name: string; isValid: boolean }>(
    `SELECT conname::text AS name, convalidated AS "isValid" FROM pg_constraint
     WHERE conrelid = to_regclass($1) AND contype = 'c' AND starts_with(conname, '${CLOSING}')`,
    [partition],
  );
  return rows;
}

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Runs `work` in a transaction under the lock for schema changes. Resolves with null if that lock, or the lock on a
 * table, is not available in time. No setting or lock outlives the transaction, since a pooler may share the
 * connection.
 */
async function changeSchema<Result>(client: pg.Client, work: () => Promise<Result>): Promise<Result | null> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_WAIT_MS}; SET LOCAL statement_timeout = 0`);
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS taken`,
    );
    const result = rows[0]?.taken === true ? await work() : null;
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK");
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return null;
    throw error;
  }
}

/**
 * Sets the end of the open partition to the start of `target` and adds the next one. First checks that no row is beyond
 * the end while the table remains in use: a constraint is added as NOT VALID, and validated under a lock that only
 * blocks other schema changes. So the exclusive lock on the table is held very briefly. Returns the name of the new
 * partition; null if it was not added, because another process changes the schema, or while a row is beyond the end,
 * for example after the clock was wrong: the open partition accepts all rows.
 */
async function closePartition(
  client: pg.Client,
  { table, key, firstOf, extras }: PartitionedTable,
  open: { name: string; from: string },
  target: Month,
): Promise<string | null> {
  const end = `'${firstOf(target)}'`;
  const next = `${table}_${labelOf(target)}`;
  const closing = `${CLOSING}${labelOf(target)}`;
  const begins = open.from === "MINVALUE" ? "" : ` AND ${key} >= ${open.from}`;
  const isAdded = await changeSchema(client, async () => {
    // Another process may have been faster.
    if ((await boundsOf(client, open.name))?.endsWith(`(${OPEN_END})`) !== true) return false;
    // An end from an interrupted run would reject rows once it is in the past.
    const ends = await closingOf(client, open.name);
    for (const { name } of ends.filter((end) => end.name !== closing)) {
      await client.query(`ALTER TABLE ${open.name} DROP CONSTRAINT ${name}`);
    }
    if (ends.some(({ name }) => name === closing)) return true;
    const { rows } = await client.query(`SELECT FROM ${open.name} WHERE ${key} >= ${end} LIMIT 1`);
    if (rows.length > 0) return false;
    await client.query(`ALTER TABLE ${open.name} ADD CONSTRAINT ${closing} CHECK (${key} < ${end}${begins}) NOT VALID`);
    return true;
  });
  if (isAdded !== true) return null;
  await changeSchema(client, async () => {
    const [last] = await closingOf(client, open.name);
    if (last?.isValid === false) await client.query(`ALTER TABLE ${open.name} VALIDATE CONSTRAINT ${last.name}`);
  });
  return changeSchema(client, async () => {
    // Without the valid constraint, every row would be read under the exclusive lock.
    const ends = await closingOf(client, open.name);
    if (!ends.some(({ name, isValid }) => name === closing && isValid)) return null;
    const statements = [
      `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`,
      `ALTER TABLE ${table} DETACH PARTITION ${open.name}`,
      `ALTER TABLE ${table} ATTACH PARTITION ${open.name} FOR VALUES FROM (${open.from}) TO (${end})`,
      `CREATE TABLE ${next} PARTITION OF ${table} FOR VALUES FROM (${end}) TO (${OPEN_END})`,
      ...extras(next),
      `ALTER TABLE ${open.name} DROP CONSTRAINT ${closing}`,
    ];
    for (const text of statements) await client.query(text);
    return next;
  });
}

/** Drops a partition if it has no rows, which is checked again under the lock. Returns true if it was dropped. */
async function dropIfEmpty(client: pg.Client, table: string, partition: string): Promise<boolean> {
  const isDropped = await changeSchema(client, async () => {
    if ((await boundsOf(client, partition)) === null || (await hasRows(client, partition))) return false;
    await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    if (await hasRows(client, partition)) return false;
    await client.query(`DROP TABLE ${partition}`);
    return true;
  });
  return isDropped === true;
}

/** Pending changes: open partitions that need an end, and past partitions to drop if they are empty. */
interface Due {
  close: { of: PartitionedTable; open: NonNullable<ReturnType<typeof openPartition>> }[];
  past: { of: PartitionedTable; name: string }[];
}

async function findDue(db: Db, now: Month): Promise<Due> {
  const partitions = await listPartitions(db);
  const due: Due = { close: [], past: [] };
  for (const of of TABLES) {
    const own = partitions.get(of.table) ?? [];
    const open = openPartition(of, own, now + MONTHS_AHEAD);
    if (open !== null) due.close.push({ of, open });
    if (of.canDrop) due.past.push(...pastPartitions(of, own, now).map(({ name }) => ({ of, name })));
  }
  return due;
}

/** Resources of `maintainPartitions`. */
export interface PartitionResources {
  db: Db;
  url: string;
  log: Log;
}

/**
 * Creates the partitions of coming months, drops those of past months whose rows were all erased, and advances the ids
 * of ticket events to the first one of this month. Uses short locks only, and leaves the rest to the next run; does
 * nothing during a migration, backup or restore. Safe to repeat and to interrupt. Uses its own connection, since the
 * first run reads whole tables that an earlier version has filled.
 */
export async function maintainPartitions({ db, url, log }: PartitionResources, at?: Date): Promise<PartitionChanges> {
  const changes: PartitionChanges = { made: [], dropped: [] };
  const known = await sql.readState.one<{ now: Date; lastEventId: number | null }>(db);
  const now = monthAt(at ?? known?.now ?? new Date());
  const due = await findDue(db, now);
  const isNewMonth = (known?.lastEventId ?? 0) < firstEventIdOf(now);
  if (due.close.length === 0 && due.past.length === 0 && !isNewMonth) return changes;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: "svc-partitions",
  });
  client.on("error", (error) => log.debug({ error }, "the connection for partitions was lost"));
  await client.connect();
  try {
    for (const { of, open } of due.close) {
      const made = await closePartition(client, of, open, now + MONTHS_AHEAD);
      if (made !== null) changes.made.push(made);
    }
    const skip = () => sql.skipEventIds.run(db, { id: firstEventIdOf(now) });
    // There is no partition for the next event.
    if (isNewMonth && (await changeSchema(client, skip)) === null) return changes;
    for (const { of, name } of due.past) {
      if (await dropIfEmpty(client, of.table, name)) changes.dropped.push(name);
    }
    return changes;
  } finally {
    await client.end();
  }
}
