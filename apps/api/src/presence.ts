import type { Log } from "@svc/log";
import { newId } from "@svc/store";
import type { Store } from "@svc/store";

const BEAT_MS = 1_000;

/** This process as a holder of calls. */
export interface Presence {
  instance: string;
  end(): Promise<void>;
}

/**
 * Says every second that this process lives. What it has taken for its callers stays reserved for them as long as it
 * does; when it dies, everything goes back to the buffer within four seconds.
 */
export async function beginPresence(store: Store, log: Log): Promise<Presence> {
  const instance = newId();
  await store.instances.beat(instance, "api");
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const beat = async () => {
    try {
      await store.instances.beat(instance, "api");
    } catch (error) {
      log.debug({ error }, "the store was not told that this process lives");
    }
    if (!ended) timer = setTimeout(() => void beat(), BEAT_MS);
  };
  timer = setTimeout(() => void beat(), BEAT_MS);
  return {
    instance,
    async end() {
      ended = true;
      clearTimeout(timer);
      await store.instances.end(instance);
    },
  };
}
