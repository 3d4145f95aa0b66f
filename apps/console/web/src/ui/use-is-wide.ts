import { useSyncExternalStore } from "react";

/** As `lg:` in the styles: list and ticket stand beside each other. */
const query = globalThis.matchMedia("(min-width: 64rem)");

const subscribe = (listener: () => void) => {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
};

/** True where the window has room for the list and a ticket. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
