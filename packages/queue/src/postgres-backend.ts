import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresConnection, PostgresQueueBackend, withBackend, runMigrations } from "bullmq";
import type { PostgresConnectionOptions } from "bullmq";
import pg from "pg";
import { RateLimiterPostgres } from "rate-limiter-flexible";
import type { Log } from "@svc/log";
import { toError } from "@svc/primitives";
import {
  createListeners,
  createWakeUpBatch,
  isConnectionError,
  QUEUE_OPTIONS,
  QueueDownError,
  WORKER_OPTIONS,
} from "./backend.ts";
import type { QueueBackend } from "./backend.ts";
import { createPostgresListener } from "./postgres-listener.ts";

/** Schema of BullMQ's own tables. */
const BULLMQ_SCHEMA = "bullmq";

/** Table of the shared counters, which `migrateQueues` creates. */
const COUNTERS_TABLE = "svc_counters";

const RETRY_MS = 500;
/** Connect timeout, in milliseconds; connecting is then retried. */
const CONNECT_WITHIN_MS = 5_000;
/** pg_notify carries less than 8,000 bytes, the prefix of the queues and the topic included. */
const NOTIFICATION_LIMITS = { maxIds: 200, maxChars: 7_800 };
const WAKE_CHANNEL = "svc_wake";
/** Channel on which BullMQ announces jobs, with the name of their queue (`PostgresQueueBackend.NOTIFY_CHANNEL`). */
const JOBS_CHANNEL = "bullmq_jobs";
/** Pool size for all queries of queues and workers; they wait for a free connection. */
const SHARED_CONNECTIONS = 6;
/** Interval of removing counters whose window has ended. */
const CLEAR_COUNTERS_MS = 60_000;
/** Not set with the startup parameter `options`, which poolers reject or drop. */
const SETTINGS = `SET search_path = ${BULLMQ_SCHEMA}; SET synchronous_commit = off; SET jit = off`;
/** A half-open connection is noticed after this time. */
const KEEP_ALIVE_MS = 10_000;
/** Longer than the intervals of idle workers, which would otherwise close and open connections all the time. */
const UNUSED_MS = 60_000;

/**
 * BullMQ on its own Postgres backend. One pool serves all queues and workers, and one connection listens for all of
 * them. The pool's commits do not wait for the disk (synchronous_commit): if a crash of Postgres loses a job, the
 * sweeper publishes it again from our own tables, which are durable. The URL is that of PostgreSQL itself or of a
 * pooler in session mode, since settings and LISTEN belong to a session.
 */
