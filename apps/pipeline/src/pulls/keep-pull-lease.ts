import type { ModelPullProgress } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { ClaimedModelPull, Store } from "@svc/store";

/** How often there is news for whoever follows a pull. */
const NEWS_MS = 500;
/** How often a lease is renewed of which there is nothing new. */
const RENEW_MS = 1_000;

/** The lease on a pull, kept until it is dropped. */
export interface KeptPull {
  /** Aborted when the lease is lost: the pull was cancelled, or another worker has it. */
  lost: AbortSignal;
  /** What is noted with the next renewal. */
  note(progress: ModelPullProgress): void;
  /** True when more has come than any try before has brought. */
  hasGrown(): boolean;
  /** Notes what is left to note, and renews the lease no more. */
  drop(): Promise<void>;
}

/** Renews the lease on a pull, and notes with it how far the pull is: at most twice a second, however often it is told. */
export function keepPullLease({ store, log }: { store: Store; log: Log }, claim: ClaimedModelPull): KeptPull {
  const lost = new AbortController();
  let progress: ModelPullProgress = claim;
  let isNoted = true;
  let renewedAtMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();
  const hasGrown = () => progress.completedBytes > claim.completedBytes;

  async function renew(): Promise<void> {
    if (isNoted && performance.now() - renewedAtMs < RENEW_MS) return;
    isNoted = true;
    try {
      const isHeld = await store.modelPulls.keep(claim, progress, { hasGrown: hasGrown() });
      renewedAtMs = performance.now();
      if (!isHeld) lost.abort();
    } catch (error) {
      // Whoever claims it meanwhile joins the download at the server, which makes one of two.
      isNoted = false;
      log.debug({ error, catalogId: claim.catalogId }, "failed to renew the lease of a pull");
    }
  }

  const renewLater = () => {
    timer = setTimeout(() => {
      working = renew();
      void working.finally(() => timer !== undefined && renewLater());
    }, NEWS_MS);
  };
  renewLater();

  return {
    lost: lost.signal,
    note(told) {
      // What an earlier try has brought is still there: Ollama tells of it again, one layer after the other.
      const next = {
        status: told.status,
        completedBytes: Math.max(told.completedBytes, claim.completedBytes),
        totalBytes: Math.max(told.totalBytes ?? 0, claim.totalBytes ?? 0) || told.totalBytes,
      };
      const { status, completedBytes, totalBytes } = progress;
      const isSame = status === next.status && completedBytes === next.completedBytes && totalBytes === next.totalBytes;
      if (isSame) return;
      // The end of a download and the layer after it are told at once by Ollama, in steps that nobody can see.
      progress = next;
      isNoted = false;
    },
    hasGrown,
    async drop() {
      clearTimeout(timer);
      timer = undefined;
      await working;
      if (!isNoted && !lost.signal.aborted) await renew();
    },
  };
}
