import { h, render } from "preact";
import { errorText } from "../locales/create-texts.ts";
import type { Texts } from "../locales/create-texts.ts";
import type { ReplyEntry, WidgetState, Entry, WidgetStore } from "../state.ts";
import { canSend, noticeOf, PanelView } from "./panel-view.tsx";
import { nameOf } from "./entry-view.tsx";
import type { PanelContext, PanelUi, Parts } from "./panel-context.ts";
import styles from "./panel.css";
import { textOf, parseMarkdown } from "./parse-markdown.ts";
import { playTone } from "./play-tone.ts";

/** More replies than this at once are announced as a count. */
const READ_MAX_COUNT = 3;

const plain = (markdown: string) => textOf(parseMarkdown(markdown));

const readOut = (entry: ReplyEntry, texts: Texts) => {
  const { item } = entry;
  return `${nameOf(entry, texts)}: ${item.type === "file" ? item.file.filename : item.markdown ? plain(item.text) : item.text}`;
};

/**
 * Returns a function that gets each state and returns the announcement of new replies: each reply once, but neither the
 * history nor unfinished text. Returns null if nothing is new.
 */
function createAnnouncer(): (state: WidgetState, texts: Texts) => string | null {
  /** Last known sequence number; undefined until the conversation is loaded. */
  let lastSeq: number | undefined;

  return ({ entries, line, isOpen }, texts) => {
    const replies = entries.filter((entry) => entry.kind === "reply");
    const known = lastSeq ?? Infinity;
    // An empty conversation is new, or belongs to the next visitor.
    if (entries.length === 0) lastSeq = line === "online" ? 0 : undefined;
    else lastSeq = Math.max(lastSeq ?? 0, ...replies.map(({ seq }) => seq));
    const fresh = replies.filter(({ seq }) => seq > known);
    if (fresh.length === 0) return null;
    return isOpen && fresh.length <= READ_MAX_COUNT
      ? fresh.map((entry) => readOut(entry, texts)).join("\n")
      : texts.text("unread", { count: fresh.length });
  };
}

/** Focusable elements of the panel. */
const REACHABLE = "button,a[href],textarea,input:not([hidden]),[tabindex='0']";

/**
 * Traps the Tab key within `panel`, in which `active` has the focus: the first element follows the last. The panel
 * begins and ends with buttons, so that groups of radio buttons do not matter here.
 */
function keepFocus(event: KeyboardEvent, panel: HTMLElement, active: Element | null): void {
  const focusable = Array.from(panel.querySelectorAll<HTMLElement>(REACHABLE));
  const [from, to] = event.shiftKey ? [focusable[0], focusable.at(-1)] : [focusable.at(-1), focusable[0]];
  if (active !== from) return;
  event.preventDefault();
  to?.focus();
}

/** Loads the module of a part. Its views are created with the panel's own `h`. */
export type LoadPart = <Name extends keyof Parts>(
  name: Name,
) => Promise<{ create: (createElement: typeof h) => Parts[Name] } | null>;

/** Options of a panel. The colors are custom properties of the shadow root's host (`AccentColors`). */
export interface PanelOptions {
  root: ShadowRoot;
  texts: Texts;
  dir: "ltr" | "rtl";
  theme: "auto" | "light" | "dark";
  position: "bottom-right" | "bottom-left";
  /** The button that opens the panel: the focus returns to it. */
  launcher: HTMLElement;
  /** Loads the module of a part, with retries; resolves to null after the end of the widget. */
  loadPart: LoadPart;
}

/** A mounted panel. */
export interface Panel {
  update: (changes: Partial<Omit<PanelOptions, "root">>) => void;
  /** Removes the panel and its listeners. */
  unmount: () => void;
}

/** Changes within this time, in milliseconds, are rendered together. */
const RENDER_MS = 16;

/** Distance from its end at which the list still counts as scrolled to its end, in CSS pixels. */
const END_PX = 40;

/** Media query for a panel that covers the whole page, so that nothing behind it is reachable; as in panel.css. */
const FULL_SCREEN = "(max-width: 479px), (max-height: 399px)";

