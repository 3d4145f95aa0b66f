import type { QueueJobs, QueueName } from "@svc/contracts";
import type { Log } from "@svc/log";
import { withinMs } from "@svc/primitives";
import type { Consumer, Queues } from "@svc/queue";
import { retryThroughOutage } from "@svc/store";
import type { Claim, HeldLease, LeaseManager } from "./lease-manager.ts";
import { reportWork, startSweeps } from "./start-sweeps.ts";
import type { DueStep, RareStep, SweepStep, Sweeps } from "./start-sweeps.ts";

/** Context of a claim function. */
export interface ClaimContext<OneClaim extends Claim> {
  /** Does claimed work and records its result; true if there may be more for the same target. */
  handle: (claim: OneClaim) => Promise<boolean>;
  /** Completes the job while its work continues. */
  releaseJob: () => void;
  /** True during shutdown: no further work is claimed. */
  isDraining: () => boolean;
}

/** A queue whose jobs lead to work of this kind. */
export interface ConsumedQueue<Name extends QueueName, Target> {
  queue: Name;
  /** Jobs that one process works on concurrently; that of the queue's backend if absent. */
  concurrency?: number;
  /** Limits what is processed concurrently, such as by project. */
  limit?: (process: (target: Target) => Promise<void>) => (target: Target) => Promise<void>;
}

/**
 * Meaning of an error of a piece of work. Without `counts` it is not an attempt: the work is released for another
 * claim.
 */
export type Failure =
  | { counts: false; delayMs: number }
  | {
      counts: true;
      /** Why, in words for an operator. */
      reason: string;
      /** True if another attempt would end the same. */
      isFinal?: boolean;
      /** Number of this attempt. */
      attempts: number;
      /** Least delay in milliseconds, if it is longer than that of the retry schedule. */
      minDelayMs?: number;
    };

/** When work is attempted again. */
export interface Retry {
  delayMs: number;
  /** False if this was no attempt, such as during an outage or a shutdown. */
  counts: boolean;
  /** Why, in words for an operator; null if it is no failure of this work. */
  reason: string | null;
  error: unknown;
}

/** Policy for work that fails. */
export interface FailurePolicy<OneClaim extends Claim> {
  /** Attempts after which work is given up. */
  maxAttempts: number;
  /** Delays in milliseconds after the first, second, … attempt; the last one repeats. */
  retry: readonly number[];
  /** Why claimed work is given up without an attempt, because of its expired leases; null if it can be attempted. */
  explainExpiredLeases?: (claim: OneClaim) => string | null;
  /** Classifies an error of `run`. */
  judge(error: unknown, claim: OneClaim): Failure;
  /** Releases the lease until the next attempt. Does nothing if the lease was lost. */
  retryLater(claim: OneClaim, retry: Retry): Promise<void>;
  /** Records the final failure. Does nothing if the lease was lost. True if there may be more for the same target. */
  giveUp(claim: OneClaim, reason: string, error: unknown): Promise<boolean>;
  /** Returns the fields that identify the work in the log. */
  facts(claim: OneClaim): object;
}

/** A kind of leased work: rows in the store say what is due, jobs only say that something is. */
export interface WorkDefinition<Name extends QueueName, Target, OneClaim extends Claim> {
  /** What is worked on, for the log: "documents". */
  name: string;
  consumes: readonly ConsumedQueue<Name, Target>[];
  /** Returns the targets of a job, which are worked on concurrently. */
  targets(job: QueueJobs[Name]): readonly Target[];
  leases: LeaseManager<NoInfer<OneClaim>>;
  /** Claims the next piece of work and has it handled; false if nothing is left for the target. */
  claim(target: Target, context: ClaimContext<OneClaim>): Promise<boolean>;
  /** Does the work and writes its result, fenced by the lease; true if there may be more for the same target. */
  run(claim: OneClaim, lease: HeldLease): Promise<boolean>;
  /** Absent if `run` records failures itself: then its errors fail the job. */
  failures?: FailurePolicy<OneClaim>;
  /**
   * Publishes what is due and has no job, in every replica: twice a second while the process has work, else every two
   * seconds. Not called while the queues are unavailable.
   */
  due?: DueStep;
  /** Further sweeps, also made while the queues are unavailable. */
  sweeps?: readonly (SweepStep | DueStep | RareStep)[];
  /** Listens for wake-ups until the returned function is called. `wakeSweeps` makes every rare sweep due. */
  listen?: (to: { process: (target: Target) => Promise<void>; wakeSweeps: () => void }) => () => void;
  /** How long a job waits for its work, which continues without it; absent: until the work ends. */
  jobWaitMs?: number;
  /** Times from the start of a shutdown: running work is aborted after the first, and no longer waited for after the second. */
  shutdown: { abortAfterMs: number; deadlineMs: number };
}

/** Work of one kind in this process. */
export interface Work<Target> {
  /** Works on a target until nothing is left. Idempotent: what is done or claimed by another process is skipped. */
  process(target: Target): Promise<void>;
  /** Starts to consume the queues and to sweep. */
  start(): void;
  /** Works on at most this share (above 0, at most 1) of its jobs at once from now on. */
  setShare(share: number): void;
  /** Milliseconds since the last sweep ended. */
  sinceSweepMs(): number;
  /** Claims nothing further, and aborts what is still running later. Safe to call twice. */
  drain(): void;
  isDraining(): boolean;
  /** Drains, and resolves once everything has ended or the deadline has passed. */
  stop(): Promise<void>;
}

/**
 * Defines a kind of leased work. Jobs may be duplicated or lost: the store's rows decide what is done, and a sweep announces
 * again what has no job, whose worker has crashed or whose next attempt is due.
 */
