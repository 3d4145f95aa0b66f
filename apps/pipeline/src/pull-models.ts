import { PullError } from "@svc/agents";
import type { ModelCatalogue } from "@svc/agents";
import { MODEL_LIMITS } from "@svc/contracts";
import type { ModelPullProgress } from "@svc/contracts";
import type { Log } from "@svc/log";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { MODEL_PULL_LEASE_MS, retryThroughOutage } from "@svc/store";
import type { ClaimedModelPull, Store } from "@svc/store";
import { createLeaseManager, defineWork } from "@svc/work";
import type { Failure, HeldLease, Work } from "@svc/work";

/** Models that one replica pulls at a time; others wait. */
const CONCURRENCY = 3;
/** Delays after the first, second, … attempt in a row without progress. */
const RETRY_DELAYS_MS = [1_000, 5_000, 15_000, 30_000];
const MAX_MS = MODEL_LIMITS.pullMaxHours * 3_600_000;
/** How often the progress of a pull is stored, for those who follow it. */
const PROGRESS_MS = 500;
/** How often the lease of a pull without progress is renewed. */
const RENEW_MS = 1_000;
/** A pull is aborted at once during shutdown, since the server keeps what it has; its release takes a moment. */
const SHUTDOWN = { abortAfterMs: 0, deadlineMs: 2_000 };
/** How often pulls that ended long ago are deleted. */
const PURGE_MS = 3_600_000;
/** Announcements of one sweep: a worker continues by itself from one model to the next. */
const SWEEP_LIMIT = 20;

/** Dependencies of pulling models. */
export interface PullContext {
  store: Store;
  queues: Queues;
  log: Log;
  catalogue: ModelCatalogue;
}

/** Progress of a pull in this process. */
interface PullProgress extends ModelPullProgress {
  isStored: boolean;
  renewedAt: number;
}

/**
 * Defines the work of pulling models, one after the other until none is left. An interrupted pull continues where it
 * was, since the server keeps its progress; only an attempt without progress counts.
 */
