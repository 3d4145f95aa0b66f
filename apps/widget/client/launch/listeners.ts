import type { WidgetEvents } from "../connection/store-core.ts";

/** Events for the page. `WidgetEvents` lists their arguments; the first three have none. */
export type PageEvent = "ready" | "open" | "close" | keyof WidgetEvents;
export type PageListener = (detail: unknown) => void;

/** The listeners of the page. */
export interface Listeners {
  on: (name: unknown, listener: unknown) => void;
  off: (name: unknown, listener: unknown) => void;
  /** Calls the listeners. An error of one is reported and does not affect the others. */
  emit: (name: PageEvent, detail?: unknown) => void;
  clear: () => void;
}

/** Creates an empty set of listeners. `report` gets errors thrown by listeners. */
export function createListeners(report: (error: unknown) => void): Listeners {
  const byName = new Map<unknown, Set<PageListener>>();
  return {
    on(name, listener) {
      if (typeof listener !== "function") return;
      const those = byName.get(name) ?? new Set();
      byName.set(name, those.add(listener as PageListener));
    },
    off(name, listener) {
      byName.get(name)?.delete(listener as PageListener);
    },
    emit(name, detail) {
      // A copy: a listener may remove itself or add others.
      for (const listener of Array.from(byName.get(name) ?? [])) {
        try {
          listener(detail);
        } catch (error) {
          report(error);
        }
      }
    },
    clear: () => byName.clear(),
  };
}
