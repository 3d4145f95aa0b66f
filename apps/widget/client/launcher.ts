import { CALLS, readSettings } from "./launch/page-settings.ts";
import { createWidget } from "./launch/create-widget.ts";
import { createPageApi } from "./launch/page-api.ts";
import type { PageApi } from "./launch/page-api.ts";

/** Property with which the page's object mounts a script element: a page may contain several, or load one again. */
const MOUNT = Symbol.for("svcWidget");

type Mounted = PageApi & { [MOUNT]: (script: HTMLScriptElement | null) => void };
/** A stub that a page may define before this script loads: its queued calls, in order. */
type Stub = { q?: unknown };

const warn = (text: string) => {
  // oxlint-disable-next-line no-console -- A warning for the owner of a site with an invalid tag.
  console.warn(`[svc-widget] ${text}`);
};

/** Returns the running script element; if a page has loaded the script in another way, the marked one. */
function findScript(): HTMLScriptElement | null {
  const { currentScript } = document;
  return currentScript instanceof HTMLScriptElement
    ? currentScript
    : document.querySelector<HTMLScriptElement>("script[data-svc-widget]");
}

function install(): Mounted {
  const page = createPageApi((error) => {
    // oxlint-disable-next-line no-console -- An error of the page's own listener, which its owner needs to see.
    console.error(error);
  });

  function mount(script: HTMLScriptElement | null): void {
    // Removed from the page before it loaded: the page no longer wants the widget.
    if (script?.isConnected === false) return;
    const settings = script === null ? null : readSettings(script);
    if (settings === null)
      return warn('the script tag has no data-api-key: add data-svc-widget data-api-key="…" to it.');
    const before = page.current();
    // A second tag of the same widget, or the same one added again, changes nothing.
    if (before !== null && JSON.stringify(before.settings) === JSON.stringify(settings)) return;
    page.use(createWidget(settings, page.listeners, warn));
  }

  return Object.assign(page.api, { [MOUNT]: mount });
}

function replay(api: PageApi, stub: Stub | undefined): void {
  if (!Array.isArray(stub?.q)) return;
  for (const call of stub.q as unknown[]) {
    if (!Array.isArray(call)) continue;
    const [wanted, ...values] = call as unknown[];
    const name = CALLS.find((known) => known === wanted);
    if (name !== undefined) Reflect.apply(api[name], api, values);
  }
}

const host = window as unknown as { svcWidget?: Mounted | Stub };
const there = host.svcWidget;
try {
  if (there !== undefined && MOUNT in there) there[MOUNT](findScript());
  else {
    const api = install();
    host.svcWidget = api;
    replay(api, there);
    api[MOUNT](findScript());
  }
} catch (error) {
  // A browser that is too old, or a page that has changed built-in objects: the page itself must keep working.
  warn(String(error));
}
