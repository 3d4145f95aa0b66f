import { errorCode } from "@svc/primitives";
import type { Log } from "@svc/log";
import type { Socket } from "node:net";
import pg from "pg";

/** SQLSTATEs of PostgreSQL when it cannot write: disk_full and io_error. */
const CANNOT_WRITE = new Set(["53100", "58030"]);
/** Time after such an error during which the store counts as unable to write; each failed call restarts it. */
const REMEMBERED_MS = 10_000;
const SAID_EVERY_MS = 60_000;

/**
 * Remembers that PostgreSQL could not write: with a full disk it can read but not write. Logs this once a minute,
 * however many calls fail. `now` returns milliseconds.
 */
export function createDiskWatch({
  log,
  now,
}: {
  log: { error(fields: object, text: string): void };
  now: () => number;
}) {
  let failedAt = Number.NEGATIVE_INFINITY;
  let saidAt = Number.NEGATIVE_INFINITY;

  return {
    /** Checks the error of a statement. */
    note(error: unknown): void {
      const code = errorCode(error);
      if (code === undefined || !CANNOT_WRITE.has(code)) return;
      failedAt = now();
      if (failedAt - saidAt < SAID_EVERY_MS) return;
      saidAt = failedAt;
      log.error(
        { error },
        "PostgreSQL cannot write: its disk is full or failing. Free disk space; no messages are accepted until then",
      );
    },

    /** Returns true if PostgreSQL could not write recently. */
    isFull: (): boolean => now() - failedAt < REMEMBERED_MS,
  };
}

/** Remembers whether PostgreSQL could write. */
export type DiskWatch = ReturnType<typeof createDiskWatch>;

/** A connection that is in use for longer than this is checked, if it has also been silent for longer. */
const SUSPICIOUS_MS = 1_500;
const POLL_MS = 1_000;
/** A statement that was sent this long ago has arrived at the server, unless the connection is half-open. */
const ON_ITS_WAY_MS = 250;
/** Timeout of a check of the server, after which nothing is known about its connections. */
const ASK_WITHIN_MS = 2_000;
/** Maximum of concurrent checks: while the server does not respond, one starts every `POLL_MS`. */
const MAX_CHECKS = 2;
/**
 * Connecting is aborted if it has received nothing and an attempt that began at least this much later has succeeded:
 * its first packet was lost, and it would wait for its whole timeout. A slow attempt has received something by then.
 */
const OVERTAKEN_MS = 1_000;

/** Maximum of remembered server processes to end; far more than the connections of one process. */
const MAX_LOST = 1_000;

/** State of a connection's server process. */
interface Backend {
  pid: number;
  /** Time for which it has been idle, in milliseconds; null while it runs a statement. */
  idle_ms: number | null;
}

const FIND_BACKENDS = `
  SELECT pid, CASE WHEN state LIKE 'idle%' THEN (extract(epoch FROM now() - state_change) * 1000)::float8 END AS idle_ms
  FROM pg_stat_activity WHERE pid = ANY ($1::integer[])`;

/**
 * Ends the server processes of abandoned connections: they use up the server's connections, and hold locks if they are
 * in a transaction. Only ours, and only those that started before the connection was abandoned, since process ids are
 * reused. Returns those that still run a statement.
 */
const END_LOST = `
  WITH lost AS (SELECT * FROM unnest($1::integer[], $2::float8[]) AS l (pid, ms)),
  found AS (
    SELECT a.pid, a.state LIKE 'idle%' AS is_idle FROM pg_stat_activity a JOIN lost l ON l.pid = a.pid
    WHERE a.usename = current_user AND a.datname = current_database() AND a.application_name = $3
      AND a.backend_start < now() - l.ms * interval '1 millisecond'
  )
  SELECT pid, CASE WHEN is_idle THEN pg_terminate_backend(pid) ELSE false END AS is_ended FROM found`;

/** A client with the id of its server process. */
interface Line extends pg.PoolClient {
  processID?: number | null;
}

/** State of the watchdog; times are by the clock of this process. */
interface Watch {
  readonly url: string;
  readonly log: Log;
  readonly applicationName: string;
  /** Every connection of the pools. */
  readonly lines: Set<Line>;
  /** Connections in use, with their start times. */
  readonly busySince: Map<Line, number>;
  /** Server processes of abandoned connections, with the times when those were abandoned. */
  readonly lost: Map<number, number>;
  /** Connection attempts, with their start times. */
  readonly attempts: Map<pg.Client, number>;
}

/** Aborts attempts that have received nothing although a later one, begun at `since`, has succeeded. */
function endOvertaken({ attempts }: Watch, since: number): void {
  for (const [client, begun] of attempts) {
    const stream = client.connection.stream as Socket;
    // The TLS socket replaces the plain one after the server's first byte, and counts from 0 again.
    const hasReceived = stream.bytesRead > 0 || "encrypted" in stream;
    if (since - begun > OVERTAKEN_MS && !hasReceived)
      stream.destroy(new Error("Connection terminated: a later attempt has succeeded"));
  }
}