// oxlint-disable-next-line max-lines-per-function -- One backend whose functions share pool and listeners.
export function createPostgresQueueBackend(options: { databaseUrl: string; prefix: string; log: Log }): QueueBackend {
  const { databaseUrl, prefix, log } = options;
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: SHARED_CONNECTIONS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    idleTimeoutMillis: UNUSED_MS,
    query_timeout: 30_000,
    // oxlint-disable-next-line typescript/no-misused-promises -- pg-pool waits for it, which its types do not say
    onConnect: async (client) => {
      await client.query(SETTINGS);
    },
    application_name: "svc-queues",
  });
  pool.setMaxListeners(50);
  // BullMQ has its own types for pg; a real pool fulfils them.
  const connection = pool as PostgresConnectionOptions;

  let up = false;
  let closed = false;
  const reportError = (error: Error) => {
    if (up && !closed)
      log.warn({ error }, "lost the queues' database connection; messages are accepted and processed later");
    up = false;
  };
  pool.on("error", reportError);
  // BullMQ checks clients out without an error listener: a connection that drops between two of its statements would
  // crash the process.
  pool.on("connect", (client) => client.on("error", reportError));
  /**
   * Logs what BullMQ reports: a lost connection, or an error of one job (such as a lock that another worker has
   * acquired).
   */
  const reportQueueError = (error: Error) => {
    if (isConnectionError(error)) reportError(error);
    else log.warn({ error }, "queue error");
  };

  // During an outage, the database is polled twice a second.
  async function probe(): Promise<void> {
    try {
      await pool.query("SELECT 1");
      if (up || closed) return;
      log.debug({}, "queues available");
      up = true;
    } catch (error) {
      reportError(toError(error));
    }
  }
  const prober = setInterval(() => {
    if (!up && !closed) void probe();
  }, RETRY_MS);
  prober.unref();

  // Publishing works without the listener.
  const onListenerLost = (error: Error) => {
    if (closed) return;
    log.debug({ error }, "lost the connection that listens for jobs and wake-ups");
    void probe();
  };
  const listener = createPostgresListener(
    {
      connectionString: databaseUrl,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      application_name: "svc-wake-ups",
    },
    onListenerLost,
  );
  const listeners = createListeners();
  let isListening = false;
  function listenForWakeUps(): void {
    isListening = true;
    const notify = (payload: string) => {
      const [space = "", topic = "", ...ids] = payload.split(" ");
      if (space === prefix) listeners.call(topic, ids);
    };
    listener.listen(WAKE_CHANNEL, { notify });
  }

  // Stands in for the connection on which a BullMQ worker listens for jobs. It runs no statement: a worker fetches jobs
  // before it waits, and again each time the connection begins to listen.
  const jobs = Object.assign(new EventEmitter(), { query: () => Promise.resolve({ rows: [] }) });
  jobs.setMaxListeners(50);
  const consumed = new Set<string>();
  const wakeWorkers = (payload: string) => jobs.emit("notification", { channel: JOBS_CHANNEL, payload });
  let isForJobs = false;
  function listenForJobs(): void {
    if (isForJobs) return;
    isForJobs = true;
    const onListening = () => {
      for (const name of consumed) wakeWorkers(name);
    };
    listener.listen(JOBS_CHANNEL, { notify: wakeWorkers, onListening });
  }

  // By default, BullMQ gives each queue and worker a connection of its own, and another one to listen.
  let shared: PostgresConnection | null = null;
  function sharedConnection(): PostgresConnection {
    if (shared !== null) return shared;
    const made = new PostgresConnection(connection);
    made.getListenClient = () => Promise.resolve(jobs);
    // It never resets its error after an outage.
    made.waitUntilReady().catch(() => {
      if (shared === made) shared = null;
    });
    shared = made;
    return made;
  }
  const { Queue, Worker } = withBackend<PostgresQueueBackend, PostgresConnectionOptions>(
    (name, opts) => new PostgresQueueBackend(sharedConnection(), name, opts, false),
  );

  const sendBatch = createWakeUpBatch((topic, ids) => {
    if (closed) return;
    pool.query("SELECT pg_notify($1, $2)", [WAKE_CHANNEL, [prefix, topic, ...ids].join(" ")]).catch(reportError);
  }, NOTIFICATION_LIMITS);

  // Starts with the first limiter: most processes count nothing.
  let clearing: NodeJS.Timeout | undefined;
  function clearCounters(): void {
    // Several processes do this concurrently. SKIP LOCKED leaves rows that another one is removing or counting, so that
    // no two wait for each other.
    const expired = `SELECT key FROM ${BULLMQ_SCHEMA}.${COUNTERS_TABLE} WHERE expire < $1 FOR UPDATE SKIP LOCKED`;
    pool
      .query(`DELETE FROM ${BULLMQ_SCHEMA}.${COUNTERS_TABLE} WHERE key IN (${expired})`, [Date.now()])
      .catch((error: unknown) => log.debug({ error }, "failed to remove expired counters"));
  }

  return {
    name: "postgres",
    // A bulk call creates two temporary tables.
    bulkFrom: 16,
    defaultConcurrency: 16,
    isUp: () => up,

    async whenReachable() {
      for (;;) {
        if (closed) throw new QueueDownError("queues were closed");
        await probe();
        if (up) return;
        await sleep(RETRY_MS);
      }
    },

    makeQueue(name) {
      const queue = new Queue(`${prefix}-${name}`, { connection, ...QUEUE_OPTIONS });
      queue.on("error", reportQueueError);
      return queue;
    },

    makeWorker(name, processor, concurrency) {
      listenForJobs();
      const worker = new Worker(`${prefix}-${name}`, processor, {
        connection,
        concurrency,
        drainDelay: 30,
        ...WORKER_OPTIONS,
      });
      worker.on("error", reportQueueError);
      consumed.add(worker.name);
      worker.once("closing", () => {
        // Also after a forced close: a worker that waits keeps the process alive.
        worker.getBackend().disconnectBlocking().catch(reportQueueError);
      });
      return Object.assign(worker, { checkStalled: () => worker.getBackend().moveStalledJobsToWait() });
    },

    wakeUps: {
      maxIdChars: NOTIFICATION_LIMITS.maxChars - 1,
      send: sendBatch,
      listen(topic, check) {
        if (!isListening) listenForWakeUps();
        return listeners.add(topic, check);
      },
    },

    makeLimiter(limiter) {
      clearing ??= setInterval(clearCounters, CLEAR_COUNTERS_MS).unref();
      return new RateLimiterPostgres({
        ...limiter,
        storeClient: pool,
        storeType: "pool",
        schemaName: BULLMQ_SCHEMA,
        tableName: COUNTERS_TABLE,
        tableCreated: true,
        clearExpiredByTimeout: false,
      });
    },

    findPolicyProblem: () => Promise.resolve(null),

    async close() {
      closed = true;
      clearInterval(prober);
      clearInterval(clearing);
      await listener.close();
      await pool.end();
    },
  };
}

/**
 * The table of the shared counters, in the form that rate-limiter-flexible expects. It is UNLOGGED: counts may be lost
 * in a crash. The statements are one transaction, under a lock that admits one process at a time, since concurrent
 * CREATE TABLE IF NOT EXISTS can fail in Postgres. Half of each page is left free for new row versions, since rows
 * change with each request.
 */
const MAKE_COUNTERS_TABLE = `
  SELECT pg_advisory_xact_lock(hashtext('${BULLMQ_SCHEMA}.${COUNTERS_TABLE}'));
  CREATE UNLOGGED TABLE IF NOT EXISTS ${BULLMQ_SCHEMA}.${COUNTERS_TABLE} (
    key text PRIMARY KEY,
    points integer NOT NULL,
    expire bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX IF NOT EXISTS ${COUNTERS_TABLE}_expire ON ${BULLMQ_SCHEMA}.${COUNTERS_TABLE} (expire)`;

/**
 * Creates or updates BullMQ's tables and that of the counters in the schema `bullmq`. Safe to repeat and to run
 * concurrently.
 */
export async function migrateQueues(databaseUrl: string, log: Log): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const version = await runMigrations(client, BULLMQ_SCHEMA);
    await client.query(MAKE_COUNTERS_TABLE);
    log.debug({ version }, "queue schema is up to date");
  } finally {
    await client.end();
  }
}
