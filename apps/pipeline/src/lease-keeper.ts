import type { Log } from "@svc/log";
import { LEASE_MS, isUnavailable } from "@svc/store";
import type { LeaseRef, Store } from "@svc/store";
import { count } from "@svc/telemetry";
import { progressOf } from "./run.ts";
import type { Run } from "./run.ts";

/** A lease that is kept while its run goes on. */
interface Kept {
  lease: LeaseRef;
  /** Whose findings are kept with its message; null for a run that keeps none. */
  run: Run | null;
  abort: AbortController;
  savedStages: number;
  /** In milliseconds of the process's clock. */
  begunAt: number;
}

const RENEW_MS = 1_000;
/** How long a renewal may take before it counts as late. */
const RENEWAL_TAKES_MS = 250;

/**
 * Renews the leases of all runs once a second, in one statement, and keeps what long runs have found. A
 * run whose lease is gone is aborted: another worker has its conversation, or a person has decided about it.
 */
export function createLeaseKeeper(store: Store, log: Log) {
  const kept = new Map<string, Kept>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** When the leases were last renewed, or there were none, in milliseconds of the process's clock. */
  let renewedAt = performance.now();

  /** Aborts a run whose lease is gone; one that could not renew it in time says so. */
  function lose({ lease, abort }: Kept, lateMs: number): void {
    abort.abort();
    if (lateMs < LEASE_MS) return;
    count("svc_lease_lapses_total", {});
    log.warn(
      { ticketId: lease.ticketId, lateMs: Math.round(lateMs) },
      "lease expired before it was renewed; another process has taken over the conversation",
    );
  }

  async function saveProgress({ lease, run, savedStages }: Kept): Promise<void> {
    if (run === null) return;
    const progress = progressOf(run);
    const stages = Object.keys(progress).length;
    if (stages === savedStages) return;
    await store.chats.saveProgress(lease.project, run.message.messageId, lease.leaseId, progress);
    const entry = kept.get(lease.leaseId);
    if (entry !== undefined) entry.savedStages = stages;
  }

  async function renewAll(): Promise<void> {
    const mine = [...kept.values()];
    const lateMs = performance.now() - renewedAt;
    if (mine.length === 0) {
      renewedAt = performance.now();
      return;
    }
    try {
      const held = await store.chats.renewLeases(mine.map(({ lease }) => lease));
      renewedAt = performance.now();
      for (const entry of mine) {
        if (held.has(entry.lease.leaseId)) await saveProgress(entry);
        else if (kept.has(entry.lease.leaseId)) lose(entry, lateMs);
      }
    } catch (error) {
      // While the store is unavailable, renewals fail in every process, however idle.
      if (isUnavailable(error)) renewedAt = performance.now();
      // The fence decides in the end: a run whose lease could not be renewed in time changes nothing.
      log.debug({ error }, "failed to renew leases");
    }
  }

  const renewLater = () => {
    if (closed) return;
    timer = setTimeout(() => void renewAll().finally(renewLater), RENEW_MS);
  };
  renewLater();

  return {
    /** Keeps a lease until `drop`; the signal is aborted when it is lost. */
    keep(lease: LeaseRef): { signal: AbortSignal; watch(run: Run): void; drop(): void } {
      const entry: Kept = {
        lease,
        run: null,
        abort: new AbortController(),
        savedStages: 0,
        begunAt: performance.now(),
      };
      kept.set(lease.leaseId, entry);
      return {
        signal: entry.abort.signal,
        watch(run) {
          entry.run = run;
        },
        drop() {
          kept.delete(lease.leaseId);
        },
      };
    },

    /** How long the run that began first has been going on; 0 when none does. */
    longestMs(): number {
      // A map gives its entries in the order in which they came.
      const [first] = kept.values();
      return first === undefined ? 0 : performance.now() - first.begunAt;
    },

    /** How late the renewal of leases is, in milliseconds. */
    renewalLateMs(): number {
      return Math.max(0, performance.now() - renewedAt - RENEW_MS - RENEWAL_TAKES_MS);
    },

    /** Aborts every run that still goes on. */
    abortAll(): void {
      for (const entry of kept.values()) entry.abort.abort();
    },

    close(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
}

export type LeaseKeeper = ReturnType<typeof createLeaseKeeper>;
