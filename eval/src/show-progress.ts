// Tells on stderr how far long work is.
const EVERY_MS = process.stderr.isTTY ? 200 : 5_000;

/** Calls `work` with each of the items, `atOnce` at a time, and answers what it answered in the order of the items. */
export async function forEachShown(what, items, work, { atOnce = 1 } = {}) {
  const results = Array.from({ length: items.length });
  const startedAt = performance.now();
  let shownAt = startedAt;
  let begun = 0;
  let done = 0;
  const show = (end) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stderr.write(`${process.stderr.isTTY ? "\r" : ""}${what} ${done} of ${items.length}, ${seconds} s${end}`);
  };
  const workOn = async () => {
    while (begun < items.length) {
      const index = begun;
      begun += 1;
      results[index] = await work(items[index]);
      done += 1;
      if (performance.now() - shownAt < EVERY_MS) continue;
      shownAt = performance.now();
      show(process.stderr.isTTY ? "" : "\n");
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
  show("\n");
  return results;
}
