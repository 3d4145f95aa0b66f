import type { QueueName } from "@svc/contracts";
import { errorCode } from "@svc/primitives";
import type { RateLimiterStoreAbstract } from "rate-limiter-flexible";

interface JobOptions {
  jobId: string;
  priority?: number;
}

/** What we use of a BullMQ queue, whatever its backend. */
export interface AnyQueue {
  add(name: string, data: unknown, options: JobOptions): Promise<unknown>;
  addBulk(jobs: { name: string; data: unknown; opts: JobOptions }[]): Promise<unknown>;
  getJobCounts(...types: ("waiting" | "prioritized" | "active" | "delayed")[]): Promise<Record<string, number>>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/** What we use of a BullMQ worker, whatever its backend. */
export interface AnyWorker {
  /** Most jobs at once; may be changed while the worker runs. */
  concurrency: number;
  cancelAllJobs(reason?: string): void;
  waitUntilReady(): Promise<unknown>;
  pause(doNotWaitActive?: boolean): Promise<void>;
  close(force?: boolean): Promise<void>;
}

/** What a worker calls for each job; `signal` is aborted when the process has to let go of it. */
export type Processor = (
  job: { data: unknown; id?: string | undefined },
  token?: string,
  signal?: AbortSignal,
) => Promise<void>;

/** Says "look" to every process: a wake-up carries no truth and may be lost. */
export interface WakeUps {
  /** Length of the longest id that can be sent, in characters. An id has no spaces. */
  readonly maxIdChars: number;
  /** Tells every process that listens on the topic to look at these ids. Never throws; a lost wake-up is made good. */
  send(topic: string, ids: string[]): void;
  /** Calls `look` with the ids of every wake-up on the topic, from this process too, until the answer is called. */
  listen(topic: string, check: (ids: string[]) => void): () => void;
}

/** Options of a limiter on the server of the queues. */
export interface LimiterOptions {
  keyPrefix: string;
  points: number;
  /** In seconds. */
  duration: number;
}

/** What counters need of the server of the queues. */
export interface CounterBackend {
  isUp(): boolean;
  /** Makes a limiter whose counts all processes share; it rejects while the server is unavailable. */
  makeLimiter(options: LimiterOptions): RateLimiterStoreAbstract;
}

/** Where BullMQ keeps its jobs: the only difference between running on Redis and on Postgres. */
export interface QueueBackend extends CounterBackend {
  readonly name: "redis" | "postgres";
  /** Resolves once the backend can be reached; BullMQ objects must not be made before. Rejects when closed. */
  whenReachable(): Promise<void>;
  makeQueue(name: QueueName): AnyQueue;
  makeWorker(name: QueueName, processor: Processor, concurrency: number): AnyWorker;
  /** From how many jobs on one call for all of them costs less than one for each: measured per backend (docs/adr/0003). */
  readonly bulkFrom: number;
  /** Jobs that one worker should work on at once: measured per backend (docs/adr/0003). */
  readonly defaultConcurrency: number;
  readonly wakeUps: WakeUps;
  /** What is wrong with the server's settings, in words, or null. */
  findPolicyProblem(): Promise<string | null>;
  close(): Promise<void>;
}

/** Names of the servers that carry the queues, as people read them. */
export const BACKEND_NAMES: Readonly<Record<QueueBackend["name"], string>> = { redis: "Redis", postgres: "PostgreSQL" };

/** Settings of every queue. */
export const QUEUE_OPTIONS = {
  // Jobs are removed when done, because their truth is in Postgres and their id may be needed again.
  defaultJobOptions: {
    removeOnComplete: true,
    removeOnFail: true,
    attempts: 3,
    backoff: { type: "fixed", delay: 1_000 },
  },
  // Nobody reads BullMQ's events: it keeps as few as it can (by default 10,000 a queue).
  streams: { events: { maxLen: 1 } },
} as const;

/** Settings of every worker. */
export const WORKER_OPTIONS = {
  // A job of a killed worker is given to another one: as often as it takes, since tries are counted in Postgres.
  maxStalledCount: 1_000_000,
  lockDuration: 6_000,
  // Only jobs whose worker is killed before it claims their work wait for this check; a sweep finds all others.
  stalledInterval: 6_000,
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

/** True if an error means that the server of the queues cannot be reached, and not that one job has a problem. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  return (code !== undefined && CONNECTION_CODES.test(code)) || CONNECTION_MESSAGES.test(error.message);
}
