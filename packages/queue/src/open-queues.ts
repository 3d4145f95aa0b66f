import { setTimeout as sleep } from "node:timers/promises";
import type { QueueJobs, QueueName } from "@svc/contracts";
import type { Log } from "@svc/log";
import { isConnectionError, QueueDownError, STALLED_MS } from "./backend.ts";
import type { AnyQueue, AnyWorker, ConsumingWorker } from "./backend.ts";
import { createCounters } from "./counters.ts";
import { createPostgresQueueBackend } from "./postgres-backend.ts";
import { bundleJobs } from "./queues.ts";
import type { Consumer, JobToPublish, Queues } from "./queues.ts";
import { createRedisBackend } from "./redis-backend.ts";

/** Minimum interval between two batches of jobs that may wait. */
const WAIT_MS = 20;

/** Publishes in batches. */
interface Batches<Job> {
  publish: (name: QueueName, jobs: readonly Job[]) => Promise<void>;
  /** Sends the waiting batches at once; resolves when they are sent or have failed. */
  flush: () => Promise<unknown>;
}

interface Batch<Job> {
  jobs: Job[];
  sent: Promise<void>;
  /** Sends it after everything that can continue without waiting has run. */
  sendNow(): void;
}

/**
 * Batches the jobs that are published to a queue in one turn of the event loop, such as after a shared commit: `send`
 * is called once for all of them, and all publishers get its result. A batch waits for further jobs only if all of its
 * jobs may, and only until 20 ms after the previous batch: under load, many jobs cost little more than one.
 */
export function batchPublishes<Job extends { mayWait?: boolean }>(
  send: (name: QueueName, jobs: Job[]) => Promise<void>,
): Batches<Job> {
  const open = new Map<QueueName, Batch<Job>>();
  const sentAt = new Map<QueueName, number>();

  function begin(name: QueueName, jobs: Job[]): Batch<Job> {
    let sendNow = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      const waitMs = (sentAt.get(name) ?? -Infinity) + WAIT_MS - performance.now();
      const timer = waitMs > 0 ? setTimeout(resolve, waitMs) : undefined;
      sendNow = () => {
        clearTimeout(timer);
        process.nextTick(resolve);
      };
      if (timer === undefined) sendNow();
    });
    const sendStarted = async () => {
      await started;
      open.delete(name);
      sentAt.set(name, performance.now());
      // Callers wait for the others: they come first where several jobs carry the batch.
      await send(
        name,
        jobs.toSorted((one, other) => Number(one.mayWait ?? false) - Number(other.mayWait ?? false)),
      );
    };
    const batch = { jobs, sent: sendStarted(), sendNow };
    open.set(name, batch);
    return batch;
  }

  return {
    publish(name, jobs) {
      const known = open.get(name);
      known?.jobs.push(...jobs);
      const batch = known ?? begin(name, [...jobs]);
      if (jobs.some(({ mayWait }) => mayWait !== true)) batch.sendNow();
      return batch.sent;
    },
    flush() {
      const batches = [...open.values()];
      for (const batch of batches) batch.sendNow();
      return Promise.allSettled(batches.map(({ sent }) => sent));
    },
  };
}

const RETRY_MS = 500;
const ABORT_GRACE_MS = 1_000;
/** Additional time after the deadline of a close for a worker with jobs to become ready. */
const READY_MS = 1_000;

/** Timeout of a close for BullMQ objects that are still starting. */
const COMING_UP_MS = 2_000;
const NEVER_ABORTED = new AbortController().signal;

/**
 * Opens the queues: on Redis if `redisUrl` is set, else on BullMQ's Postgres backend. This is the only place that knows
 * which. An unavailable backend causes no error here: objects are created once it is reachable.
 */
