import { createStore } from "./create-store.ts";
import type { Store } from "./create-store.ts";

/** Something that is told in passing. */
export interface Toast {
  id: number;
  kind: "done" | "fault";
  text: string;
  /** What can be done about it, as in undoing it. */
  action?: { label: string; run: () => void };
}

/** What is told now. */
export interface Toasts {
  shown: Store<readonly Toast[]>;
  show: (toast: Omit<Toast, "id">) => void;
  dismiss: (id: number) => void;
}

/** So many are shown at once, the newest. */
const SHOWN_MAX_COUNT = 4;

/** Makes the list of what is told, empty. */
export function createToasts(): Toasts {
  const shown = createStore<readonly Toast[]>([]);
  let lastId = 0;
  return {
    shown,
    show(toast) {
      lastId += 1;
      const added = { ...toast, id: lastId };
      shown.set((toasts) => [...toasts, added].slice(-SHOWN_MAX_COUNT));
    },
    dismiss: (id) => shown.set((toasts) => toasts.filter((toast) => toast.id !== id)),
  };
}
