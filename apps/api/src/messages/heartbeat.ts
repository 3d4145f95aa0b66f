import type { Log } from "@svc/log";
import { ALIVE_MS, newId } from "@svc/store";
import type { Store } from "@svc/store";
import { msUntilTick } from "@svc/work";

/** Interval of heartbeats; the reports of the process's channels share their statement. */
export const HEARTBEAT_INTERVAL_MS = 1_000;
/** Interval while the store is unavailable: shorter, so that the heartbeat is stored soon after it recovers. */
const RETRY_MS = 200;
/** Time between a read of the store and the response that is made from it. */
const MARGIN_MS = 1_000;

/** The heartbeat of this process, which holds the calls of waiting callers. */
export interface Heartbeat {
  instance: string;
  /**
   * True while every other process counts this one as alive, so that the replies that it reads for its calls are
   * reserved for them. False after a long pause or an outage of the store: others may have claimed the replies.
   */
  isLeaseFresh(): boolean;
  /** True if the lease has been fresh without interruption since this time of the process's clock, in milliseconds. */
  isLeaseFreshSince(since: number): boolean;
  /** Renews a lease that is not fresh, before this process claims replies that others could claim as well. */
  ensureAlive(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the heartbeat of this process, once a second. Replies that its calls have read stay reserved for them while it
 * lives. If it dies, they return to the buffer: within four seconds if another process has been running all the time.
 */
export async function startHeartbeat(store: Pick<Store, "instances">, log: Log): Promise<Heartbeat> {
  const instance = newId();
  let freshUntil = 0;
  /** When the lease became fresh after it last was not. */
  let freshSince = Infinity;
  const beat = async () => {
    const startedAt = performance.now();
    await store.instances.beat(instance, "api");
    // Others may have counted this process as dead in between.
    if (performance.now() >= freshUntil) freshSince = performance.now();
    freshUntil = Math.max(freshUntil, startedAt + ALIVE_MS - MARGIN_MS);
  };
  await beat();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();
  const beatAndSchedule = async () => {
    let hasFailed = false;
    try {
      await beat();
    } catch (error) {
      hasFailed = true;
      log.debug({ error }, "failed to renew this process's heartbeat");
    }
    if (!stopped) schedule(hasFailed ? RETRY_MS : msUntilTick(HEARTBEAT_INTERVAL_MS));
  };
  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      beating = beatAndSchedule();
    }, ms);
    timer.unref();
  };
  schedule(msUntilTick(HEARTBEAT_INTERVAL_MS));
  return {
    instance,
    isLeaseFresh: () => performance.now() < freshUntil,
    isLeaseFreshSince: (since) => performance.now() < freshUntil && freshSince <= since,
    async ensureAlive() {
      if (performance.now() >= freshUntil) await beat();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      // A heartbeat in flight would insert the row again.
      await beating;
      await store.instances.end(instance);
    },
  };
}
