import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { ServiceError } from "@svc/contracts";
import { errorCode, toError } from "@svc/primitives";
import type { Log } from "@svc/log";
import { IDLE_MS, createConnectionSettings } from "./platform/connection-settings.ts";
import type { ConnectionSettings, Purpose } from "./platform/connection-settings.ts";
import type { DiskWatch, ConnectionWatchdog } from "./platform/server-checks.ts";

const TRIES = 4;
const DEADLOCK = "40P01";

const RETRY_MS = 500;

/** SQL with its values; a named statement is planned once per connection. */
export interface Query {
  name?: string;
  text: string;
  values: unknown[];
}

/** Runs SQL with parameters. Columns get camelCase names; every connection error becomes `unavailable` or `busy`. */
export interface Db {
  /** Returns its rows, and the number of rows that it wrote or returned. */
  run(query: Query): Promise<{ rows: Record<string, unknown>[]; count: number }>;
  /** Returns the rows of SQL that is composed for one call, such as a list with filters. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Runs `work` in one transaction, rolled back when it throws. `work` must not make network calls. */
  transaction<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>;
}

/** A database with the pool behind it. */
export interface PooledDb extends Db {
  close(): Promise<void>;
}

const CONNECTION_ERRORS = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "53300", // too_many_connections
  "53100", // disk_full
  "58030", // io_error
  "25P03", // idle_in_transaction_session_timeout
  "57P05", // idle_session_timeout
  "25006", // read_only_sql_transaction: connected to a standby during a failover
]);
const CONNECTION_MESSAGES =
  /Connection terminated|Query read timeout|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/;

/** Message of pg-pool when a caller has waited too long for a connection, for any reason. */
const POOL_TIMEOUT = /timeout exceeded when trying to connect/;

/** All connections of a pool were in use until the caller's timeout: the server itself is reachable. */
class PoolBusyError extends Error {}

/**
 * Returns true if a call failed only because this process used all its connections. The call may be repeated like after
 * any other unavailability, but this is not an outage: nothing was lost.
 */
export function isBusy(error: unknown): boolean {
  return error instanceof PoolBusyError || (error instanceof Error && isBusy(error.cause));
}

/** Returns true if the store is busy, unreachable or read-only at present, so that the same call may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === "unavailable" || error.code === "busy";
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  if (code !== undefined && (CONNECTION_ERRORS.has(code) || code.startsWith("08"))) return true;
  return error instanceof PoolBusyError || POOL_TIMEOUT.test(error.message) || CONNECTION_MESSAGES.test(error.message);
}

/** SQLSTATE of a database error, or undefined. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = errorCode(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Returns true if a row was not written because another one has the same unique values. */
export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === "23505";

/** Page of a list, newest first: rows created before the row with the ID `before`, and with the text `q`. */
export interface PageQuery {
  limit: number;
  before?: string | undefined;
  q?: string | undefined;
}

/** A row by its ID, and the versions that a change expects; any version by default. */
export interface VersionedId {
  id: string;
  versions?: readonly number[] | null | undefined;
}

/** Result of an update of a row that has a version and a unique name. */
export type UpdateResult = "changed" | "stale" | "taken";

/**
 * Runs an update of a row with a version and a unique name: "stale" if no row has the expected version, "taken" if
 * another one has the name.
 */
export async function updateVersioned(update: () => Promise<number>): Promise<UpdateResult> {
  try {
    return (await update()) === 0 ? "stale" : "changed";
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return "taken";
  }
}

function asServiceError(error: unknown): unknown {
  if (error instanceof ServiceError || !isUnavailable(error)) return error;
  const headers = { "Retry-After": "2" };
  return isBusy(error)
    ? new ServiceError("busy", "All database connections are in use. Retry.", { headers, cause: error })
    : new ServiceError("unavailable", "The database is unreachable. Retry.", { headers, cause: error });
}

/** int8 as a number: our counters and sequences stay far below 2^53. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

/** Converts a snake_case name of SQL to camelCase. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Cache of column names in camelCase; there are some hundred of them. */
const camelNames = new Map<string, string>();

function camelNameOf(column: string): string {
  const known = camelNames.get(column);
  if (known !== undefined) return known;
  const name = camelCase(column);
  camelNames.set(column, name);
  return name;
}

/** Converts rows to records: the only place where columns become properties. */
function toRecords(fields: readonly pg.FieldDef[], rows: readonly unknown[][]): Record<string, unknown>[] {
  const names = fields.map(({ name }) => camelNameOf(name));
  return rows.map((values) => {
    const record: Record<string, unknown> = {};
    names.forEach((name, index) => {
      record[name] = values[index];
    });
    return record;
  });
}

type Queryable = Pick<pg.ClientBase, "query">;

/** Notifies the watchdog when a connection is in use. */
interface Around {
  begin(): void;
  end(): void;
}

/** For statements on a pool, whose connections notify the watchdog themselves. */
const UNWATCHED: Around = { begin: () => undefined, end: () => undefined };

/** Shared by the statements on a pool and in its transactions. */
interface PoolContext {
  readonly pool: pg.Pool;
  readonly settings: ConnectionSettings;
  /** Returns the error that a caller gets. */
  readonly reportError: (error: unknown) => unknown;
}

/**
 * True if statements may have names. A pooler gives each transaction another server process, on which the name is
 * unknown or belongs to a statement of another client.
 */
async function mayPrepare({ pool, settings }: PoolContext): Promise<boolean> {
  if (settings.isPooled() === undefined) (await pool.connect()).release();
  return settings.isPooled() === false;
}