// oxlint-disable-next-line max-lines-per-function -- One life cycle whose functions share its state.
export function defineWork<Name extends QueueName, Target, OneClaim extends Claim>(
  { queues, log }: { queues: Queues; log: Log },
  definition: WorkDefinition<Name, Target, OneClaim>,
): Work<Target> {
  const { name, leases, failures, due, jobWaitMs, shutdown } = definition;
  const consumers: Consumer[] = [];
  const running = new Set<Promise<void>>();
  let sweeps: Sweeps | undefined;
  let endWakeUps: (() => void) | undefined;
  let isDraining = false;
  let drained: Promise<unknown> | undefined;
  let abortTimer: NodeJS.Timeout | undefined;

  async function handle(claim: OneClaim): Promise<boolean> {
    const lease = leases.hold(claim);
    try {
      const reason = failures?.explainExpiredLeases?.(claim) ?? null;
      if (failures !== undefined && reason !== null) return await failures.giveUp(claim, reason, null);
      return await definition.run(claim, lease);
    } catch (error) {
      if (failures === undefined) throw error;
      return await recordFailure(log, failures, { claim, lease, error });
    } finally {
      lease.drop();
    }
  }

  async function work(target: Target, releaseJob: () => void): Promise<void> {
    const context = { handle, releaseJob, isDraining: () => isDraining };
    let mayBeMore = true;
    while (mayBeMore && !context.isDraining()) mayBeMore = await definition.claim(target, context);
  }

  /** Waits for work at most as long as its job does. */
  async function waitForJob(done: Promise<void>, released: Promise<void>): Promise<void> {
    let isWaitedFor = true;
    const reported = done.catch((error: unknown) => {
      if (isWaitedFor) throw error;
      // Its lease expires, and a sweep finds it.
      log.warn({ error }, `${name}: processing failed; it will be retried`);
    });
    try {
      await withinMs(Promise.race([reported, released]), jobWaitMs ?? 0);
    } finally {
      isWaitedFor = false;
    }
  }

  function process(target: Target): Promise<void> {
    let releaseJob: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      releaseJob = resolve;
    });
    const done = work(target, releaseJob);
    running.add(done);
    reportWork();
    const forget = () => {
      running.delete(done);
      // What has failed is due again soon.
      reportWork();
    };
    done.then(forget, forget);
    return jobWaitMs === undefined ? done : waitForJob(done, released);
  }

  function drain(): void {
    if (isDraining) return;
    isDraining = true;
    if (shutdown.abortAfterMs === 0) leases.abortAll();
    else abortTimer = setTimeout(() => leases.abortAll(), shutdown.abortAfterMs);
    const ended = withinMs(
      Promise.allSettled(running).then(() => undefined),
      shutdown.deadlineMs,
    );
    drained = Promise.all([ended, ...consumers.map((consumer) => consumer.close(shutdown.deadlineMs))]);
  }

  return {
    process,

    start() {
      for (const { queue, concurrency, limit } of definition.consumes) {
        const limited = limit === undefined ? process : limit(process);
        const consume = async (job: QueueJobs[Name]) => {
          // A job that fails is retried once all of it has ended.
          const results = await Promise.allSettled(definition.targets(job).map(limited));
          const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
          if (errors.length > 1)
            throw new AggregateError(errors, `${name}: ${errors.length} targets of one job failed`);
          if (errors.length === 1) throw errors[0];
        };
        consumers.push(queues.consume(queue, consume, concurrency === undefined ? {} : { concurrency }));
      }
      const steps = due === undefined ? [] : [{ ...due, isDue: async () => queues.isUp() && due.isDue() }];
      const started = startSweeps(log, name, [...steps, ...(definition.sweeps ?? [])]);
      sweeps = started;
      endWakeUps = definition.listen?.({ process, wakeSweeps: () => started.wake() });
    },

    setShare(share) {
      for (const consumer of consumers) consumer.setShare(share);
    },

    sinceSweepMs: () => sweeps?.sinceRoundMs() ?? 0,
    drain,
    isDraining: () => isDraining,

    async stop() {
      drain();
      endWakeUps?.();
      await sweeps?.stop();
      await drained;
      clearTimeout(abortTimer);
    },
  };
}

/**
 * Records that work failed, also if the store is unavailable for a while: a lease that expires only because of an outage
 * would count as a worker that was too slow. True if there may be more for the same target.
 */
async function recordFailure<OneClaim extends Claim>(
  log: Log,
  failures: FailurePolicy<OneClaim>,
  { claim, lease, error }: { claim: OneClaim; lease: HeldLease; error: unknown },
): Promise<boolean> {
  // The error of aborted work is not its own. If another process has the work, nothing is written.
  const failure = lease.signal.aborted ? ({ counts: false, delayMs: 0 } as const) : failures.judge(error, claim);

  async function record(): Promise<boolean> {
    if (!failure.counts) {
      await failures.retryLater(claim, { ...failure, reason: null, error });
      return false;
    }
    const { reason, attempts } = failure;
    if (failure.isFinal === true || attempts >= failures.maxAttempts) return failures.giveUp(claim, reason, error);
    const scheduledMs = failures.retry[Math.min(attempts, failures.retry.length) - 1] ?? 0;
    await failures.retryLater(claim, {
      delayMs: Math.max(scheduledMs, failure.minDelayMs ?? 0),
      counts: true,
      reason,
      error,
    });
    return false;
  }

  try {
    return await retryThroughOutage(record, () => !lease.isLost() && !lease.isShutDown());
  } catch (recordError) {
    // The lease expires by itself, and a sweep finds the work.
    log.warn({ error: recordError, ...failures.facts(claim) }, "failed to record a failed attempt");
    return false;
  }
}
