import type { Log } from "@svc/log";
import type { ClaimedIngest, Store } from "@svc/store";

const RENEW_MS = 2_000;

/** Why the work on an ingest was broken off. */
export type BrokenOff = "lost" | "stopping";

/** Renews the leases of everything that is being read; what has lost its lease is broken off. */
export function keepIngestLeases(store: Store, log: Log) {
  const kept = new Map<string, { claim: ClaimedIngest; abort: AbortController }>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function renewAll(): Promise<void> {
    const mine = [...kept.values()];
    if (mine.length === 0) return;
    try {
      const held = await store.ingests.renewLeases(mine.map(({ claim }) => claim));
      for (const { claim, abort } of mine) if (!held.has(claim.leaseId)) abort.abort("lost" satisfies BrokenOff);
    } catch (error) {
      // The fence decides in the end: work whose lease could not be renewed in time changes nothing.
      log.debug({ error }, "leases on documents could not be renewed");
    }
  }

  const renewLater = () => {
    if (closed) return;
    timer = setTimeout(() => void renewAll().finally(renewLater), RENEW_MS);
  };
  renewLater();

  return {
    /** Keeps a lease until `drop`; the signal is aborted when it is lost, and at a stop. */
    keep(claim: ClaimedIngest): { signal: AbortSignal; drop(): void } {
      const abort = new AbortController();
      kept.set(claim.leaseId, { claim, abort });
      return { signal: abort.signal, drop: () => void kept.delete(claim.leaseId) };
    },

    /** Breaks off everything that is still being read. */
    abortAll(): void {
      for (const { abort } of kept.values()) abort.abort("stopping" satisfies BrokenOff);
    },

    close(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
}

export type IngestLeases = ReturnType<typeof keepIngestLeases>;