/** Adds the panel to the shadow root, and renders the store in it until it is unmounted. */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
export function mountPanel(store: WidgetStore, first: PanelOptions): Panel {
  let options = first;
  const { actions } = store;
  const host = document.createElement("div");
  // A separate shadow root: the panel's styles and the launcher's do not affect each other.
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];
  options.root.append(host);

  const announce = createAnnouncer();
  const ended = new AbortController();
  const ui: PanelUi = {
    text: actions.draft(),
    files: [],
    fault: null,
    coming: new Map(),
    hasMore: false,
    isDragging: false,
    listing: null,
    adding: 0,
    ratedAt: 0,
    said: "",
    saidCount: 0,
  };
  let { turn } = store.get();
  const context: PanelContext = {
    state: store.get(),
    texts: options.texts,
    ui,
    actions,
    shown: new WeakMap(),
    change,
    say,
    scrollToEnd,
    plain,
    parts: {},
    need: (name, work) => void need(name, work),
    addFiles(files) {
      const taken = Array.from(files);
      const of = turn;
      ui.adding += 1;
      void need("files", () => {
        ui.adding -= 1;
        if (of === turn) context.parts.files?.add(taken, context);
        show();
      });
    },
    send() {
      if (!canSend(context)) return;
      const { text, files } = ui;
      ui.text = "";
      ui.files = files.filter(({ fault: error }) => error !== null);
      ui.fault = null;
      ui.newFrom = undefined;
      actions.send(
        text,
        files.filter(({ fault: error }) => error === null).map(({ view }) => view),
      );
      focusField();
      scrollToEnd();
    },
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const loading: Partial<Record<keyof Parts, Promise<unknown>>> = {};
  let wasOpen = false;
  /** True until a panel is shown that was open on the page before: only where it covers the page it takes the focus. */
  let isRestored = store.get().isOpen;
  let hadForm = false;
  let isFollowing = true;
  let notice = noticeOf(context.state);
  let lastEntry: Entry | undefined;
  let lastText = "";
  /** Earlier failures are not announced again. */
  let failedCount = Infinity;

  const find = (selector: string) => root.querySelector<HTMLElement>(selector);
  const focusField = () => (find("[data-focus]") ?? find("button"))?.focus();

  function change(part: Partial<PanelUi>): void {
    Object.assign(ui, part);
    if (part.fault != null) say(errorText(context.texts, part.fault));
    show();
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- It associates a part with its name.
  async function need<Name extends keyof Parts>(name: Name, work = show): Promise<void> {
    if (loading[name] !== undefined && work === show) return;
    loading[name] ??= options.loadPart(name).then((file) => {
      if (file !== null) context.parts[name] = file.create(h);
      // Renders entries again that needed the part.
      context.shown = new WeakMap();
    });
    await loading[name];
    work();
  }

  function isAtEnd(): boolean {
    const log = find(".log");
    return log === null || log.scrollHeight - log.scrollTop - log.clientHeight < END_PX;
  }

  function scrollToEnd(): void {
    isFollowing = true;
    change({ hasMore: false });
  }

  function say(words: string): void {
    ui.said = words;
    ui.saidCount += 1;
  }

  /** Announces new replies and the state of the connection, and plays a sound if the visitor cannot see the panel. */
  function tell(): void {
    const { state, texts } = context;
    const newest = announce(state, texts);
    const current = noticeOf(state);
    const failed = state.entries.filter((entry) => entry.kind === "visitor" && entry.state === "failed").length;
    if (failed > failedCount) say(texts.text("failed"));
    failedCount = failed;
    if (newest !== null) {
      say(newest);
      if (state.hasSound && (document.hidden || !state.isOpen)) playTone();
    } else if (current !== notice && current !== "connecting") {
      const name = notice === "offline" ? "backOnline" : current;
      if (name !== null && state.isOpen) say(texts.text(name));
    }
    if (current !== "connecting") notice = current;
  }

  /** Renders the current state immediately, so that the scroll position and the focus can be set. */
  function show(): void {
    clearTimeout(timer);
    timer = undefined;
    if (ended.signal.aborted) return;
    const state = (context.state = store.get());
    const { entries, isOpen, unread, readSeq, needsContact } = state;
    const opens = isOpen && !wasOpen;
    const closes = wasOpen && !isOpen;
    // The form's field exists once the form is loaded.
    const hasForm = needsContact && context.parts.forms !== undefined;
    const turns = hasForm !== hadForm;
    wasOpen = isOpen;
    hadForm = hasForm;
    if (turn !== state.turn) {
      turn = state.turn;
      for (const { abort } of ui.files) abort();
      Object.assign(ui, { text: "", files: [], fault: null, ratedAt: 0, listing: null });
    }
    if (opens) {
      isFollowing = true;
      ui.listing = null;
      ui.newFrom = entries.find((entry) => entry.kind === "reply" && entry.seq > readSeq)?.key;
    }
    tell();
    const last = entries.at(-1);
    const newest = last !== lastEntry && last?.kind === "reply" ? last : null;
    ui.hasMore = !isFollowing && (ui.hasMore || newest !== null);
    lastEntry = last;

    host.dir = options.dir;
    host.className = `${options.theme} ${options.position}`;
    const hadFocus = root.activeElement !== null;
    const hadScores = find("[name=score]") !== null;
    const isModal = matchMedia(FULL_SCREEN).matches;
    render(<PanelView context={context} isModal={isModal} />, root);

    const field = find("textarea[data-focus]");
    // A hidden field has no height.
    if (field !== null && isOpen && ui.text !== lastText) {
      lastText = ui.text;
      actions.keepDraft(lastText);
      // The field is as high as its text, up to the limit in its style.
      field.style.height = "auto";
      field.style.height = `${field.scrollHeight}px`;
    }
    // If the focus was elsewhere on the page when the panel closed, it stays there.
    if (closes && hadFocus) options.launcher.focus();
    if (!isOpen) return;
    if (turns || (opens && (isModal || !isRestored))) focusField();
    // The focused element was removed: the focus must not leave the panel.
    else if (hadFocus && root.activeElement === null) {
      const score = hadScores ? null : find("[name=score]");
      if (score === null) focusField();
      else score.focus();
    }
    isRestored = false;
    if (opens && ui.newFrom !== undefined) find(".new")?.scrollIntoView();
    else if (isFollowing) {
      // To the end, but not beyond the beginning of the newest entry.
      const log = find(".log");
      const first = find(`[data-part=partial],[data-seq="${newest?.seq}"]`);
      log?.scrollTo(0, first === null ? 1e9 : first.offsetTop - log.offsetTop);
    }
    isFollowing = isAtEnd();
    if (unread > 0 && ui.listing === null && isFollowing && !document.hidden) actions.markRead();
  }

  /** Fits the panel to the part of a phone's screen that an on-screen keyboard leaves visible. */
  function fitScreen(): void {
    const { offsetTop, height, scale } = visualViewport ?? { offsetTop: 0, height: innerHeight, scale: 1 };
    // A visitor who zooms in wants to see a larger part of the panel, not a smaller panel.
    if (scale > 1.01) return;
    host.style.setProperty("--top", `${offsetTop}px`);
    host.style.setProperty("--height", `${height}px`);
    show();
  }

  function onScroll(): void {
    if (isAtEnd() === isFollowing) return;
    isFollowing = !isFollowing;
    show();
  }

  function onKey(event: KeyboardEvent): void {
    // Keys pressed in the panel must not trigger shortcuts of the page.
    event.stopPropagation();
    const panel = find(".panel");
    if (event.type !== "keydown" || event.isComposing || panel === null) return;
    if (event.key === "Escape") actions.close();
    if (event.key === "Tab") keepFocus(event, panel, root.activeElement);
  }

  for (const name of ["keydown", "keyup", "keypress"] as const) host.addEventListener(name, onKey);
  // Scroll events do not bubble.
  root.addEventListener("scroll", onScroll, true);
  document.addEventListener("visibilitychange", show, ended);
  visualViewport?.addEventListener("resize", fitScreen, ended);
  visualViewport?.addEventListener("scroll", fitScreen, ended);
  const unsubscribe = store.subscribe(() => {
    timer ??= setTimeout(show, RENDER_MS);
  });
  fitScreen();

  return {
    update(changes) {
      options = { ...options, ...changes };
      context.texts = options.texts;
      context.shown = new WeakMap();
      show();
    },
    unmount() {
      unsubscribe();
      ended.abort();
      clearTimeout(timer);
      for (const { abort } of ui.files) abort();
      render(null, root);
      host.remove();
    },
  };
}
