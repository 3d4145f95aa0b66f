import type { Widget } from "./create-widget.ts";
import { createListeners } from "./listeners.ts";
import type { Listeners } from "./listeners.ts";
import { isTheme } from "./page-settings.ts";

/** `window.svcWidget`. No call throws, whatever a page passes. */
export interface PageApi {
  open: () => void;
  close: () => void;
  toggle: () => void;
  /** Removes the widget from the page; loading the same script again restores it. */
  destroy: () => void;
  /** Identifies the visitor. `userHash` is the lower-case hex HMAC-SHA256 of `userId` with the identity secret. */
  identify: (userId: unknown, userHash?: unknown) => void;
  /** Ends the conversation in this browser; the next one is another visitor's. */
  logout: () => void;
  setLocale: (locale: unknown) => void;
  setTheme: (theme: unknown) => void;
  /** Sends a message as the visitor. */
  send: (text: unknown) => void;
  /** Subscribes to `ready`, `open`, `close`, `message`, `unread` or `error`. */
  on: (name: unknown, listener: unknown) => void;
  off: (name: unknown, listener: unknown) => void;
}

/** Functions for the script itself. */
export interface PageHandle {
  api: PageApi;
  listeners: Listeners;
  /** Sets or removes the widget; queued calls are made now. */
  use: (widget: Widget | null) => void;
  current: () => Widget | null;
}

const MOST_KEPT = 100;

/**
 * Creates the page's object, without a widget yet: calls are queued until there is one. `report` gets errors thrown by
 * the page's listeners.
 */
export function createPageApi(report: (error: unknown) => void): PageHandle {
  const listeners = createListeners(report);
  let widget: Widget | null = null;
  let isReady = false;
  let kept: ((widget: Widget) => void)[] = [];
  listeners.on("ready", noteReady);

  function noteReady(): void {
    isReady = true;
  }

  function call(work: (widget: Widget) => void): void {
    if (widget !== null) work(widget);
    else if (kept.length < MOST_KEPT) kept.push(work);
  }

  const api: PageApi = {
    open: () => call((widget) => widget.open()),
    close: () => call((widget) => widget.close()),
    toggle: () => call((widget) => widget.toggle()),
    destroy() {
      kept = [];
      use(null);
      listeners.clear();
      listeners.on("ready", noteReady);
    },
    identify(userId, userHash) {
      // Many sites use numbers as ids.
      const id = typeof userId === "number" ? String(userId) : userId;
      if (typeof id !== "string" || id === "") return;
      call((widget) => widget.identify({ userId: id, ...(typeof userHash === "string" && { userHash }) }));
    },
    logout: () => call((widget) => widget.logout()),
    setLocale(locale) {
      if (typeof locale === "string") call((widget) => widget.setLocale(locale));
    },
    setTheme(theme) {
      if (isTheme(theme)) call((widget) => widget.setTheme(theme));
    },
    send(text) {
      if (typeof text === "string") call((widget) => widget.send(text));
    },
    on(name, listener) {
      listeners.on(name, listener);
      // Listeners added late are called too, but not before this call has returned.
      if (name !== "ready" || !isReady || typeof listener !== "function") return;
      const late = createListeners(report);
      late.on(name, listener);
      queueMicrotask(() => late.emit("ready"));
    },
    off: (name, listener) => listeners.off(name, listener),
  };

  function use(next: Widget | null): void {
    isReady = false;
    widget?.destroy();
    widget = next;
    if (next === null) return;
    for (const work of kept.splice(0)) work(next);
  }

  return { api, listeners, use, current: () => widget };
}
