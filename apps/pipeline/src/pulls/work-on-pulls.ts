import { PullError } from "@svc/agents";
import type { ModelCatalogue } from "@svc/agents";
import { MODEL_LIMITS } from "@svc/contracts";
import type { Log } from "@svc/log";
import { outlastOutage } from "@svc/store";
import type { ClaimedModelPull, Store } from "@svc/store";
import { keepPullLease } from "./keep-pull-lease.ts";

/** After the first, second, … try in a row that has brought nothing. */
const RETRY_DELAYS_MS = [1_000, 5_000, 15_000, 30_000];
const MAX_MS = MODEL_LIMITS.pullMaxHours * 3_600_000;

/** What pulling models needs. */
export interface PullContext {
  store: Store;
  log: Log;
  catalogue: ModelCatalogue;
}

/** The fault of a pull that has had all the time that it may take. */
function tooLong({ catalogId }: ClaimedModelPull): PullError {
  const text = `${catalogId} was not downloaded within ${MODEL_LIMITS.pullMaxHours} hours. Pull it again to resume.`;
  return new PullError("pull_failed", text, { isFinal: true });
}

/**
 * Makes the function that pulls what waits, one model after the other, until nothing does. Idempotent, so that jobs may
 * come twice or be lost: it takes whatever waits by a lease, and whoever has lost it changes nothing. A pull that is broken
 * off, by whatever, goes on where it was: the server keeps what it has. `stopping` breaks off what is being pulled, and
 * so does the end of the time that a pull may take.
 */
export function createPullWorker(
  context: PullContext,
  options: { stopping: AbortSignal; delaysMs?: readonly number[]; maxMs?: number },
) {
  const { store, log, catalogue } = context;
  const { stopping, delaysMs = RETRY_DELAYS_MS, maxMs = MAX_MS } = options;

  /** Writes a result, also if the store is unavailable for a while: otherwise the model would be pulled again. */
  const record = <Result>(write: () => Promise<Result>) => outlastOutage(write, () => !stopping.aborted);

  /** Notes why a try has failed: for ever when another one would not help or was the last, else until the next one. */
  async function settle(claim: ClaimedModelPull, error: unknown, hasGrown: boolean): Promise<void> {
    const isKnown = error instanceof PullError;
    if (!isKnown) log.error({ error, catalogId: claim.catalogId }, "model pull failed");
    const failure = isKnown ? error.message : "Internal error while pulling this model. See the log.";
    // Tries are counted since anything has come: a large model over a bad line takes as many as it takes.
    const tries = hasGrown ? 1 : claim.attempts;
    if ((isKnown && error.isFinal) || tries >= MODEL_LIMITS.pullMaxTries) {
      // What may pass by itself has not: another call must not take it for that, and begin again.
      const code = isKnown && error.isFinal ? error.code : "pull_failed";
      await record(() => store.modelPulls.finish(claim, { state: "failed", code, detail: failure }));
      log.warn({ catalogId: claim.catalogId, code, tries }, "model pull failed");
      return;
    }
    const delayMs = delaysMs[Math.min(tries, delaysMs.length) - 1] ?? 0;
    await record(() => store.modelPulls.retryLater(claim, { delayMs, failure, counts: true }));
    log.info({ catalogId: claim.catalogId, reason: failure, delayMs }, "model pull will be retried");
  }

  async function pull(claim: ClaimedModelPull): Promise<void> {
    const lease = keepPullLease(context, claim);
    const deadline = AbortSignal.timeout(Math.max(1, claim.startedAt.getTime() + maxMs - Date.now()));
    const signal = AbortSignal.any([lease.lost, stopping, deadline]);
    let fault: unknown = null;
    try {
      await catalogue.pull(claim.catalogId, { onProgress: (progress) => lease.note(progress), signal });
    } catch (error) {
      fault = deadline.aborted ? tooLong(claim) : (error ?? new Error("model pull interrupted"));
    }
    await lease.drop();
    // What was cancelled, or is another's by now, is no longer ours to end.
    if (lease.lost.aborted) return;
    if (fault === null) {
      await record(() => store.modelPulls.finish(claim, { state: "done" }));
      log.info({ catalogId: claim.catalogId }, "model pulled");
    } else if (stopping.aborted) {
      await store.modelPulls.retryLater(claim, { delayMs: 0, failure: null, counts: false });
    } else {
      await settle(claim, fault, lease.hasGrown());
    }
  }

  return async function workOnPulls(): Promise<void> {
    while (!stopping.aborted) {
      const claim = await store.modelPulls.claim();
      if (claim === null) return;
      await pull(claim);
    }
  };
}
