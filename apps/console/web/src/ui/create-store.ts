import { useSyncExternalStore } from "react";

/** A value that components follow. */
export interface Store<Value> {
  get: () => Value;
  set: (next: Value | ((value: Value) => Value)) => void;
  subscribe: (listener: () => void) => () => void;
}

/** Makes a store with a first value. Listeners hear of each value that is another one than before. */
export function createStore<Value>(first: Value): Store<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      const made = typeof next === "function" ? (next as (value: Value) => Value)(value) : next;
      if (Object.is(made, value)) return;
      value = made;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store, followed. */
export function useStore<Value>(store: Pick<Store<Value>, "get" | "subscribe">): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
