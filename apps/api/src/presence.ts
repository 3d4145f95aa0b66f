import type { Log } from "@svc/log";
import { ALIVE_MS, newId } from "@svc/store";
import type { Store } from "@svc/store";

const BEAT_MS = 1_000;
/** While the store is away it is told more often, so that it knows soon after it is back. */
const RETRY_MS = 200;
/** Between a look at the store and the answer that is made from it. */
const MARGIN_MS = 1_000;

/** This process as a holder of calls. */
export interface Presence {
  instance: string;
  /**
   * True while every other process still counts this one as alive, so that what it reads for its calls is its own.
   * False after a long pause or loss of the store: then others may have taken it.
   */
  isSure(): boolean;
  /** Says that this process lives where that is not sure: before it takes what others could take as well. */
  makeSure(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Says every second that this process lives. What it has taken for its callers stays reserved for them as long as it
 * does; when it dies, everything goes back to the buffer: within four seconds while another one has been heard all the time.
 */
export async function beginPresence(store: Pick<Store, "instances">, log: Log): Promise<Presence> {
  const instance = newId();
  let sureUntil = 0;
  const sayAlive = async () => {
    const saidAt = performance.now();
    await store.instances.beat(instance, "api");
    sureUntil = Math.max(sureUntil, saidAt + ALIVE_MS - MARGIN_MS);
  };
  await sayAlive();
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();
  const beat = async () => {
    let waitMs = BEAT_MS;
    try {
      await sayAlive();
    } catch (error) {
      waitMs = RETRY_MS;
      log.debug({ error }, "failed to renew this process's heartbeat");
    }
    if (!ended) beatIn(waitMs);
  };
  const beatIn = (ms: number) => {
    timer = setTimeout(() => {
      beating = beat();
    }, ms);
    timer.unref();
  };
  beatIn(BEAT_MS);
  return {
    instance,
    isSure: () => performance.now() < sureUntil,
    async makeSure() {
      if (performance.now() >= sureUntil) await sayAlive();
    },
    async end() {
      ended = true;
      clearTimeout(timer);
      // A heartbeat on its way would bring the row back.
      await beating;
      await store.instances.end(instance);
    },
  };
}
