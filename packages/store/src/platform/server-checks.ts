import { errorCode } from "@svc/primitives";
import type { Log } from "@svc/log";
import type { Socket } from "node:net";
import pg from "pg";

/** What PostgreSQL says when it cannot write: disk_full and io_error. */
const CANNOT_WRITE = new Set(["53100", "58030"]);
/** For so long after such an error the store counts as one that cannot write; each call that fails says it again. */
const REMEMBERED_MS = 10_000;
const SAID_EVERY_MS = 60_000;

/**
 * Remembers that PostgreSQL could not write: it answers questions on a full disk, and takes nothing. Says so in the log
 * once a minute, however many calls fail. `now` answers milliseconds.
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
    /** Looks at the error of a statement. */
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

    /** True when it could not write a moment ago. */
    isFull: (): boolean => now() - failedAt < REMEMBERED_MS,
  };
}

/** Remembers that PostgreSQL could not write. */
export type DiskWatch = ReturnType<typeof createDiskWatch>;

/** A connection that is used for longer than this is looked into, and one on which nothing happens for longer. */
const SUSPICIOUS_MS = 1_500;
const POLL_MS = 1_000;
/** A statement that was sent this long ago has arrived at the server, unless its connection was cut. */
const ON_ITS_WAY_MS = 250;
/** A server that cannot be asked within this time tells nothing about its lines. */
const ASK_WITHIN_MS = 2_000;
/** While the server does not respond, it is asked again after `POLL_MS`, whatever becomes of the question before. */
const MAX_CHECKS = 2;
/**
 * An attempt to connect that has received nothing is overtaken when another one that began this much later has
 * succeeded: it began while nothing passed, and would wait for its whole timeout. One that is slow has received
 * something by then.
 */
const OVERTAKEN_MS = 1_000;

/** Sides at the server that are remembered to be ended; far more than one process has connections. */
const MAX_LOST = 1_000;

/** What the server says of its side of a connection. */
interface Backend {
  pid: number;
  /** For so long it has had nothing to do, in milliseconds; null while it works on a statement. */
  idle_ms: number | null;
}

const FIND_BACKENDS = `
  SELECT pid, CASE WHEN state LIKE 'idle%' THEN (extract(epoch FROM now() - state_change) * 1000)::float8 END AS idle_ms
  FROM pg_stat_activity WHERE pid = ANY ($1::integer[])`;

/**
 * Ends the sides of lines that were given up: they hold a place among the connections of the server, and locks where
 * they are in a transaction. Only ours, and only those that were there before the line was given up, since the ids of
 * processes are used again. Returns those that are still there, at work on a statement.
 */
const END_LOST = `
  WITH lost AS (SELECT * FROM unnest($1::integer[], $2::float8[]) AS l (pid, ms)),
  found AS (
    SELECT a.pid, a.state LIKE 'idle%' AS is_idle FROM pg_stat_activity a JOIN lost l ON l.pid = a.pid
    WHERE a.usename = current_user AND a.datname = current_database() AND a.application_name = $3
      AND a.backend_start < now() - l.ms * interval '1 millisecond'
  )
  SELECT pid, CASE WHEN is_idle THEN pg_terminate_backend(pid) ELSE false END AS is_ended FROM found`;

/** A client with what pg knows of its connection: the id of the process that serves it. */
interface Line extends pg.PoolClient {
  processID?: number | null;
}

/** What the watchdog knows; times are by the clock of this process. */
interface Watch {
  readonly url: string;
  readonly log: Log;
  readonly applicationName: string;
  /** Every connection of the pools. */
  readonly lines: Set<Line>;
  /** Connections in use, and since when. */
  readonly busySince: Map<Line, number>;
  /** Server processes of connections that were given up, and when. */
  readonly lost: Map<number, number>;
  /** Attempts to connect, and when they began. */
  readonly attempts: Map<pg.Client, number>;
}

/** Ends the attempts that are overtaken by one that began at this time and has succeeded. */
function endOvertaken({ attempts }: Watch, since: number): void {
  for (const [client, begun] of attempts) {
    const stream = client.connection.stream as Socket;
    // The TLS socket takes the place of the plain one after the server's first byte, and counts from 0 again.
    const hasReceived = stream.bytesRead > 0 || "encrypted" in stream;
    if (since - begun > OVERTAKEN_MS && !hasReceived)
      stream.destroy(new Error("Connection terminated: a later attempt has succeeded"));
  }
}

/**
 * Queries on a new connection the state of the connections in use, and ends what is left of those that were given up.
 * Returns the connections in use with how long the server says they have been idle.
 */
async function ask(watch: Watch) {
  const { url, log, busySince, lost } = watch;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ASK_WITHIN_MS,
    query_timeout: ASK_WITHIN_MS,
    application_name: "svc-line-watch",
  });
  // What breaks it also rejects what it was asked.
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
    // Its end is not waited for: the line may be silent by now.
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

/** Ends half-open connections, if a connection in use or an attempt to connect takes suspiciously long. */
async function check(watch: Watch): Promise<void> {
  const { lines, busySince, lost, attempts, log } = watch;
  const now = performance.now();
  const isWaiting = [...attempts.values()].some((begun) => now - begun > POLL_MS);
  const isSlow = [...busySince.values()].some((since) => now - since > SUSPICIOUS_MS);
  if (!isSlow && lost.size === 0 && !isWaiting) return;
  const used = await ask(watch);
  // One that was handed back and out again meanwhile is in use since another time.
  const idle = used.filter(
    ({ line, since, busyMs, idleMs }) =>
      idleMs > SUSPICIOUS_MS && busyMs > ON_ITS_WAY_MS && busySince.get(line) === since,
  );
  if (!idle.some(({ busyMs }) => busyMs > SUSPICIOUS_MS)) return;
  for (const { line, idleMs } of idle) {
    log.warn({ idleMs: Math.round(idleMs) }, "half-open database connection closed; reconnecting");
    end(watch, line);
  }
  // What happened to one has happened to those that nobody uses in this moment.
  for (const line of lines) if (!busySince.has(line)) end(watch, line);
}

