import type { Db } from "./db.ts";
import type { ObjectStore } from "./platform/object-store.ts";
import type { StoredBytes } from "./platform/stored-bytes.ts";

/** What the tables of one open store share: its pools by purpose (see `openStore`), and who uses it. */
export interface Context {
  /** Requests of people and of administration. */
  db: Db;
  /** Statements of every message. */
  hot: Db;
  /** Leases and other state that is written again after a crash of the database. */
  leases: Db;
  /** Records of what callers have received. */
  notes: Db;
  /** Reports over many rows. */
  reports: Db;
  /** This process, as the holder of leases. */
  processId: string;
  storedBytes: StoredBytes;
  /** Where contents of files are moved to; null: they stay in PostgreSQL. */
  objects: ObjectStore | null;
}

/**
 * Returns the state that belongs to `owner`, such as a cache or a batcher of one open store; `create` makes it when it
 * is first used.
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

/** The functions of a module, without their first parameter. */
export type Bound<Owner, Module> = {
  [Name in keyof Module as Module[Name] extends TableFunction<Owner> ? Name : never]: Module[Name] extends (
    owner: Owner,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** Binds the functions `(db, …)` of a module to the database, or the context, that they work on. */
export function bind<Owner extends object, Module extends object>(owner: Owner, module: Module): Bound<Owner, Module> {
  const functions = Object.entries(module).filter(([, value]) => typeof value === "function");
  const bound = functions.map(([name, value]: [string, TableFunction<Owner>]) => [
    name,
    (...args: never[]) => value(owner, ...args),
  ]);
  return Object.fromEntries(bound) as Bound<Owner, Module>;
}
