import type { Db } from "./db.ts";
import type { ObjectStore } from "./platform/object-store.ts";
import type { StoredBytes } from "./platform/stored-bytes.ts";
import { isUnavailable } from "./db.ts";

/** State that the tables of one open store share: its pools by purpose (see `openStore`), and the process. */
export interface Context {
  /** Requests of people and of administration. */
  db: Db;
  /** Statements of every message. */
  hot: Db;
  /** Leases and other state that is recreated after a database crash, unless a statement waits for the disk itself. */
  leases: Db;
  /** Records of what callers have received. */
  notes: Db;
  /** Reports over many rows. */
  reports: Db;
  /** This process, as the holder of leases. */
  processId: string;
  storedBytes: StoredBytes;
  /** Store for the contents of files; PostgreSQL if null. */
  objects: ObjectStore | null;
}

/**
 * Returns the state that belongs to `owner`, such as a cache or a batcher of one open store; `create` is called on
 * first use.
 */
export function stateOf<Owner extends object, State>(create: (owner: Owner) => State): (owner: Owner) => State {
  const states = new WeakMap<Owner, State>();
  return (owner) => {
    const known = states.get(owner);
    if (known !== undefined) return known;
    const state = create(owner);
    states.set(owner, state);
    return state;
  };
}

type TableFunction<Owner> = (owner: Owner, ...args: never[]) => unknown;

/** The functions of a module without their first parameter. */
export type Bound<Owner, Module> = {
  [Name in keyof Module as Module[Name] extends TableFunction<Owner> ? Name : never]: Module[Name] extends (
    owner: Owner,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** Binds the functions `(db, …)` of a module to the database, or the context, that is their first argument. */
export function bind<Owner extends object, Module extends object>(owner: Owner, module: Module): Bound<Owner, Module> {
  const functions = Object.entries(module).filter(([, value]) => typeof value === "function");
  const bound = functions.map(([name, value]: [string, TableFunction<Owner>]) => [
    name,
    (...args: never[]) => value(owner, ...args),
  ]);
  return Object.fromEntries(bound) as Bound<Owner, Module>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface BatchOptions<Item> {
  maxItems?: number;
  lanes?: number;
  keyOf?: (item: Item) => string;
  isUnique?: boolean;
}

/**
 * Group commit: items that arrive while a statement is running go into the next one, so that concurrent callers share
 * one round trip and one commit. `run` gets the items in the order of the calls and returns results in the same order.
 * Two statements may run at the same time. If a statement fails because of its data, its items are run one by one, so
 * that a bad one affects no other; if the store is unavailable, all of them fail. Items with the same `keyOf` are never
 * in two statements at the same time, so that they keep their order. With `isUnique`, a statement has at most one of them.
 */
function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  options: BatchOptions<Item> = {},
): (item: Item) => Promise<Result> {
  const { maxItems = 200, lanes = 2, keyOf, isUnique = false } = options;
  const onTheWay = new Set<string>();
  let waiting: Waiting<Item, Result>[] = [];
  let busy = 0;
  let armed = false;

  async function runBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await runBatch([one]);
    }
  }

  function pump(): void {
    armed = false;
    while (busy < lanes) {
      const batch: Waiting<Item, Result>[] = [];
      const rest: Waiting<Item, Result>[] = [];
      const keys = new Set<string>();
      for (const one of waiting) {
        const key = keyOf?.(one.item);
        const isFree = key === undefined || !(onTheWay.has(key) || (isUnique && keys.has(key)));
        const isTaken = isFree && batch.length < maxItems;
        (isTaken ? batch : rest).push(one);
        if (isTaken && key !== undefined) keys.add(key);
      }
      if (batch.length === 0) return;
      waiting = rest;
      busy++;
      for (const key of keys) onTheWay.add(key);
      // runBatch never rejects: each item carries its own result.
      void runBatch(batch).finally(() => {
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

/** Maximum number of cached entries. */
const MAX_ENTRIES = 2_000;

/**
 * Caches results of look-ups for a short time; concurrent look-ups of one name are one. Misses and errors are not
 * cached, so that unknown names cannot evict known ones.
 */
export function createBriefCache<Value>(lifetimeMs: number) {
  const entries = new Map<string, { until: number; value: Promise<Value | null> }>();

  return {
    async get(name: string, find: () => Promise<Value | null>): Promise<Value | null> {
      const known = entries.get(name);
      if (known !== undefined && known.until > performance.now()) return known.value;
      const value = find();
      if (entries.size >= MAX_ENTRIES) entries.clear();
      const entry = { until: performance.now() + lifetimeMs, value };
      entries.set(name, entry);
      const forget = () => {
        if (entries.get(name) === entry) entries.delete(name);
      };
      try {
        const found = await value;
        if (found === null) forget();
        return found;
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}