// oxlint-disable-next-line max-lines-per-function -- One object of queues whose functions share the backend.
export function openQueues(options: {
  databaseUrl: string;
  redisUrl: string | undefined;
  prefix?: string;
  log: Log;
}): Queues {
  const { databaseUrl, redisUrl, prefix = "svc", log } = options;
  const backend =
    redisUrl === undefined
      ? createPostgresQueueBackend({ databaseUrl, prefix, log })
      : createRedisBackend({ redisUrl, prefix, log });

  let closed = false;
  /** Checks of each consumer. */
  const consumers = new Map<ReturnType<typeof startStalledChecks>, QueueName>();
  const queues = new Map<QueueName, Promise<AnyQueue>>();
  const ready = new Map<QueueName, AnyQueue>();
  /** Workers that were closed before they were ready. */
  const coming = new Set<Promise<void>>();

  /** Creates a BullMQ object once the backend is reachable, and again if it fails to start. */
  async function whenUp<Made extends AnyQueue | AnyWorker>(make: () => Made, isWanted: () => boolean): Promise<Made> {
    for (;;) {
      await backend.whenReachable();
      if (!isWanted()) throw new QueueDownError("closed before first use");
      const made = make();
      try {
        await made.waitUntilReady();
        return made;
      } catch (error) {
        log.debug({ error }, "failed to open a queue; retrying");
        await made
          .close()
          .catch((closeError: unknown) => log.debug({ error: closeError }, "failed to close a broken queue"));
        await sleep(RETRY_MS);
      }
    }
  }

  function queueOf(name: QueueName): AnyQueue | null {
    const known = ready.get(name);
    if (known !== undefined) return known;
    if (!queues.has(name)) {
      const making = whenUp(
        () => backend.makeQueue(name),
        () => !closed,
      );
      queues.set(name, making);
      making.then(
        (queue) => ready.set(name, queue),
        (error: unknown) => log.debug({ error }, "closed an unused queue"),
      );
    }
    return null;
  }

  async function send(name: QueueName, given: JobToPublish<QueueName>[]): Promise<void> {
    for (const [checks, consumed] of consumers) if (consumed === name) checks.reportActivity();
    const jobs = bundleJobs(name, given);
    const queue = queueOf(name) ?? (backend.isUp() ? await queues.get(name) : undefined);
    if (queue === undefined || !backend.isUp()) throw new QueueDownError();
    try {
      if (jobs.length < backend.bulkFrom)
        await Promise.all(jobs.map((job) => queue.add(name, job.data, optionsOf(job))));
      else await queue.addBulk(jobs.map((job) => ({ name, data: job.data, opts: optionsOf(job) })));
    } catch (error) {
      // The backend dropped or rejected the call: either way the sweeper publishes the job later.
      if (backend.isUp()) log.warn({ error, queue: name }, "failed to publish jobs; the sweeper will retry");
      throw new QueueDownError(undefined, { cause: error });
    }
  }

  const { publish, flush } = batchPublishes(send);

  function consume<Name extends QueueName>(
    name: Name,
    handle: (data: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    { concurrency = backend.defaultConcurrency }: { concurrency?: number } = {},
  ): Consumer {
    let wanted = true;
    let latest: ConsumingWorker | null = null;
    let most = concurrency;
    const running = new Set<Promise<void>>();
    const checks = startStalledChecks(log, name, async () => (backend.isUp() ? latest?.checkStalled() : undefined));
    consumers.set(checks, name);
    const makeWorker = () => {
      checks.reportActivity();
      latest = backend.makeWorker(
        name,
        (job, _token, signal) => {
          checks.reportActivity();
          // Only `publish` writes to this queue, and it accepts no other data.
          const run = handle(job.data as QueueJobs[Name], signal ?? NEVER_ABORTED).finally(() => running.delete(run));
          running.add(run);
          return run;
        },
        most,
      );
      return latest;
    };
    const making = whenUp(makeWorker, () => wanted && !closed);
    making.catch((error: unknown) => log.debug({ error, queue: name }, "closed an unused worker"));

    return {
      setShare(share) {
        most = Math.max(1, Math.floor(concurrency * share));
        if (latest !== null) latest.concurrency = most;
      },

      async close(deadlineMs) {
        wanted = false;
        checks.stop();
        consumers.delete(checks);
        // A worker may get a job before it reports that it is ready, and would fetch the next one until it can be
        // closed.
        await latest?.pause(true);
        const worker = await Promise.race([
          making.catch(() => null),
          delay(running.size > 0 ? deadlineMs + READY_MS : 0),
        ]);
        if (worker === null || worker === undefined) {
          // It may become ready later: then it is closed at once, before the backend is.
          coming.add(
            making.then((late) => late.close(true)).catch((error: unknown) => log.debug({ error }, "worker closed")),
          );
          return;
        }
        // During an outage, BullMQ waits for the backend before it closes a worker, and leaves timers that keep the
        // process alive. In that case, wait for the jobs here, and close the worker by force.
        const isGentle = backend.isUp();
        const closing = (isGentle ? worker.close() : Promise.allSettled(running)).then(() => "closed" as const);
        closing.catch((error: unknown) => log.debug({ error, queue: name }, "failed to close a worker"));
        if ((await Promise.race([closing, delay(deadlineMs)])) !== "closed") {
          worker.cancelAllJobs("the process is shutting down");
          await Promise.race([closing, delay(ABORT_GRACE_MS)]);
        }
        if (!isGentle) await worker.close(true);
      },
    };
  }

  return {
    backend: backend.name,
    isUp: () => backend.isUp(),
    publish,
    consume,
    wakeUps: backend.wakeUps,
    counters: createCounters(backend, { prefix, log }),

    async countJobs(name) {
      const queue = queueOf(name) ?? (backend.isUp() ? await queues.get(name) : undefined);
      if (queue === undefined || !backend.isUp()) throw new QueueDownError();
      const counts = await queue.getJobCounts("waiting", "prioritized", "active", "delayed");
      const { waiting = 0, prioritized = 0, active = 0, delayed = 0 } = counts;
      return { waiting: waiting + prioritized, active, delayed };
    },

    async findPolicyProblem(limitMs) {
      let isLate = false;
      const checking = backend.whenReachable().then(() => backend.findPolicyProblem());
      checking.then(
        // The start no longer waits for the result.
        (error) => isLate && error !== null && log.error({}, error),
        (error: unknown) => log.debug({ error }, "failed to read the queue server's settings"),
      );
      const error = await Promise.race([checking, delay(limitMs)]);
      isLate = error === undefined;
      return error ?? null;
    },

    async close() {
      await Promise.race([flush(), delay(COMING_UP_MS)]);
      closed = true;
      // BullMQ objects that are still starting would continue to call a closed backend.
      await Promise.race([Promise.allSettled([...coming, ...queues.values()]), delay(COMING_UP_MS)]);
      await Promise.allSettled([...ready.values()].map((queue) => queue.close()));
      await backend.close();
    },
  };
}

/** Returns the options of a job; without a priority, BullMQ appends it to the list of waiting jobs, which costs less. */
function optionsOf({ id, priority }: JobToPublish<QueueName>) {
  return priority === undefined ? { jobId: id } : { jobId: id, priority };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Interval of checks of a queue to which this process publishes nothing, and that has no jobs for it. */
const IDLE_MS = 60_000;
/**
 * Time for which a queue counts as active. A killed worker's lock expires within 6 s, and a job is available again once
 * two checks have found it without a lock: there are four in this time.
 */
const ACTIVE_MS = 3.5 * STALLED_MS;

/** Checks for stalled jobs that run until stopped. */
interface StalledChecks {
  /** Reports a worker's start, or that a job was published or worked on: checks are frequent for the next 21 s. */
  reportActivity(): void;
  stop(): void;
}

/**
 * Checks a consumed queue for jobs whose worker was killed: every 6 s while the queue is active, and once a minute
 * otherwise. In an idle queue, a stalled job becomes noticeable when a sweep finds its work and publishes it once
 * more, which makes the queue active.
 */
export function startStalledChecks(log: Log, queue: QueueName, check: () => Promise<unknown>): StalledChecks {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let activeUntil = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;

  function checkLater(): void {
    clearTimeout(timer);
    const everyMs = performance.now() < activeUntil ? STALLED_MS : IDLE_MS;
    timer = setTimeout(() => void run(), Math.max(0, checkedAt + everyMs - performance.now()));
    timer.unref();
  }

  async function run(): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (isConnectionError(error)) log.debug({ error, queue }, "failed to look for stalled jobs");
      else log.warn({ error, queue }, "failed to look for stalled jobs");
    }
    // By the time of the response: the server ignores a call that comes less than `STALLED_MS` after the previous one.
    checkedAt = performance.now();
    if (!isStopped) checkLater();
  }

  function reportActivity(): void {
    const isIdle = performance.now() >= activeUntil;
    activeUntil = performance.now() + ACTIVE_MS;
    if (isIdle && !isStopped) checkLater();
  }

  return {
    reportActivity,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
