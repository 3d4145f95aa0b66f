import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Connection, Reach } from "../api/connection.ts";
import type { Live } from "../api/live.ts";
import type { Store } from "../ui/create-store.ts";
import type { Toasts } from "../ui/toasts.tsx";
import type { CommandRegistry } from "./command-registry.ts";
import type { OpenTexts } from "./open-texts.ts";
import type { Preferences } from "./preferences.ts";

/** The part of a browser's storage that is used. */
export type KeptTexts = Pick<Storage, "getItem" | "setItem" | "removeItem"> & { keys: () => string[] };

/**
 * The browser's storage, or for as long as the page is open a replacement where the browser allows none. A full
 * storage keeps nothing new.
 */
export function openStorage(find: () => Storage): KeptTexts {
  try {
    const storage = find();
    storage.getItem("");
    return {
      getItem: (key) => storage.getItem(key),
      setItem(key, value) {
        try {
          storage.setItem(key, value);
        } catch {
          // Full: what is typed is still on the page.
        }
      },
      removeItem: (key) => storage.removeItem(key),
      keys: () => Object.keys(storage),
    };
  } catch {
    // Refused by the browser's settings.
    const texts = new Map<string, string>();
    return {
      getItem: (key) => texts.get(key) ?? null,
      setItem: (key, value) => void texts.set(key, value),
      removeItem: (key) => void texts.delete(key),
      keys: () => [...texts.keys()],
    };
  }
}

/** Names this tab of the browser, so that the server tells several of one person apart. Also without a secure context. */
export const TAB_NAME = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");

/** What the pages work with: made once, in main.tsx. */
export interface Services {
  connection: Connection;
  live: Live;
  queryClient: QueryClient;
  reach: Store<Reach>;
  toasts: Toasts;
  commands: CommandRegistry;
  preferences: Store<Preferences>;
  storage: KeptTexts;
  texts: OpenTexts;
}

export const ServicesContext = createContext<Services | null>(null);

/** What the pages work with. Throws outside of the app. */
export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error("useServices is for components within the app.");
  return services;
}
