import type { QueueJobs, QueueName } from "@svc/contracts";
import type { QueueBackend, WakeUps } from "./backend.ts";
import type { Counters } from "./counters.ts";

/** A running consumer. */
export interface Consumer {
  /** Works on at most this share (above 0, at most 1) of its jobs at once from now on, on one at least. */
  setShare(share: number): void;
  /**
   * Accepts no further job and waits for the running ones. After `deadlineMs` their signals are aborted; jobs that are still
   * running a second later are left to the stalled check of another worker.
   */
  close(deadlineMs: number): Promise<void>;
}

/** One job to publish. */
export interface JobToPublish<Name extends QueueName> {
  /** While BullMQ knows a job of this id, publishing it again does nothing. No colon, not only digits. */
  id: string;
  data: QueueJobs[Name];
  /** From 1: the higher, the later. Absent: before all that have one, in the order of publication. */
  priority?: number;
}

/** The open queues of a process. */
export interface Queues {
  readonly backend: QueueBackend["name"];
  /** True when jobs can be published right now. */
  isUp(): boolean;
  /**
   * Publishes jobs; rejects with QueueDownError if the backend is unavailable or rejects them. Jobs that are published in one
   * turn of the event loop are sent together and fail together; then some of them may be stored all the same.
   */
  publish<Name extends QueueName>(name: Name, jobs: JobToPublish<Name>[]): Promise<void>;
  /**
   * Works on a queue as soon as it can be reached, through losses of the connection, until closed. The job of a handler that
   * rejects is retried; jobs may be duplicated, so handlers are idempotent.
   */
  consume<Name extends QueueName>(
    name: Name,
    handle: (data: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    options?: { concurrency?: number },
  ): Consumer;
  readonly wakeUps: WakeUps;
  /** Counters that all processes share. */
  readonly counters: Counters;
  /** Counts jobs that wait, are processed, or are delayed. */
  countJobs(name: QueueName): Promise<{ waiting: number; active: number; delayed: number }>;
  /** What is wrong with the server's settings, in words; null if nothing is, or if it does not respond within `limitMs`. */
  findPolicyProblem(limitMs: number): Promise<string | null>;
  close(): Promise<void>;
}
