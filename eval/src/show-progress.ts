// Prints the progress of long work to stderr.
const EVERY_MS = process.stderr.isTTY ? 200 : 5_000;

/** Calls `work` with each item in turn, and returns the results in order. */
export async function forEachShown<Item, Result>(
  what: string,
  items: readonly Item[],
  work: (item: Item) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const startedAt = performance.now();
  let shownAt = startedAt;
  const show = (end: string) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stderr.write(
      `${process.stderr.isTTY ? "\r" : ""}${what} ${results.length} of ${items.length}, ${seconds} s${end}`,
    );
  };
  for (const item of items) {
    results.push(await work(item));
    if (performance.now() - shownAt < EVERY_MS) continue;
    shownAt = performance.now();
    show(process.stderr.isTTY ? "" : "\n");
  }
  show("\n");
  return results;
}
