import type { Log } from "@svc/log";
import type { ClaimedIngest, Store } from "@svc/store";

const RENEW_MS = 2_000;

/** Why the work on an ingest was broken off: another may have it by now, or this process stops. */
type BrokenOff = "lost" | "stopping";

/** A lease that is renewed until it is dropped. */
export interface KeptLease {
  /** Aborted when the lease is lost, and at a stop. */
  signal: AbortSignal;
  /** Which of the two it was; null while the signal is not aborted. */
  whyBrokenOff(): BrokenOff | null;
  drop(): void;
}

interface Kept {
  claim: ClaimedIngest;
  abort: AbortController;
  brokenOff: BrokenOff | null;
}

function breakOff(kept: Kept, why: BrokenOff): void {
  kept.brokenOff ??= why;
  kept.abort.abort(why);
}

/** Renews the leases of everything that is being read; what has lost its lease is broken off. */
export function keepIngestLeases(store: Store, log: Log) {
  const kept = new Map<string, Kept>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function renewAll(): Promise<void> {
    const mine = [...kept.values()];
    if (mine.length === 0) return;
    try {
      const held = await store.ingests.renewLeases(mine.map(({ claim }) => claim));
      for (const lease of mine) {
        if (!held.has(lease.claim.leaseId)) breakOff(lease, "lost");
      }
    } catch (error) {
      // The fence decides in the end: work whose lease could not be renewed in time changes nothing.
      log.debug({ error }, "failed to renew document leases");
    }
  }

  const renewLater = () => {
    if (closed) return;
    timer = setTimeout(() => void renewAll().finally(renewLater), RENEW_MS);
  };
  renewLater();

  return {
    /** Keeps a lease until `drop`. */
    keep(claim: ClaimedIngest): KeptLease {
      const lease: Kept = { claim, abort: new AbortController(), brokenOff: null };
      kept.set(claim.leaseId, lease);
      return {
        signal: lease.abort.signal,
        whyBrokenOff: () => lease.brokenOff,
        drop: () => void kept.delete(claim.leaseId),
      };
    },

    /** Breaks off everything that is still being read. */
    abortAll(): void {
      for (const lease of kept.values()) breakOff(lease, "stopping");
    },

    close(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
}

export type IngestLeases = ReturnType<typeof keepIngestLeases>;
