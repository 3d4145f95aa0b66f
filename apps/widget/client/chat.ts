import type { WidgetConfigAnswer } from "@svc/contracts";
import { createWidgetStore } from "./connection/create-widget-store.ts";
import type { ManagedStore } from "./connection/create-widget-store.ts";
import type { WidgetEvents } from "./connection/store-core.ts";
import { openSocket } from "./connection/open-socket.ts";
import type { OpenSocket } from "./connection/open-socket.ts";
import type { Identity } from "./launch/page-settings.ts";
import type { Texts } from "./locales/create-texts.ts";
import { mountPanel } from "./panel/mount-panel.tsx";
import type { PanelOptions } from "./panel/mount-panel.tsx";
import type { Storage } from "./storage.ts";

/** Appearance and language of the panel. */
export interface Appearance {
  texts: Texts;
  /** BCP 47. */
  locale: string;
  dir: "ltr" | "rtl";
  theme: "auto" | "light" | "dark";
  /** `#rrggbb` */
  accent: string;
  position: "bottom-right" | "bottom-left";
}

/** Options from the launcher. */
export interface ChatOptions {
  base: string;
  apiKey: string;
  config: WidgetConfigAnswer;
  storage: Storage;
  /** What only this tab keeps. */
  tab: Storage;
  identity: Identity | null;
  root: ShadowRoot;
  launcher: HTMLElement;
  appearance: Appearance;
  /** Loads the socket over HTTP long polling; resolves to null if it cannot be loaded. */
  loadHttp: () => Promise<{ openSocket: OpenSocket } | null>;
  loadPart: PanelOptions["loadPart"];
  emit: <Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]) => void;
}

/** The conversation with its panel. */
export interface Chat {
  store: ManagedStore;
  /** Applies another language or theme chosen by the site. */
  update: (appearance: Appearance) => void;
  /** Removes the panel and disconnects. */
  stop: () => void;
}

/** Starts the conversation of this page, behind a closed panel. The launcher loads this module on demand. */
export function startChat({ root, launcher, appearance: firstAppearance, ...options }: ChatOptions): Chat {
  let appearance = firstAppearance;
  const store = createWidgetStore({
    ...options,
    openSocket,
    locale: () => appearance.locale,
    page: () => ({ url: location.href, title: document.title }),
    locks: "locks" in navigator ? navigator.locks : null,
  });
  const panel = mountPanel(store, { root, launcher, loadPart: options.loadPart, ...appearance });

  // A page may be restored from the back/forward cache, which an open connection would prevent.
  const onShow = ({ persisted }: PageTransitionEvent) => {
    if (persisted) store.resume();
  };
  const onBack = () => {
    if (document.visibilityState === "visible") store.retryNow();
  };
  const ending = new AbortController();
  addEventListener("pagehide", store.suspend, ending);
  addEventListener("pageshow", onShow, ending);
  addEventListener("online", store.retryNow, ending);
  addEventListener("offline", store.restart, ending);
  document.addEventListener("visibilitychange", onBack, ending);

  return {
    store,
    update(next) {
      appearance = next;
      panel.update(next);
    },
    stop() {
      ending.abort();
      panel.unmount();
      store.stop();
    },
  };
}
