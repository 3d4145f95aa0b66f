import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { ServiceFault } from "@svc/client";
import { Tooltip } from "radix-ui";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { createConnection } from "../api/connection.ts";
import type { Reach } from "../api/connection.ts";
import { createLive } from "../api/live.ts";
import { ENGLISH, loadTexts } from "../i18n/languages.ts";
import type { Texts } from "../i18n/create-texts.ts";
import { TextsContext } from "../i18n/use-texts.ts";
import { createStore, useStore } from "../ui/create-store.ts";
import { createToasts } from "../ui/toasts.ts";
import { createCommandRegistry } from "./command-registry.ts";
import { openPreferences } from "./preferences.ts";
import { createAppRouter } from "./router.tsx";
import { openStorage } from "./safe-storage.ts";
import { ServicesContext } from "./services.ts";
import type { Services } from "./services.ts";
import { TAB_NAME } from "./tab-name.ts";
import "./styles.css";

const STALE_MS = 20_000;
const RETRY_LONGEST_MS = 8_000;
/** Faults that pass by themselves: what is shown waits for the server instead of giving up. */
const isPassing = (fault: unknown) =>
  fault instanceof ServiceFault && (fault.code === "unreachable" || [429, 502, 503, 504].includes(fault.status ?? 0));
const MS_PER_SECOND = 1_000;
const delayAfter = (failures: number, fault: unknown) =>
  fault instanceof ServiceFault && fault.retryAfterSeconds !== null
    ? fault.retryAfterSeconds * MS_PER_SECOND
    : Math.min(500 * 2 ** failures, RETRY_LONGEST_MS);

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // The browser's idea of being online says nothing of a server that may run on this machine.
      networkMode: "always",
      retry: (_, fault) => isPassing(fault),
      retryDelay: delayAfter,
    },
    // Nothing that changes something is done twice.
    mutations: { networkMode: "always", retry: false },
  },
});
const storage = openStorage(() => localStorage);
const reach = createStore<Reach>("reached");
const live = createLive(`/events?tab=${TAB_NAME}`, () => reach.set("away"));
const connection = createConnection({
  fetch: (url, init) => fetch(url, init),
  onReach: reach.set,
  onSignedOut: () => queryClient.setQueryData(["session"], null),
});
const services: Services = {
  connection,
  live,
  queryClient,
  reach,
  toasts: createToasts(),
  commands: createCommandRegistry(),
  preferences: openPreferences(storage),
  storage,
};
const router = createAppRouter(services);

function App({ first }: { first: Texts }) {
  const { language } = useStore(services.preferences);
  const [texts, setTexts] = useState(first);
  useEffect(() => {
    let isWanted = true;
    loadTexts(language, navigator.languages).then(
      (loaded) => isWanted && setTexts(loaded),
      () => services.toasts.show({ kind: "fault", text: texts.t("fault.unreachable") }),
    );
    return () => {
      isWanted = false;
    };
    // The texts before are only what the fault is told in.
  }, [language]);
  return (
    <ServicesContext value={services}>
      <TextsContext value={texts}>
        <QueryClientProvider client={queryClient}>
          <Tooltip.Provider delayDuration={500} skipDelayDuration={200}>
            <RouterProvider router={router} />
          </Tooltip.Provider>
        </QueryClientProvider>
      </TextsContext>
    </ServicesContext>
  );
}

document.addEventListener("keydown", (event) => {
  services.commands.press(event, services.preferences.get().hasSingleKeys);
});

if ("serviceWorker" in navigator && import.meta.env.PROD) {
  // Without it the console works as well; it cannot be installed then.
  navigator.serviceWorker.register("/sw.js").catch(() => undefined);
}

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no element for the app.");
// Where the texts cannot be had, English is there.
const first = await loadTexts(services.preferences.get().language, navigator.languages).catch(() => ENGLISH);
createRoot(root).render(
  <StrictMode>
    <App first={first} />
  </StrictMode>,
);
