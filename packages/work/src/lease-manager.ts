import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";

/** Work that a process has claimed. */
export interface Claim {
  /** Identifies the lease: only its holder may write results. */
  leaseId: string;
}

/** How the leases of one kind of work are renewed. */
export interface LeaseOptions<OneClaim extends Claim> {
  /** What is leased, for the log: "documents". */
  name: string;
  /** Lease duration in milliseconds, as the store sets it. */
  ms: number;
  /** Interval of renewals in milliseconds. */
  renewMs: number;
  /** Renews leases together, and returns the ids of those that are still held. Absent if no work outlasts its lease. */
  renew?: (claims: readonly OneClaim[]) => Promise<ReadonlySet<string>>;
  /** Renews one lease, in place of `renew`; false if it is lost. */
  renewOne?: (claim: OneClaim) => Promise<boolean>;
  /** Called after each renewal with what is still held. */
  onRenewed?: (claims: readonly OneClaim[]) => Promise<void>;
  /** Called if another process has taken over work whose lease could not be renewed in time. */
  onExpired?: (claim: OneClaim, lateMs: number) => void;
  /**
   * True if work has effects that the store cannot reject, such as a sent message: then it is aborted before its lease can
   * expire, and a renewal that does not return delays no other renewal.
   */
  isUnfenced?: boolean;
}

/** A lease that is renewed until it is dropped. */
export interface HeldLease {
  /** Aborted if the lease is lost, or may be, and during shutdown. */
  readonly signal: AbortSignal;
  /** True if another process has the work, or the work is no longer wanted. */
  isLost(): boolean;
  /** True if a shutdown has aborted the work. */
  isShutDown(): boolean;
  /** Aborts the work after a write was rejected because of its lease. */
  lose(): void;
  /** Ends the renewals. */
  drop(): void;
}

interface Held<OneClaim extends Claim> {
  claim: OneClaim;
  abort: AbortController;
  isLost: boolean;
  isShutDown: boolean;
  /** Times of the process's clock, in milliseconds. */
  startedAt: number;
  heldUntil: number;
}

/** Delay after which a renewal counts as late. */
const RENEWAL_TAKES_MS = 250;

/**
 * Renews the leases of all work of one kind, in one call per interval. Work whose lease is lost is aborted: another process
 * has it, or a person has made it unnecessary.
 */
// oxlint-disable-next-line max-lines-per-function -- One manager whose functions share the leases held.
export function createLeaseManager<OneClaim extends Claim>(log: Log, options: LeaseOptions<OneClaim>) {
  const { name, ms, renewMs, renew, renewOne, onRenewed, onExpired, isUnfenced = false } = options;
  const held = new Map<string, Held<OneClaim>>();
  /** When the leases were last renewed, or there were none, in milliseconds of the process's clock. */
  let renewedAt = 0;
  /** When the last lease was dropped, likewise. */
  let droppedAt = -Infinity;
  let isRenewing = false;
  /** Runs while there are leases. */
  let timer: NodeJS.Timeout | undefined;

  function lose(entry: Held<OneClaim>): void {
    entry.isLost = true;
    entry.abort.abort();
  }

  /** Aborts work whose lease could expire before the next renewal. */
  function abortUnrenewed(): void {
    const now = performance.now();
    for (const entry of held.values()) if (now > entry.heldUntil - renewMs) entry.abort.abort();
  }

  async function renewEach(renewLease: NonNullable<typeof renewOne>): Promise<void> {
    await Promise.all(
      [...held.values()].map(async (entry) => {
        const askedAt = performance.now();
        try {
          if (await renewLease(entry.claim)) entry.heldUntil = askedAt + ms;
          else lose(entry);
        } catch (error) {
          log.debug({ error }, `failed to renew the lease of ${name}`);
        }
      }),
    );
  }

  async function renewAll(renewLeases: NonNullable<typeof renew>): Promise<void> {
    const entries = [...held.values()];
    const askedAt = performance.now();
    const lateMs = askedAt - renewedAt;
    try {
      const ids = await renewLeases(entries.map(({ claim }) => claim));
      renewedAt = performance.now();
      for (const entry of entries) {
        if (ids.has(entry.claim.leaseId)) entry.heldUntil = askedAt + ms;
        else if (held.has(entry.claim.leaseId)) {
          lose(entry);
          if (lateMs >= ms) onExpired?.(entry.claim, lateMs);
        }
      }
      await onRenewed?.(entries.filter(({ isLost }) => !isLost).map(({ claim }) => claim));
    } catch (error) {
      // While the store is unavailable, renewals fail in every process, however idle.
      if (isUnavailable(error)) renewedAt = performance.now();
      // Work whose results are fenced continues: if its lease has expired, its results are rejected.
      log.debug({ error }, `failed to renew the leases of ${name}`);
    }
  }

  function tick(): void {
    if (isUnfenced || !isRenewing) {
      isRenewing = true;
      const renewing = renew === undefined ? renewOne && renewEach(renewOne) : renewAll(renew);
      void renewing?.finally(() => {
        isRenewing = false;
      });
    }
    if (isUnfenced) abortUnrenewed();
  }

  function start(): void {
    renewedAt = performance.now();
    if (renew !== undefined || renewOne !== undefined) timer = setInterval(tick, renewMs).unref();
  }

  function drop(claim: OneClaim): void {
    held.delete(claim.leaseId);
    if (held.size > 0) return;
    droppedAt = performance.now();
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** Renews a lease until `drop`. */
    hold(claim: OneClaim): HeldLease {
      if (held.size === 0) start();
      const now = performance.now();
      const entry = {
        claim,
        abort: new AbortController(),
        isLost: false,
        isShutDown: false,
        startedAt: now,
        heldUntil: now + ms,
      };
      held.set(claim.leaseId, entry);
      return {
        signal: entry.abort.signal,
        isLost: () => entry.isLost,
        isShutDown: () => entry.isShutDown,
        lose: () => lose(entry),
        drop: () => drop(claim),
      };
    },

    /** How long the work that started first has been running, in milliseconds; 0 if there is none. */
    longestMs(): number {
      // A map iterates in insertion order.
      const [first] = held.values();
      return first === undefined ? 0 : performance.now() - first.startedAt;
    },

    /** How long nothing has been running, in milliseconds; 0 if something is. */
    idleMs: (): number => (held.size > 0 ? 0 : performance.now() - droppedAt),

    /** How late the renewal of leases is, in milliseconds. */
    renewalLateMs(): number {
      return held.size === 0 ? 0 : Math.max(0, performance.now() - renewedAt - renewMs - RENEWAL_TAKES_MS);
    },

    /** Aborts all work that is still running, for a shutdown. */
    abortAll(): void {
      for (const entry of held.values()) {
        entry.isShutDown = true;
        entry.abort.abort();
      }
    },
  };
}

/** Renews the leases of one kind of work. */
export type LeaseManager<OneClaim extends Claim> = ReturnType<typeof createLeaseManager<OneClaim>>;
