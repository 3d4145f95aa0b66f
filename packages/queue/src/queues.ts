import type { QueueJobs, QueueName } from "@svc/contracts";
import type { QueueBackend, WakeUps } from "./backend.ts";
import type { Counters } from "./counters.ts";

/** A running consumer. */
export interface Consumer {
  /** Limits the consumer to this share (above 0, at most 1) of its concurrency, at least one job. */
  setShare(share: number): void;
  /**
   * Accepts no further job and waits for the running ones. After `deadlineMs` their signals are aborted; jobs that
   * still run a second later are left to the stalled check of another worker.
   */
  close(deadlineMs: number): Promise<void>;
}

/** One job to publish. */
export interface JobToPublish<Name extends QueueName> {
  /** While BullMQ has a job with this id, publishing it again has no effect. No colon, not only digits. */
  id: string;
  data: QueueJobs[Name];
  /**
   * From 1: higher values are processed later. Absent: before all jobs with a priority, in the order of publication.
   */
  priority?: number;
}

/** The open queues of a process. */
export interface Queues {
  readonly backend: QueueBackend["name"];
  /** Returns true if jobs can be published now. */
  isUp(): boolean;
  /**
   * Publishes jobs; rejects with QueueDownError if the backend is unavailable or rejects them. Jobs that are published
   * in one turn of the event loop are sent together and fail together; some of them may still be stored then.
   */
  publish<Name extends QueueName>(name: Name, jobs: JobToPublish<Name>[]): Promise<void>;
  /**
   * Consumes a queue as soon as it is reachable, across reconnects, until closed. The job of a handler that rejects is
   * retried; jobs may be duplicated, so handlers are idempotent.
   */
  consume<Name extends QueueName>(
    name: Name,
    handle: (data: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    options?: { concurrency?: number },
  ): Consumer;
  readonly wakeUps: WakeUps;
  /** Counters that all processes share. */
  readonly counters: Counters;
  /** Counts waiting, active and delayed jobs. */
  countJobs(name: QueueName): Promise<{ waiting: number; active: number; delayed: number }>;
  /**
   * Describes what is wrong with the server's settings; null if nothing is, or if it does not respond within `limitMs`.
   */
  findPolicyProblem(limitMs: number): Promise<string | null>;
  close(): Promise<void>;
}
