import type { Chat, ChatOptions, Appearance } from "../chat.ts";
import type { Identity } from "../launch/page-settings.ts";
import { createTexts, pickLocale } from "../locales/create-texts.ts";
import type { Locale } from "../locales/strings.ts";
import { accentColors } from "../panel/accent.ts";
import { openStorage } from "../storage.ts";
import type { customize as customizeLauncher } from "./custom-launcher.ts";
import styles from "./launcher.css";
import type { Listeners } from "./listeners.ts";
import { loadConfig, pause } from "./load-config.ts";
import type { PageSettings, Theme } from "./page-settings.ts";

/** Number of times the element is restored after the page removes it. After that the removal counts as intended. */
const MOST_RETURNS = 20;

/**
 * Adds `host` to the page's body, and adds it again if a page that changes its content without loading (history
 * navigation, hydration, a replaced body) has removed it. Returns a function that removes it permanently.
 */
function keepMounted(host: HTMLElement): () => void {
  let returns = 0;
  const observer = new MutationObserver(attach);

  function attach(): void {
    if (host.isConnected || returns++ > MOST_RETURNS) return;
    const { body, documentElement } = document;
    // While the body is being replaced there is none; the next change adds the element.
    if (body === null) return;
    body.append(host);
    observer.disconnect();
    // Only direct children are observed, so that a page with many changes inside is not slowed down.
    observer.observe(documentElement, { childList: true });
    observer.observe(body, { childList: true });
  }

  observer.observe(document.documentElement, { childList: true });
  attach();
  return () => {
    observer.disconnect();
    host.remove();
  };
}

const SVG = "http://www.w3.org/2000/svg";
/** A speech bubble, and a cross, in a box of 24 by 24. */
const BUBBLE = "M21 12a8.5 8.5 0 0 1-12.4 7.6L3 21l1.5-5.2A8.5 8.5 0 1 1 21 12Z";
const CROSS = "M6 6l12 12M18 6L6 18";
const MOST_SHOWN = 99;

/** State of the button. */
export interface ButtonState {
  isOpen: boolean;
  unread: number;
  /** Accessible name, with the number of unread messages. */
  label: string;
  position: "bottom-right" | "bottom-left";
  /** Outline of the icon while the panel is closed. */
  icon: string;
}

/** The launcher's button. */
export interface LauncherButton {
  element: HTMLButtonElement;
  update: (state: ButtonState) => void;
}

/** Creates the button from elements: pages may forbid markup in strings. */
function createLauncherButton(onClick: () => void): LauncherButton {
  const element = document.createElement("button");
  element.type = "button";
  element.dataset["part"] = "launcher";
  element.setAttribute("aria-haspopup", "dialog");
  element.addEventListener("click", onClick);

  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  icon.append(path);

  const badge = document.createElement("span");
  badge.dataset["part"] = "unread";
  badge.setAttribute("aria-hidden", "true");
  element.append(icon, badge);

  function update({ isOpen, unread, label, position, icon: closed }: ButtonState): void {
    element.setAttribute("aria-label", label);
    element.setAttribute("aria-expanded", String(isOpen));
    element.dataset["position"] = position;
    path.setAttribute("d", isOpen ? CROSS : closed);
    badge.hidden = isOpen || unread === 0;
    badge.textContent = unread > MOST_SHOWN ? `${MOST_SHOWN}+` : String(unread);
  }

  return { element, update };
}

/** A hash of the build's files, which is part of their names, so that browsers can cache them. */
declare const BUILD: string;

/** Operations of the page on its widget. */
export interface Widget {
  settings: PageSettings;
  open: () => void;
  close: () => void;
  toggle: () => void;
  identify: (identity: Identity) => void;
  logout: () => void;
  setLocale: (locale: string) => void;
  setTheme: (theme: Theme) => void;
  send: (text: string) => void;
  /** Removes it from the page. */
  destroy: () => void;
}

const RETRY_MS = 5_000;

/**
 * Adds the launcher to the page as soon as the settings and the texts are loaded, and loads the conversation on demand:
 * when it is first opened, or while the browser is idle if there is a conversation already. Earlier calls are queued.
 * The page is never disturbed: errors are retried silently, and only those that its owner must fix are passed to
 * `advise`.
 */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
