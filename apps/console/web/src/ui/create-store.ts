import { useSyncExternalStore } from "react";

/** A value to which components can subscribe. */
export interface Store<Value> {
  get: () => Value;
  set: (next: Value | ((value: Value) => Value)) => void;
  subscribe: (listener: () => void) => () => void;
}

/** Creates a store with an initial value. Listeners are called for each different value. */
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

/** Returns the value of a store, and subscribes to it. */
export function useStore<Value>(store: Pick<Store<Value>, "get" | "subscribe">): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
