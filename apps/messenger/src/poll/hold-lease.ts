import type { Log } from "@svc/log";
import { withinMs } from "@svc/primitives";
import { isUnavailable, newId } from "@svc/store";
import type { Store } from "@svc/store";
import { createLeaseManager } from "@svc/work";

/** Resolves after this time, or as soon as one of the signals is aborted. Leaves no listener and no timer behind. */
export function waitMs(ms: number, ...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", end);
      resolve();
    }
    for (const signal of signals) signal.addEventListener("abort", end, { once: true });
    if (signals.some(({ aborted }) => aborted)) end();
  });
}

/**
 * Returns a pause that doubles with each consecutive failure, with jitter so that replicas do not retry at the same
 * time.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return full * (0.5 + Math.random() / 2);
}

/** Lease duration in the store: if a lease is not renewed, another replica takes over after that. */
const LEASE_MS = 8_000;
const RENEW_MS = 2_000;
/** Polling interval of a standby replica. */
const POLL_MS = 1_000;
/** The work stops this long before its lease expires, because the clocks of the replica and of the database differ. */
const MARGIN_MS = 2_000;
/** Maximum duration of a call that acquires a lease. After a longer one, too little of the lease may be left. */
const ACQUIRE_MAX_MS = 1_000;
/** How long a stop waits for the aborted work, and then for the release of the lease. */
const END_MS = 2_000;
const RELEASE_MS = 800;

/** A lease that one replica holds at a time. */
interface BotLease {
  /** True while this replica certainly holds it. */
  isHeld: () => boolean;
  /** Aborts the work and releases the lease. */
  stop: () => Promise<void>;
}

/**
 * Acquires a lease, and keeps trying while another replica holds it. Calls `work` with a signal that is aborted when the
 * lease is lost, or may be; after the work has ended, the lease is acquired again. Never rejects.
 */
export function holdLease(
  { store, log }: { store: Pick<Store, "serviceLeases">; log: Log },
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): BotLease {
  const holder = newId();
  const stopping = new AbortController();
  /** By the monotonic clock of this process. */
  let heldUntil = 0;
  const isHeld = () => !stopping.signal.aborted && performance.now() < heldUntil;
  const leases = createLeaseManager(log, {
    name,
    // The lease manager aborts the work when less than a renewal interval is left.
    ms: LEASE_MS - MARGIN_MS + RENEW_MS,
    renewMs: RENEW_MS,
    isUnfenced: true,
    renewOne: take,
  });

  async function take(): Promise<boolean> {
    const askedAt = performance.now();
    const isTaken = await store.serviceLeases.claim(name, holder, LEASE_MS);
    heldUntil = isTaken ? askedAt + LEASE_MS - MARGIN_MS : 0;
    return isTaken;
  }

  async function acquire(): Promise<boolean> {
    const askedAt = performance.now();
    try {
      return (await take()) && performance.now() - askedAt < ACQUIRE_MAX_MS;
    } catch (error) {
      log[isUnavailable(error) ? "debug" : "warn"]({ error, lease: name }, "failed to acquire the bot lease");
      return false;
    }
  }

  async function runOnce(): Promise<void> {
    const lease = leases.hold({ leaseId: holder });
    log.info({ lease: name }, "this replica is now active for the bot");
    // The lease is not kept without work, which would stop all replicas.
    await work(lease.signal).catch((error: unknown) => {
      log.error({ error, lease: name }, "bot loop failed, restarting");
    });
    lease.drop();
    if (!stopping.signal.aborted) log.warn({ lease: name }, "lost the bot lease; standing by");
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if ((await acquire()) && !stopping.signal.aborted) await runOnce();
      await waitMs(POLL_MS, stopping.signal);
    }
  }

  const running = run();
  return {
    isHeld,
    async stop() {
      stopping.abort();
      leases.abortAll();
      // A store that does not respond delays neither; the lease expires.
      await withinMs(running, END_MS);
      const released = store.serviceLeases.release(name, holder).catch((error: unknown) => {
        log.debug({ error, lease: name }, "failed to release the bot lease");
      });
      await withinMs(released, RELEASE_MS);
    },
  };
}
