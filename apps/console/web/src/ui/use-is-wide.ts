import { useSyncExternalStore } from "react";

/** Same breakpoint as `lg:` in the styles: list and ticket are side by side. */
const query = globalThis.matchMedia("(min-width: 64rem)");

const subscribe = (listener: () => void) => {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
};

/** Returns true if the window has space for the list and a ticket. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
