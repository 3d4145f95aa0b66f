import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { ServiceError } from "@svc/client";
import { Tooltip } from "radix-ui";
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { createConnection, createLive } from "../api/connection.ts";
import type { Reach } from "../api/connection.ts";
import { TextsContext } from "../i18n/texts.ts";
import { createCommandRegistry } from "../session/command-registry.ts";
import { clearDataOfOthers, openPreferences, openTexts } from "../session/preferences.ts";
import { openStorage, ServicesContext, TAB_NAME } from "../session/services.ts";
import type { Services } from "../session/services.ts";
import { createStore, useStore } from "../ui/create-store.ts";
import { createToasts } from "../ui/notice.tsx";
import { createAppRouter } from "./router.tsx";
import "./styles.css";

const STALE_MS = 20_000;
/** Time after which a server that does not respond is unavailable. */
const READ_TIMEOUT_MS = 5_000;
const RETRY_LONGEST_MS = 8_000;
/** Temporary errors: queries retry instead of failing. */
const isTransient = (error: unknown) =>
  error instanceof ServiceError && (error.code === "unreachable" || [429, 502, 503, 504].includes(error.status ?? 0));
const MS_PER_SECOND = 1_000;
const delayAfter = (failures: number, error: unknown) =>
  error instanceof ServiceError && error.retryAfterSeconds !== null
    ? error.retryAfterSeconds * MS_PER_SECOND
    : Math.min(500 * 2 ** failures, RETRY_LONGEST_MS);

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // The browser's online state does not apply to a server that may run on this machine.
      networkMode: "always",
      retry: (_, error) => isTransient(error),
      retryDelay: delayAfter,
    },
    // Changes are never repeated automatically.
    mutations: { networkMode: "always", retry: false },
  },
});
const storage = openStorage(() => localStorage);
const reach = createStore<Reach>("reached");
const connection = createConnection({
  fetch: (url, init) => fetch(url, init),
  onReach: reach.set,
  onSignedOut: () => queryClient.setQueryData(["session"], null),
});
// The reason of a dropped connection is unknown: the server may be unavailable, or the session may have ended, as after
// signing out in another browser. `connection` reports the response to this request, or its absence.
const live = createLive(`/events?tab=${TAB_NAME}`, () => {
  connection.send("GET", "/session", { timeoutMs: READ_TIMEOUT_MS }).catch(() => undefined);
});
const preferences = openPreferences(storage);
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no element for the app.");
const texts = await openTexts(preferences.get().language, navigator.languages).catch((error: unknown) => {
  // The texts could not be loaded, so this message is hard-coded.
  root.textContent =
    "The server is unavailable. Reload the page. · Der Server ist nicht erreichbar. Laden Sie die Seite neu.";
  throw error;
});
const services: Services = {
  connection,
  live,
  queryClient,
  reach,
  toasts: createToasts(),
  commands: createCommandRegistry(),
  preferences,
  storage,
  texts,
};
const router = createAppRouter(services);
// Toasts with an undo action must not be shown to the next operator.
clearDataOfOthers(queryClient, () => services.toasts.shown.set([]));

function App() {
  const { language } = useStore(preferences);
  const shown = useStore(texts.shown);
  useEffect(() => {
    texts
      .choose(language)
      .catch(() => services.toasts.show({ kind: "error", text: texts.shown.get().t("error.unreachable") }));
  }, [language]);
  return (
    <ServicesContext value={services}>
      <TextsContext value={shown}>
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
  // Without it the console works as well, but cannot be installed.
  navigator.serviceWorker.register("/sw.js").catch(() => undefined);
}

/** Time after which a page shows that it is loading. */
const MAX_SHELL_MS = 400;
// Until then the shell stays visible, so that nothing flickers.
await Promise.race([router.load(), new Promise((resolve) => setTimeout(resolve, MAX_SHELL_MS))]);
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
