import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Connection, Reach } from "../api/connection.ts";
import type { Live } from "../api/live.ts";
import type { OpenTexts } from "../i18n/open-texts.ts";
import type { Store } from "../ui/create-store.ts";
import type { Toasts } from "../ui/toasts.ts";
import type { CommandRegistry } from "./command-registry.ts";
import type { Preferences } from "./preferences.ts";
import type { KeptTexts } from "./safe-storage.ts";

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