/**
 * Queries the state of the connections in use over a new connection, and ends the server processes of abandoned ones.
 * Returns the connections in use and how long the server reports them as idle.
 */
async function ask(watch: Watch) {
  const { url, log, busySince, lost } = watch;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ASK_WITHIN_MS,
    query_timeout: ASK_WITHIN_MS,
    application_name: "svc-line-watch",
  });
  // An error of this connection also rejects its query.
  client.on("error", (error) => log.debug({ error }, "the connection watchdog lost its own connection"));
  const begun = performance.now();
  try {
    await client.connect();
    endOvertaken(watch, begun);
    const askedAt = performance.now();
    const asked = [...busySince];
    const { rows } = await client.query<Backend>(FIND_BACKENDS, [asked.flatMap(([line]) => line.processID ?? [])]);
    if (lost.size > 0) await endLost(watch, client);
    const idleMs = new Map(rows.map((row) => [row.pid, row.idle_ms]));
    return asked.map(([line, since]) => {
      return { line, since, busyMs: askedAt - since, idleMs: idleMs.get(line.processID ?? 0) ?? 0 };
    });
  } finally {
    // Does not wait for its end: the connection may be half-open by now.
    client
      .end()
      .catch((error: unknown) => log.debug({ error }, "the connection watchdog failed to close its own connection"));
  }
}

async function endLost({ lost, log, applicationName }: Watch, client: pg.Client): Promise<void> {
  const asked = [...lost];
  const ages = asked.map(([, at]) => performance.now() - at);
  const { rows } = await client.query<{ pid: number; is_ended: boolean }>(END_LOST, [
    asked.map(([pid]) => pid),
    ages,
    applicationName,
  ]);
  const atWork = new Set(rows.filter((row) => !row.is_ended).map((row) => row.pid));
  for (const [pid, at] of asked) if (!atWork.has(pid) && lost.get(pid) === at) lost.delete(pid);
  const ended = rows.length - atWork.size;
  if (ended > 0) log.info({ ended }, "terminated server sessions of half-open connections");
}

function giveUp({ lost }: Watch, line: Line): void {
  const pid = line.processID;
  if (typeof pid !== "number" || lost.size >= MAX_LOST) return;
  if (!lost.has(pid)) lost.set(pid, performance.now());
}

function end(watch: Watch, line: Line): void {
  giveUp(watch, line);
  line.connection.stream.destroy(new Error("Connection terminated: no data received"));
}

/** Ends half-open connections, if a connection in use or a connection attempt takes too long. */
async function check(watch: Watch): Promise<void> {
  const { lines, busySince, lost, attempts, log } = watch;
  const now = performance.now();
  const isWaiting = [...attempts.values()].some((begun) => now - begun > POLL_MS);
  const isSlow = [...busySince.values()].some((since) => now - since > SUSPICIOUS_MS);
  if (!isSlow && lost.size === 0 && !isWaiting) return;
  const used = await ask(watch);
  // A connection that was released and acquired again in the meantime has a new start time.
  const idle = used.filter(
    ({ line, since, busyMs, idleMs }) =>
      idleMs > SUSPICIOUS_MS && busyMs > ON_ITS_WAY_MS && busySince.get(line) === since,
  );
  if (!idle.some(({ busyMs }) => busyMs > SUSPICIOUS_MS)) return;
  for (const { line, idleMs } of idle) {
    log.warn({ idleMs: Math.round(idleMs) }, "half-open database connection closed; reconnecting");
    end(watch, line);
  }
  // Unused connections are probably half-open for the same reason.
  for (const line of lines) if (!busySince.has(line)) end(watch, line);
}

/**
 * Detects half-open connections of the pools, for example after a firewall has dropped them silently: a statement on
 * one would wait for its whole timeout. If a connection has been in use for some time, the watchdog queries the state
 * of its server process over another one. If that has been idle for all this time, its response or our statement was
 * lost: the connection is ended, and its user gets the error that the store is unavailable. The same applies to all
 * connections whose statement has not arrived by then, and to the unused ones. A slow statement is running on the
 * server and continues. The server does not notice a half-open connection, so its process is ended too, as soon as the
 * server can be reached. While a connection attempt waits, the server is checked as well: an attempt that received
 * nothing while a later one succeeded is aborted, so that the next one begins at once. Behind a pooler, process ids are
 * not the server's, and no established connection is ended.
 */
