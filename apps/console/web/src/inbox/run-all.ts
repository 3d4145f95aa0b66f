/** So many calls are made at once: enough to be quick, and few enough to leave the server to others. */
const AT_ONCE = 4;

/** Does the same with each item. What fails does not stop the others. `onProgress` hears how many are over. */
export async function runAll<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  onProgress: (over: number) => void,
): Promise<{ done: Item[]; faults: unknown[] }> {
  const done: Item[] = [];
  const faults: unknown[] = [];
  const queue = [...items];
  async function takeOn(): Promise<void> {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item);
        done.push(item);
      } catch (fault) {
        faults.push(fault);
      }
      onProgress(done.length + faults.length);
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, takeOn));
  return { done, faults };
}
