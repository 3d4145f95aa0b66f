import type { Log } from "@svc/log";
import type { LeaseRef, Store } from "@svc/store";
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

/**
 * Renews the leases of all runs once a second, in one statement, and keeps what long runs have found. A
 * run whose lease is gone is aborted: another worker has its conversation, or a person has decided about it.
 */
export function createLeaseKeeper(store: Store, log: Log) {
  const kept = new Map<string, Kept>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

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
    if (mine.length === 0) return;
    try {
      const held = await store.chats.renewLeases(mine.map(({ lease }) => lease));
      for (const entry of mine) {
        if (held.has(entry.lease.leaseId)) await saveProgress(entry);
        else if (kept.has(entry.lease.leaseId)) entry.abort.abort();
      }
    } catch (error) {
      // The fence decides in the end: a run whose lease could not be renewed in time changes nothing.
      log.debug({ error }, "leases could not be renewed");
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