export function createConnectionWatchdog(options: { url: string; log: Log; applicationName: string }) {
  const { log } = options;
  const lines = new Set<Line>();
  const busySince = new Map<Line, number>();
  const attempts = new Map<pg.Client, number>();
  const watch: Watch = { ...options, lines, busySince, lost: new Map(), attempts };
  let checks = 0;
  const timer = setInterval(() => {
    if (checks === MAX_CHECKS) return;
    checks++;
    check(watch)
      .catch((error: unknown) => log.debug({ error }, "failed to query the server's connections"))
      .finally(() => {
        checks--;
      });
  }, POLL_MS);
  timer.unref();

  return {
    /** Called when a connection attempt begins. */
    attempt(client: pg.Client) {
      attempts.set(client, performance.now());
      client.once("end", () => attempts.delete(client));
    },
    /** Watches an established connection. */
    add(line: pg.PoolClient) {
      lines.add(line);
      const since = attempts.get(line);
      attempts.delete(line);
      if (since !== undefined) endOvertaken(watch, since);
    },
    /** Called when a connection is acquired. */
    begin: (line: pg.PoolClient) => void busySince.set(line, performance.now()),
    /**
     * Called when a connection is released; one with an error is not used again, and the server may not notice its end.
     */
    end(line: pg.PoolClient, error?: unknown) {
      busySince.delete(line);
      if (error) giveUp(watch, line);
    },
    /** Called when a connection has ended. */
    remove(line: pg.PoolClient) {
      lines.delete(line);
      busySince.delete(line);
    },
    close: () => clearInterval(timer),
  };
}

/** Detects half-open database connections. */
export type ConnectionWatchdog = ReturnType<typeof createConnectionWatchdog>;

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Number of checks: other traffic on the pooler may hide in one that it shares connections, but hardly in all of them.
 */
const ROUNDS = 3;

/**
 * Mode of a connection pooler in front of PostgreSQL. `session`: each connection has its own server process.
 * `transaction`: each transaction may get another one (transaction or statement mode), so that `LISTEN`, session locks
 * and settings do not work.
 */
export type PoolerMode = "session" | "transaction";

/**
 * Returns true for the error of a pooler that rejects a startup parameter. PgBouncer sends SQLSTATE 08P01 with the text
 * "unsupported startup parameter".
 */
export function isRejectedSetting(error: unknown): boolean {
  const code = errorCode(error);
  return error instanceof Error && code === "08P01" && /startup parameter/i.test(error.message);
}

async function readPid(client: pg.ClientBase): Promise<number> {
  // Unnamed: a named statement would collide with one that another client has prepared on this connection.
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}

/** A connection with the id of its server process, or the pooler's replacement for it. */
type CheckedClient = pg.Client & { processID?: number | null };

/**
 * Runs checks of a server on one connection, since opening one costs the server more than the checks. Rejects as pg
 * does if the server is unreachable.
 */
export async function onConnection<Result>(
  url: string,
  check: (client: CheckedClient) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  await client.connect();
  try {
    return await check(client);
  } finally {
    await client.end();
  }
}

/** Returns true if the server process of a connection also serves another one. */
const sharesConnections = (url: string, first: CheckedClient): Promise<boolean> =>
  onConnection(url, async (second) => {
    for (let round = 0; round < ROUNDS; round++) {
      const before = await readPid(first);
      await second.query("BEGIN");
      const held = await readPid(second);
      // With a pool of one connection, the next statement would wait.
      const during = held === before ? held : await readPid(first);
      await second.query("ROLLBACK");
      if (held === before || during !== before) return true;
    }
    return false;
  });

/**
 * Returns the mode of the pooler in front of PostgreSQL, or null if there is none. A pooler is recognized by the
 * process id that it gives a client for cancel requests, which is not that of a server process. Rejects as pg does if
 * the server is unreachable.
 */
export const findPooler = (databaseUrl: string): Promise<PoolerMode | null> =>
  onConnection(databaseUrl, (client) => findPoolerOn(databaseUrl, client));

/** As `findPooler`, on a connection to this URL. */
export async function findPoolerOn(databaseUrl: string, client: CheckedClient): Promise<PoolerMode | null> {
  if (client.processID === (await readPid(client))) return null;
  return (await sharesConnections(databaseUrl, client)) ? "transaction" : "session";
}

/** Divisor of `server_version_num` for the major version: that of 18.4 is 180004. */
const NUMBERS_A_MAJOR = 10_000;

/** Returns the version of a PostgreSQL, as text and as a number. Rejects as pg does. */
export const readPostgresVersion = (url: string): Promise<{ text: string; major: number }> =>
  onConnection(url, async (client) => {
    const { rows } = await client.query<{ text: string; number: string }>(
      "SELECT current_setting('server_version') AS text, current_setting('server_version_num') AS number",
    );
    return { text: rows[0]?.text ?? "unknown", major: Math.floor(Number(rows[0]?.number) / NUMBERS_A_MAJOR) };
  });
