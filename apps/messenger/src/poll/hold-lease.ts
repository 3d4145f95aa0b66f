import type { Log } from "@svc/log";
import { withinMs } from "@svc/primitives";
import { isUnavailable, newId } from "@svc/store";
import type { Store } from "@svc/store";
import { waitMs } from "./wait-ms.ts";

/** How long a lease lasts that is not renewed: another replica takes over after that. */
const LEASE_MS = 8_000;
const RENEW_MS = 2_000;
/** Who stands by looks so often. */
const LOOK_MS = 1_000;
/** The holder stops so long before its lease ends by its own clock, which is not the database's. */
const MARGIN_MS = 2_000;
/** How long a stop waits for what was broken off, and then for the lease to be given back. */
const END_MS = 2_000;
const RELEASE_MS = 800;

/** A place that one replica at a time has. */
export interface HeldLease {
  /** True while this replica has it for certain. */
  isHeld: () => boolean;
  /** Gives it back. */
  stop: () => Promise<void>;
}

/**
 * Tries to get a lease and to keep it, for as long as it takes. `work` is called when it is got, with a signal that is
 * aborted when the lease is lost or may be; it is asked for again once `work` has ended. Never rejects.
 */
export function holdLease(
  { store, log }: { store: Pick<Store, "serviceLeases">; log: Log },
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): HeldLease {
  const holder = newId();
  const stopping = new AbortController();
  /** By the monotonic clock, which nobody sets back. */
  let heldUntil = 0;
  const isHeld = () => !stopping.signal.aborted && performance.now() < heldUntil;

  async function take(): Promise<boolean> {
    const askedAt = performance.now();
    try {
      const isTaken = await store.serviceLeases.take(name, holder, LEASE_MS);
      heldUntil = isTaken ? askedAt + LEASE_MS - MARGIN_MS : 0;
      return isTaken;
    } catch (error) {
      log[isUnavailable(error) ? "debug" : "warn"]({ error, lease: name }, "failed to acquire the bot lease");
      return isHeld();
    }
  }

  /** Renews until the lease is lost, or may be. */
  async function keep(lost: AbortController): Promise<void> {
    while (isHeld() && !lost.signal.aborted) {
      await waitMs(RENEW_MS, stopping.signal, lost.signal);
      if (stopping.signal.aborted || lost.signal.aborted) break;
      // A store that does not answer must not keep this replica at work beyond its time.
      const timeout = new AbortController();
      await Promise.race([take(), waitMs(Math.max(0, heldUntil - performance.now()), timeout.signal)]);
      timeout.abort();
    }
    lost.abort();
  }

  /** Whatever `work` fails with, it is asked for again: a replica that only renewed would keep the others from it. */
  async function workOn(lost: AbortController): Promise<void> {
    try {
      await work(lost.signal);
    } catch (error) {
      log.error({ error, lease: name }, "bot loop failed, restarting");
    } finally {
      lost.abort();
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (await take()) {
        log.info({ lease: name }, "this replica is now active for the bot");
        const lost = new AbortController();
        await Promise.all([keep(lost), workOn(lost)]);
        if (!stopping.signal.aborted) log.warn({ lease: name }, "lost the bot lease; standing by");
      }
      await waitMs(LOOK_MS, stopping.signal);
    }
  }

  const running = run();
  return {
    isHeld,
    async stop() {
      stopping.abort();
      // A store that does not answer holds up neither; the lease ends by itself.
      await withinMs(running, END_MS);
      const released = store.serviceLeases.release(name, holder).catch((error: unknown) => {
        log.debug({ error, lease: name }, "failed to release the bot lease");
      });
      await withinMs(released, RELEASE_MS);
    },
  };
}