export function createWidget(settings: PageSettings, listeners: Listeners, advise: (advice: string) => void): Widget {
  const { base, apiKey } = settings;
  const storage = openStorage(window, apiKey);
  const tab = openStorage(window, apiKey, () => sessionStorage);
  const ending = new AbortController();
  const { signal } = ending;
  let { locale, theme, identity } = settings;
  let parts: Parts | null = null;
  let chat: Chat | null = null;
  let loading: Promise<void> | null = null;
  /** Number of failed attempts to load a file, by its name. */
  const failures = new Map<string, number>();
  /** Calls that are queued until the conversation is loaded. */
  const waiting: ((chat: Chat) => void)[] = [];

  /** The elements on the page. */
  interface Parts {
    options: Omit<ChatOptions, "appearance" | "identity">;
    appearance: Appearance;
    show: () => void;
    takeAway: () => void;
  }

  /** Loads a file of the build; resolves to null if it cannot be loaded. */
  async function tryLoad<Module>(name: string): Promise<Module | null> {
    const failed = failures.get(name) ?? 0;
    // Some browsers cache that a URL has failed, and never load it again: another attempt needs another URL.
    const again = failed > 0 ? `?${failed}` : "";
    try {
      return (await import(`${base}chunks/${name}-${BUILD}.js${again}`)) as Module;
    } catch {
      // The network or the server is unavailable: the next use of the file retries.
      failures.set(name, failed + 1);
      return null;
    }
  }

  /** Loads a file of the build, with retries. Resolves to null after the end of the widget. */
  async function load<Module>(name: string): Promise<Module | null> {
    while (!signal.aborted) {
      const found = await tryLoad<Module>(name);
      if (found !== null) return found;
      await pause(RETRY_MS * (1 + Math.random()), signal);
    }
    return null;
  }

  async function chooseAppearance(config: ChatOptions["config"]): Promise<Appearance | null> {
    const { language, tag } = pickLocale([locale, document.documentElement.lang, config.locale]);
    const file = await load<{ default: Locale }>(language);
    if (file === null) return null;
    const { dir, strings } = file.default;
    const { title, greeting } = config;
    const own = config.languages?.[language];
    return {
      texts: createTexts({
        tag,
        strings,
        overrides: {
          launcher: config.launcher?.label ?? "",
          ...config.strings,
          ...(title !== "" && { title }),
          ...(greeting !== "" && { greeting }),
          ...own?.strings,
        },
        questions: own?.questions ?? config.questions ?? [],
      }),
      locale: tag,
      dir,
      theme: theme ?? config.theme,
      accent: settings.accent ?? config.color,
      position: settings.position ?? config.position,
    };
  }

  async function begin(): Promise<void> {
    const loaded = await loadConfig(base, apiKey, locale || document.documentElement.lang, signal);
    if (loaded === null) return;
    if ("advice" in loaded) return advise(loaded.advice);
    if (document.body === null) await new Promise((go) => addEventListener("DOMContentLoaded", go, { once: true }));
    const appearance = await chooseAppearance(loaded.config);
    if (appearance === null || signal.aborted) return;
    const { launcher } = loaded.config;
    const file = launcher && (await load<{ customize: typeof customizeLauncher }>("custom"));
    if (signal.aborted) return;
    parts = mount(loaded.config, appearance, launcher && file?.customize);
    listeners.emit("ready");
    // A panel that was open before the page was reloaded is open again.
    if (waiting.length > 0 || tab.read("open") === true) loadChat();
    // A visitor who has written before may have unread replies.
    else if (storage.read("visitor") !== null || storage.names("out:").length > 0) whenIdle(loadChat);
  }

  function mount(
    config: ChatOptions["config"],
    appearance: Appearance,
    customize: typeof customizeLauncher | null | undefined,
  ): Parts {
    const host = document.createElement("svc-widget");
    const { accent, onAccent, inLight, inDark } = accentColors(appearance.accent);
    const colors = { accent, "on-accent": onAccent, "accent-in-light": inLight, "accent-in-dark": inDark };
    for (const [name, color] of Object.entries(colors)) host.style.setProperty(`--${name}`, color);
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    root.adoptedStyleSheets = [sheet];
    const button = createLauncherButton(toggle);
    root.append(button.element);
    const { launcher } = config;
    const custom = launcher && customize?.({ host, root, button: button.element }, launcher, signal);

    const own: Parts = {
      options: {
        base,
        apiKey,
        config,
        storage,
        tab,
        root,
        launcher: button.element,
        loadHttp: () => tryLoad("polling"),
        loadPart: load,
        emit: listeners.emit,
      },
      appearance,
      show() {
        const { isOpen = false, unread = 0 } = chat?.store.get() ?? {};
        const { texts, position } = own.appearance;
        const caption = custom === undefined ? "" : texts.text("launcher");
        custom?.setLabel(caption);
        const words = [
          !isOpen && caption,
          texts.text(isOpen ? "closeChat" : "openChat"),
          !isOpen && unread > 0 && texts.text("unread", { count: unread }),
        ];
        button.update({
          isOpen,
          unread,
          label: words.filter(Boolean).join(", "),
          position,
          icon: custom?.icon ?? BUBBLE,
        });
      },
      takeAway: keepMounted(host),
    };
    own.show();
    return own;
  }

  function loadChat(): void {
    loading ??= startChat().catch((error: unknown) => advise(String(error)));
  }

  async function startChat(): Promise<void> {
    const file = await load<{ startChat(options: ChatOptions): Chat }>("panel");
    if (file === null || parts === null) return;
    const started = file.startChat({ ...parts.options, appearance: parts.appearance, identity });
    chat = started;
    let wasOpen = false;
    started.store.subscribe(() => {
      parts?.show();
      const { isOpen } = started.store.get();
      if (isOpen === wasOpen) return;
      wasOpen = isOpen;
      listeners.emit(isOpen ? "open" : "close");
    });
    parts.show();
    for (const work of waiting.splice(0)) work(started);
  }

  /** Runs `work` with the conversation, and loads it first if necessary. */
  function withChat(work: (chat: Chat) => void): void {
    if (chat !== null) return work(chat);
    waiting.push(work);
    if (parts !== null) loadChat();
  }

  const toggleChat = ({ store }: Chat) => (store.get().isOpen ? store.actions.close() : store.actions.open());

  function toggle(): void {
    withChat(toggleChat);
  }

  async function changeAppearance(): Promise<void> {
    const shown = parts;
    if (shown === null) return;
    const wish = locale;
    const appearance = await chooseAppearance(shown.options.config);
    // A language may load late, after another one was requested.
    if (appearance === null || parts === null || wish !== locale) return;
    parts.appearance = appearance;
    parts.show();
    chat?.update(appearance);
  }

  // A browser without required features must not cause an error of the page.
  begin().catch((error: unknown) => advise(String(error)));
  return {
    settings,
    open: () => withChat(({ store }) => store.actions.open()),
    close() {
      // A panel that was never opened need not be loaded to be closed.
      if (loading !== null || waiting.length > 0) withChat(({ store }) => store.actions.close());
    },
    toggle,
    identify(given) {
      identity = given;
      // After a queued logout, which would otherwise remove this identity.
      if (chat !== null || waiting.length > 0) withChat(({ store }) => store.identify(given));
    },
    logout() {
      identity = null;
      // Without a conversation there is nothing to clear, and nothing to load.
      if (chat !== null || waiting.length > 0 || storage.read("visitor") !== null)
        withChat(({ store }) => store.logout());
    },
    setLocale(wish) {
      locale = wish;
      void changeAppearance();
    },
    setTheme(wish) {
      theme = wish;
      void changeAppearance();
    },
    send: (text) => withChat(({ store }) => store.actions.send(text)),
    destroy() {
      ending.abort();
      tab.write("open", null);
      chat?.stop();
      parts?.takeAway();
      chat = parts = null;
    },
  };
}

function whenIdle(work: () => void): void {
  // Safari has no requestIdleCallback.
  if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: 4_000 });
  else setTimeout(work, 1_000);
}
