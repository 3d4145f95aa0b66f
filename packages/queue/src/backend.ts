import type { RateLimiterStoreAbstract } from "rate-limiter-flexible";
import type { QueueName } from "@svc/contracts";
import { errorCode } from "@svc/primitives";

interface JobOptions {
  jobId: string;
  priority?: number;
}

/** The part of a BullMQ queue that this package uses, whatever its backend. */
export interface AnyQueue {
  add(name: string, data: unknown, options: JobOptions): Promise<unknown>;
  addBulk(jobs: { name: string; data: unknown; opts: JobOptions }[]): Promise<unknown>;
  getJobCounts(...types: ("waiting" | "prioritized" | "active" | "delayed")[]): Promise<Record<string, number>>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/** The part of a BullMQ worker that this package uses, whatever its backend. */
export interface AnyWorker {
  /** Maximum of concurrent jobs; may be changed while the worker runs. */
  concurrency: number;
  cancelAllJobs(reason?: string): void;
  waitUntilReady(): Promise<unknown>;
  pause(doNotWaitActive?: boolean): Promise<void>;
  close(force?: boolean): Promise<void>;
}

/** The workers of a consumer. */
export interface ConsumingWorker extends AnyWorker {
  /**
   * Looks for jobs whose worker no longer renews their lock, and makes those available that the previous call found
   * too; it has no effect within `stalledInterval` of another process's call.
   */
  checkStalled(): Promise<unknown>;
}

/** Function that a worker calls for each job; `signal` is aborted when the process must release the job. */
type Processor = (
  job: { data: unknown; id?: string | undefined },
  token?: string,
  signal?: AbortSignal,
) => Promise<void>;

/** Makes every process check for new work. A wake-up carries no data and may be lost. */
export interface WakeUps {
  /** Maximum length of an id, in characters. Ids contain no spaces. */
  readonly maxIdChars: number;
  /** Wakes up every process that listens on the topic for these ids. Never throws; polling covers a lost wake-up. */
  send(topic: string, ids: string[]): void;
  /**
   * Calls `check` with the ids of each wake-up on the topic, including those of this process, until the returned
   * function is called.
   */
  listen(topic: string, check: (ids: string[]) => void): () => void;
}

/** Options of a rate limiter on the queue server. */
interface LimiterOptions {
  keyPrefix: string;
  points: number;
  /** In seconds. */
  duration: number;
}

/** The part of a queue backend that counters need. */
export interface CounterBackend {
  isUp(): boolean;
  /** Creates a limiter whose counts all processes share; it rejects while the server is unavailable. */
  makeLimiter(options: LimiterOptions): RateLimiterStoreAbstract;
}

/** Storage of BullMQ's jobs: the only difference between running on Redis and on Postgres. */
export interface QueueBackend extends CounterBackend {
  readonly name: "redis" | "postgres";
  /** Resolves once the backend is reachable; BullMQ objects must not be created earlier. Rejects after a close. */
  whenReachable(): Promise<void>;
  makeQueue(name: QueueName): AnyQueue;
  makeWorker(name: QueueName, processor: Processor, concurrency: number): ConsumingWorker;
  /** Number of jobs from which one bulk call is cheaper than a call for each: measured per backend (docs/adr/0003). */
  readonly bulkFrom: number;
  /** Concurrency of one worker: measured per backend (docs/adr/0003). */
  readonly defaultConcurrency: number;
  readonly wakeUps: WakeUps;
  /** Describes what is wrong with the server's settings; null if nothing is. */
  findPolicyProblem(): Promise<string | null>;
  close(): Promise<void>;
}

/** Display names of the servers that store the queues. */
export const BACKEND_NAMES: Readonly<Record<QueueBackend["name"], string>> = { redis: "Redis", postgres: "PostgreSQL" };

/** Settings of every queue. */
export const QUEUE_OPTIONS = {
  // Jobs are removed when done: the source of truth is Postgres, and their id may be needed again.
  defaultJobOptions: {
    removeOnComplete: true,
    removeOnFail: true,
    attempts: 3,
    backoff: { type: "fixed", delay: 1_000 },
  },
  // BullMQ's events are not used: it stores as few as possible (by default 10,000 per queue).
  streams: { events: { maxLen: 1 } },
} as const;

/**
 * Least time between two checks for stalled jobs, in milliseconds. Only jobs whose worker is killed before it claims
 * their work wait for them; a sweep finds all other work.
 */
export const STALLED_MS = 6_000;

/** Settings of every worker. */
export const WORKER_OPTIONS = {
  // A job of a killed worker is given to another one without a limit, since Postgres counts the attempts.
  maxStalledCount: 1_000_000,
  lockDuration: 6_000,
  // The checks are those of `startStalledChecks`: a worker's own ones are as frequent while nothing happens.
  skipStalledCheck: true,
  stalledInterval: STALLED_MS,
  runRetryDelay: 500,
} as const;

/** Thrown when a job cannot be published now. The sweeper publishes it later. */
export class QueueDownError extends Error {
  constructor(message = "queue unavailable; the sweeper will publish the job later", options?: ErrorOptions) {
    super(message, options);
    this.name = "QueueDownError";
  }
}

const CONNECTION_CODES = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08|57P|53300)/;
const CONNECTION_MESSAGES =
  /Connection (?:is closed|terminated|ended|closed)|timeout exceeded|Query read timeout|Command timed out|Socket timeout|max retries per request|Stream isn't writeable|not queryable|after calling end/i;

/** Returns true if the error means that the queue server is unreachable, and not that one job has a problem. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  return (code !== undefined && CONNECTION_CODES.test(code)) || CONNECTION_MESSAGES.test(error.message);
}

/** Limits of one message of a backend. */
interface MessageLimits {
  maxIds: number;
  /** Total length of all ids, each with a separator. */
  maxChars: number;
}

/** Splits ids into parts that fit into one message each. */
function split(ids: Iterable<string>, { maxIds, maxChars }: MessageLimits): string[][] {
  const parts: string[][] = [];
  let chars = Infinity;
  for (const id of ids) {
    const last = parts.at(-1);
    if (last === undefined || last.length === maxIds || chars + id.length + 1 > maxChars) {
      parts.push([id]);
      chars = id.length + 1;
    } else {
      last.push(id);
      chars += id.length + 1;
    }
  }
  return parts;
}

/**
 * Collects the ids of one turn of the event loop, so that many wake-ups cost one message. Each call of `flush` is
 * within `limits`.
 */
export function createWakeUpBatch(flush: (topic: string, ids: string[]) => void, limits: MessageLimits) {
  const waiting = new Map<string, Set<string>>();
  let armed = false;

  function flushAll(): void {
    armed = false;
    for (const [topic, ids] of waiting) for (const part of split(ids, limits)) flush(topic, part);
    waiting.clear();
  }

  return (topic: string, ids: string[]): void => {
    const collected = waiting.get(topic) ?? new Set();
    for (const id of ids) collected.add(id);
    waiting.set(topic, collected);
    if (armed) return;
    armed = true;
    // After everything that can continue without waiting, such as all calls that shared a commit.
    process.nextTick(flushAll);
  };
}

/** The listeners of a process by topic. */
export function createListeners() {
  const byTopic = new Map<string, Set<(ids: string[]) => void>>();
  return {
    add(topic: string, wake: (ids: string[]) => void): () => void {
      const own = byTopic.get(topic) ?? new Set();
      own.add(wake);
      byTopic.set(topic, own);
      return () => own.delete(wake);
    },
    call(topic: string, ids: string[]): void {
      for (const wake of byTopic.get(topic) ?? []) wake(ids);
    },
  };
}
