import { ServiceFault } from "@svc/client";

/** So many calls are made at once: enough to be quick, and few enough to leave the server to others. */
const AT_ONCE = 4;
/** How often a call is made again that the server has put off, as it does with too many in a minute. */
const TRIES = 5;

const pauseMs = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Does it again where the server says that there were too many calls, when it says that there may be more. */
async function patiently(work: () => Promise<void>, pause: (ms: number) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await work();
      return;
    } catch (fault) {
      if (!(fault instanceof ServiceFault) || fault.code !== "rate_limited" || tries === TRIES) throw fault;
      await pause((fault.retryAfterSeconds ?? 1) * 1_000);
    }
  }
}

/** Does the same with each item. What fails does not stop the others. `onProgress` hears how many are over. */
export async function runAll<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  onProgress: (over: number) => void,
  pause: (ms: number) => Promise<void> = pauseMs,
): Promise<{ done: Item[]; faults: { item: Item; fault: unknown }[] }> {
  const done: Item[] = [];
  const faults: { item: Item; fault: unknown }[] = [];
  const queue = [...items];
  async function takeOn(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      const current = item;
      try {
        await patiently(() => work(current), pause);
        done.push(current);
      } catch (fault) {
        faults.push({ item: current, fault });
      }
      onProgress(done.length + faults.length);
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, takeOn));
  return { done, faults };
}