/**
 * Watches the connections of the pools for half-open ones, as left by a firewall that has forgotten them: there a
 * statement would wait for its whole timeout. If a connection was checked out some time ago, the server is asked on
 * another one what its side does. If that side has been idle for all this time, its response or our statement was
 * lost: the connection is ended, and its user gets the error that the store is unavailable. So are all others on which
 * a statement has not arrived by then, and the unused ones. A slow statement is running at the server and continues.
 * The server does not learn of a connection that ends in silence, so its side is ended too, as soon as the server can
 * be asked. While an attempt to connect waits, the server is asked as well: an attempt that is overtaken is ended, so
 * that the next one begins at once. Behind a pooler the ids of connections are not the server's, and no established
 * one is ended.
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
    /** An attempt to connect begins. */
    attempt(client: pg.Client) {
      attempts.set(client, performance.now());
      client.once("end", () => attempts.delete(client));
    },
    /** Watches a connection that is established. */
    add(line: pg.PoolClient) {
      lines.add(line);
      const since = attempts.get(line);
      attempts.delete(line);
      if (since !== undefined) endOvertaken(watch, since);
    },
    /** A connection is handed out. */
    begin: (line: pg.PoolClient) => void busySince.set(line, performance.now()),
    /** A connection is handed back; one with an error is not used again, and the server may not hear of its end. */
    end(line: pg.PoolClient, error?: unknown) {
      busySince.delete(line);
      if (error) giveUp(watch, line);
    },
    /** A connection is no more. */
    remove(line: pg.PoolClient) {
      lines.delete(line);
      busySince.delete(line);
    },
    close: () => clearInterval(timer),
  };
}

/** Notices database lines that were cut silently. */
export type ConnectionWatchdog = ReturnType<typeof createConnectionWatchdog>;

const CONNECT_TIMEOUT_MS = 5_000;

/** Other traffic on the pooler may hide in one round that it shares connections, but hardly in all of them. */
const ROUNDS = 3;

/**
 * What a connection pooler between this program and PostgreSQL does. `session`: a connection has a server process to
 * itself. `transaction`: each transaction may get another one (transaction or statement mode), so that `LISTEN`, session
 * locks and settings do not hold.
 */
export type PoolerMode = "session" | "transaction";

/**
 * True for the error of a pooler that rejects a startup parameter. PgBouncer sends SQLSTATE 08P01 with the text
 * "unsupported startup parameter".
 */
export function isRejectedSetting(error: unknown): boolean {
  const code = errorCode(error);
  return error instanceof Error && code === "08P01" && /startup parameter/i.test(error.message);
}

async function readPid(client: pg.ClientBase): Promise<number> {
  // Without a name: a named statement would collide with one that another client has prepared on this connection.
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}

/** A connection with the ID of the server process, or of what a pooler says in its place. */
type CheckedClient = pg.Client & { processID?: number | null };

/**
 * Runs checks of a server on one connection, since opening one costs the server more than what is asked on it. Rejects
 * as pg does when the server cannot be reached.
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

/** True if the server process of a connection serves another one as well. */
const sharesConnections = (url: string, first: CheckedClient): Promise<boolean> =>
  onConnection(url, async (second) => {
    for (let round = 0; round < ROUNDS; round++) {
      const before = await readPid(first);
      await second.query("BEGIN");
      const held = await readPid(second);
      // A pool of one connection would keep the next statement waiting.
      const during = held === before ? held : await readPid(first);
      await second.query("ROLLBACK");
      if (held === before || during !== before) return true;
    }
    return false;
  });

/**
 * Returns the mode of the pooler between here and PostgreSQL, or null if there is none. A pooler is recognized by the
 * process ID that it gives a client to cancel its statements, which is not that of a server process. Rejects as pg does
 * when the server cannot be reached.
 */
export const findPooler = (databaseUrl: string): Promise<PoolerMode | null> =>
  onConnection(databaseUrl, (client) => findPoolerOn(databaseUrl, client));

/** As `findPooler`, on a connection to this URL. */
export async function findPoolerOn(databaseUrl: string, client: CheckedClient): Promise<PoolerMode | null> {
  if (client.processID === (await readPid(client))) return null;
  return (await sharesConnections(databaseUrl, client)) ? "transaction" : "session";
}

/** `server_version_num` of 18.4 is 180004. */
const NUMBERS_A_MAJOR = 10_000;

/** The version of a PostgreSQL, as it says it and as a number. It stands in no table of ours. Rejects as pg does. */
export const readPostgresVersion = (url: string): Promise<{ text: string; major: number }> =>
  onConnection(url, async (client) => {
    const { rows } = await client.query<{ text: string; number: string }>(
      "SELECT current_setting('server_version') AS text, current_setting('server_version_num') AS number",
    );
    return { text: rows[0]?.text ?? "unknown", major: Math.floor(Number(rows[0]?.number) / NUMBERS_A_MAJOR) };
  });