function dbOn(
  queryable: Queryable,
  transaction: Db["transaction"],
  context: PoolContext,
  around: Around = UNWATCHED,
): Db {
  const run: Db["run"] = async ({ name, ...query }) => {
    around.begin();
    try {
      const named = name !== undefined && (await mayPrepare(context)) ? { ...query, name } : query;
      const { fields, rows, rowCount } = await queryable.query<unknown[]>({ ...named, rowMode: "array" });
      return { rows: toRecords(fields, rows), count: rowCount ?? 0 };
    } catch (error) {
      throw context.reportError(error);
    } finally {
      around.end();
    }
  };
  return {
    run,
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await run({ text, values })).rows as Row[],
    transaction,
  };
}

/** Time that a close waits for running statements. */
const CLOSE_DEADLINE_MS = 1_000;

/** Begins a transaction; with the settings of the pool, this is several statements in one message. */
async function begin(client: pg.PoolClient, { settings, reportError }: PoolContext, around: Around): Promise<void> {
  around.begin();
  try {
    await client.query(settings.begin());
  } catch (error) {
    throw reportError(error);
  } finally {
    around.end();
  }
}

/** Returns the function that runs transactions on connections of a pool. */
function transactionOn(context: PoolContext, watch: ConnectionWatchdog): Db["transaction"] {
  return async (work) => {
    let client: pg.PoolClient;
    try {
      client = await context.pool.connect();
    } catch (error) {
      throw context.reportError(error);
    }
    // A transaction may be idle between its statements.
    watch.end(client);
    const around = { begin: () => watch.begin(client), end: () => watch.end(client) };
    let broken: Error | undefined;
    const recordDrop = (error: Error) => {
      broken = error;
    };
    client.on("error", recordDrop);
    const nested: Db["transaction"] = (inner) => inner(tx);
    const tx: Db = dbOn(client, nested, context, around);
    try {
      await begin(client, context, around);
      const result = await work(tx);
      await tx.query("COMMIT");
      return result;
    } catch (error) {
      await tx.query("ROLLBACK").catch((rollbackError: unknown) => {
        broken = toError(rollbackError);
      });
      throw error;
    } finally {
      client.off("error", recordDrop);
      client.release(broken);
    }
  };
}

/** Registers the connections of a pool with the watchdog. Returns the established ones. */
function trackConnections(pool: pg.Pool, watch: ConnectionWatchdog, log: Log): Set<pg.PoolClient> {
  const connected = new Set<pg.PoolClient>();
  pool.on("connect", (client) => {
    connected.add(client);
    watch.add(client);
    // Without a listener, a connection that drops while it is in use would crash the process. Its user gets an error
    // from the next statement.
    client.on("error", (error) => log.debug({ error }, "database connection failed"));
  });
  pool.on("remove", (client) => {
    connected.delete(client);
    watch.remove(client);
  });
  pool.on("acquire", (client) => watch.begin(client));
  pool.on("release", (error: unknown, client) => watch.end(client, error));
  return connected;
}

/**
 * Opens a pool. It connects on first use, reconnects after a loss, and times out after 5 s while connecting and after
 * 30 s for a statement. The watchdog detects half-open connections, and connection attempts that began while the server
 * was unreachable, so that no caller waits long for them.
 */
export function openDb(options: {
  url: string;
  max: number;
  log: Log;
  applicationName: string;
  purpose: Purpose;
  watch: ConnectionWatchdog;
  disk: DiskWatch;
}): PooledDb {
  const { watch, disk } = options;
  const settings = createConnectionSettings(options.purpose);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    types,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
    idleTimeoutMillis: IDLE_MS,
    application_name: options.applicationName,
    Client: class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super(config);
        // The pool connects each client right after creating it.
        watch.attempt(this);
      }
    },
    // oxlint-disable-next-line typescript/no-misused-promises -- pg-pool waits for it, which its types do not say
    onConnect: settings.apply,
  });
  // The pool replaces an idle connection that drops; without a listener, its error would crash the process.
  let isClosed = false;
  pool.on("error", (error) => {
    if (!isClosed) options.log.warn({ error }, "database connection lost");
  });
  const connected = trackConnections(pool, watch, options.log);

  const reportError = (error: unknown): unknown => {
    disk.note(error);
    if (!(error instanceof Error) || !POOL_TIMEOUT.test(error.message)) return asServiceError(error);
    // A connection that is still being opened is in the pool's total, and not in `connected`.
    const isFull = pool.totalCount > 0 && pool.totalCount === connected.size;
    return asServiceError(isFull ? new PoolBusyError(error.message, { cause: error }) : error);
  };

  const context: PoolContext = { pool, settings, reportError };
  const transaction = transactionOn(context, watch);

  return {
    ...dbOn(pool, transaction, context),
    async close() {
      isClosed = true;
      const ended = pool.end();
      // Ending a client with a running statement closes its connection, and the statement rejects.
      const timer = setTimeout(() => {
        for (const client of connected) void (client as pg.PoolClient & pg.Client).end();
      }, CLOSE_DEADLINE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Runs a transaction, and retries it up to three times after a deadlock: for work that locks rows of many tables, whose
 * order differs between transactions.
 */
export async function retryOnDeadlock<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (sqlStateOf(error) !== DEADLOCK || tries >= TRIES) throw error;
    }
  }
}

/**
 * Resolves with what `write` resolves with; repeats it twice a second while the store is unavailable and `mayRetry`
 * returns true. For results of finished work: if the write is lost, the lease expires and the work is repeated. Rejects
 * with any other error at once.
 */
export async function retryThroughOutage<Result>(
  write: () => Promise<Result>,
  mayRetry: () => boolean,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error) || !mayRetry()) throw error;
      await sleep(RETRY_MS);
    }
  }
}
