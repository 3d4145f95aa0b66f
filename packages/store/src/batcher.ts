import { stateOf } from "./context.ts";
import { isUnavailable } from "./db.ts";

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface BatchOptions<Item> {
  maxItems?: number;
  lanes?: number;
  keyOf?: (item: Item) => string;
}

/**
 * Group commit: what is asked for while a statement is on its way goes into the next one, so that concurrent callers
 * share one round trip and one commit. `run` gets the items in the order of the calls and answers in the same order.
 * Two statements may be on their way at once. When a statement fails for its data, its items are run one by one, so
 * that a bad one harms nobody else; when the store is unavailable, all of them fail. Items with the same `keyOf` are
 * never on their way in two statements at once, so that they keep the order of their calls.
 */
function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  options: BatchOptions<Item> = {},
): (item: Item) => Promise<Result> {
  const { maxItems = 200, lanes = 2, keyOf } = options;
  const onTheWay = new Set<string>();
  let waiting: Waiting<Item, Result>[] = [];
  let busy = 0;
  let armed = false;

  async function settleAll(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await settleAll([one]);
    }
  }

  function pump(): void {
    armed = false;
    while (busy < lanes) {
      const batch: Waiting<Item, Result>[] = [];
      const rest: Waiting<Item, Result>[] = [];
      for (const one of waiting) {
        const isFree = keyOf === undefined || !onTheWay.has(keyOf(one.item));
        (isFree && batch.length < maxItems ? batch : rest).push(one);
      }
      if (batch.length === 0) return;
      waiting = rest;
      busy++;
      const keys = keyOf === undefined ? [] : batch.map(({ item }) => keyOf(item));
      for (const key of keys) onTheWay.add(key);
      // settleAll never rejects: each item carries its own outcome.
      void settleAll(batch).finally(() => {
        busy--;
        for (const key of keys) onTheWay.delete(key);
        pump();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (armed) return;
      armed = true;
      setImmediate(pump);
    });
}

/**
 * Turns a function on many items into one on a single item; concurrent calls on the same database, or context, share a
 * statement (see `createBatcher`).
 */
export function batched<Owner extends object, Item, Result>(
  run: (owner: Owner, items: Item[]) => Promise<Result[]>,
  options: BatchOptions<Item> = {},
): (owner: Owner, item: Item) => Promise<Result> {
  const batcherOf = stateOf((owner: Owner) => createBatcher((items: Item[]) => run(owner, items), options));
  return (owner, item) => batcherOf(owner)(item);
}