// oxlint-disable-next-line max-lines-per-function -- One definition of work: data and its short functions.
export function pullModels(
  { store, queues, log, catalogue }: PullContext,
  { delaysMs = RETRY_DELAYS_MS, maxMs = MAX_MS }: { delaysMs?: readonly number[]; maxMs?: number } = {},
): Work<void> {
  const progressOf = new Map<string, PullProgress>();
  const hasGrown = (claim: ClaimedModelPull) =>
    (progressOf.get(claim.leaseId)?.completedBytes ?? 0) > claim.completedBytes;
  /** Only attempts since the last progress count: a large model over a bad connection gets as many as it needs. */
  const attemptsOf = (claim: ClaimedModelPull) => (hasGrown(claim) ? 1 : claim.attempts);

  /** Renews the lease of a pull with its progress; false if it was cancelled or another worker has it. */
  async function storeProgress(claim: ClaimedModelPull): Promise<boolean> {
    const progress = progressOf.get(claim.leaseId);
    if (progress === undefined || (progress.isStored && performance.now() - progress.renewedAt < RENEW_MS)) return true;
    progress.isStored = true;
    try {
      const isHeld = await store.modelPulls.saveProgress(claim, progress, { hasGrown: hasGrown(claim) });
      progress.renewedAt = performance.now();
      return isHeld;
    } catch (error) {
      progress.isStored = false;
      throw error;
    }
  }

  const leases = createLeaseManager<ClaimedModelPull>(log, {
    name: "model pulls",
    ms: MODEL_PULL_LEASE_MS,
    renewMs: PROGRESS_MS,
    renewOne: storeProgress,
  });

  async function pull(claim: ClaimedModelPull, lease: HeldLease): Promise<boolean> {
    const deadline = AbortSignal.timeout(Math.max(1, claim.startedAt.getTime() + maxMs - Date.now()));
    const signal = AbortSignal.any([lease.signal, deadline]);
    const { status, completedBytes, totalBytes } = claim;
    const progress = { status, completedBytes, totalBytes, isStored: true, renewedAt: performance.now() };
    progressOf.set(claim.leaseId, progress);
    try {
      await catalogue.pull(claim.catalogId, { onProgress: (next) => addProgress(progress, next), signal });
    } catch (error) {
      if (deadline.aborted && !lease.signal.aborted) throw tooLong(claim);
      throw error;
    } finally {
      if (!progress.isStored && !lease.isLost()) await storeProgress(claim).catch(() => false);
    }
    // Otherwise the model would be pulled again.
    const finish = () => store.modelPulls.finish(claim, { state: "done" });
    if (await retryThroughOutage(finish, () => !lease.signal.aborted)) {
      log.info({ catalogId: claim.catalogId }, "model pulled");
    }
    return true;
  }

  function judge(error: unknown, claim: ClaimedModelPull): Failure {
    const isKnown = error instanceof PullError;
    if (!isKnown) log.error({ error, catalogId: claim.catalogId }, "model pull failed");
    const reason = isKnown ? error.message : "Internal error while pulling this model. See the log.";
    return { counts: true, reason, isFinal: isKnown && error.isFinal, attempts: attemptsOf(claim) };
  }

  return defineWork(
    { queues, log },
    {
      name: "model pulls",
      consumes: [{ queue: "model-pulls", concurrency: CONCURRENCY }],
      targets: () => [undefined],
      leases,
      async claim(_target, { handle }) {
        const claim = await store.modelPulls.claim();
        if (claim === null) return false;
        await handle(claim).finally(() => progressOf.delete(claim.leaseId));
        return true;
      },
      run: pull,
      failures: {
        maxAttempts: MODEL_LIMITS.pullMaxTries,
        retry: delaysMs,
        judge,
        async retryLater(claim, { delayMs, counts, reason }) {
          await store.modelPulls.retryLater(claim, { delayMs, failure: reason, counts });
          if (counts) log.info({ catalogId: claim.catalogId, reason, delayMs }, "model pull will be retried");
        },
        async giveUp(claim, detail, error) {
          // Temporary errors that persisted are stored as final: another call must not retry them from the start.
          const code = error instanceof PullError && error.isFinal ? error.code : "pull_failed";
          await store.modelPulls.finish(claim, { state: "failed", code, detail });
          log.warn({ catalogId: claim.catalogId, code, tries: attemptsOf(claim) }, "model pull failed");
          return true;
        },
        facts: ({ catalogId }) => ({ catalogId }),
      },
      due: {
        isDue: async () => (await store.dueWork.find()).modelPulls,
        run: async () => announceWork(queues, "model-pulls", await store.modelPulls.claimDue(SWEEP_LIMIT)),
      },
      sweeps: [{ everyMs: PURGE_MS, run: () => store.modelPulls.purge() }],
      shutdown: SHUTDOWN,
    },
  );
}

/** Returns the error of a pull that exceeded its time limit. */
function tooLong({ catalogId }: ClaimedModelPull): PullError {
  const text = `${catalogId} was not downloaded within ${MODEL_LIMITS.pullMaxHours} hours. Pull it again to resume.`;
  return new PullError("pull_failed", text, { isFinal: true });
}

/**
 * Adds the progress that Ollama reports. It reports the progress of earlier attempts again, one layer after the
 * other.
 */
function addProgress(progress: PullProgress, reported: ModelPullProgress): void {
  const { status, completedBytes, totalBytes } = progress;
  progress.status = reported.status;
  progress.completedBytes = Math.max(completedBytes, reported.completedBytes);
  progress.totalBytes = Math.max(reported.totalBytes ?? 0, totalBytes ?? 0) || reported.totalBytes;
  const isSame =
    status === progress.status && completedBytes === progress.completedBytes && totalBytes === progress.totalBytes;
  if (!isSame) progress.isStored = false;
}
