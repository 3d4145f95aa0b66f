import type { Identity } from "../launch/page-settings.ts";
import { LIMITS } from "../state.ts";
import type { WidgetActions, WidgetStore } from "../state.ts";
import { inOrder, lastReplySeq, readHistory } from "./conversation.ts";
import { composeMessage, createFrameHandler, createSender, firstChars, isTooLong } from "./create-sender.ts";
import { openConnection } from "./open-connection.ts";
import { HEARTBEAT_MS } from "./outbox.ts";
import type { OutboxItem } from "./outbox.ts";
import { createStoreCore, sendStateOf } from "./store-core.ts";
import type { StoreOptions } from "./store-core.ts";

/** The store with what the page, rather than the panel, needs. */
export interface ManagedStore extends WidgetStore {
  /** Sets the user that the visitor is; another user than before starts a new conversation. */
  identify: (identity: Identity) => void;
  /** Ends the visitor's conversation in this browser: the next message is another visitor's. */
  logout: () => void;
  /** Called when the page is left, perhaps to come back: disconnects, and leaves unsent messages to other tabs. */
  suspend: () => void;
  /** Called when the page is shown again. */
  resume: () => void;
  /** Reconnects immediately instead of after the backoff: the network may be back, or the visitor is. */
  retryNow: () => void;
  /** Reconnects because the network is unavailable, which an open connection would notice late. */
  restart: () => void;
  /** Ends everything; unsent messages are stored for the next page. */
  stop: () => void;
}

const MAX_UNSENT = 100;

/** Interval of the notifications that the visitor is writing, and the time after the last key until they end. */
const TYPING_EVERY_MS = 3_000;
const TYPING_ENDS_AFTER_MS = 5_000;

/** Strings that explain why there is no connection, by the server's code. */
const REFUSALS: Record<string, string> = {
  origin_not_allowed: "refusedOrigin",
  invalid_identity: "refusedIdentity",
};

/**
 * Returns the store of this browser's conversation: its state, and the actions that change it. Shows the stored
 * conversation, updates it from the server, and sends each message until the server has it; the server stores it once.
 * Connects when it is first opened, or immediately if there is a conversation.
 */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify: 0.4 KB of the size budget.
export function createWidgetStore(options: StoreOptions): ManagedStore {
  const { base, storage, tab, emit } = options;
  const core = createStoreCore(options);
  const { visitor, outbox, listeners, cursor, get, set, contact, canTalk, viewOfItem, changeMessage, saveSoon } = core;
  /** True while the page is left, or the store has ended. */
  let isSuspended = false;

  // The connection: frames of the server are applied, and what waits in the outbox is sent.

  const line = openConnection({
    ...options,
    auth: () => ({ ...visitor.auth(), sinceSeq: cursor.sinceSeq }),
    onFrame: (frame) => handleFrame(frame),
    onState(now) {
      // A dropped connection is shown as such until it is up: a change with each attempt says nothing.
      if (now === "connecting" && get().line === "offline") return;
      set(now === "online" ? { line: now } : { line: now, isTyping: false, partial: null });
      if (now === "online") catchUp();
      else hold();
    },
    onRefused: refuse,
    onError: (error) => emit("error", { code: error instanceof Error ? error.message : "unknown" }),
  });
  const sender = createSender(line, outbox, (key, error) => changeMessage(key, { state: "failed", fault: error }));
  const handleFrame = createFrameHandler(core, line, sender);

  function refreshSending(): void {
    const { entries, line: lineState } = get();
    set({
      entries: entries.map((entry) =>
        entry.kind === "visitor" && entry.seq === null
          ? { ...entry, state: sendStateOf(lineState, entry.fault) }
          : entry,
      ),
    });
  }

  /** Keeps unsent messages until the connection is back. */
  function hold(): void {
    sender.hold();
    refreshSending();
  }

  /** Shows that there is no connection, and that retrying does not help. */
  function refuse(code: string): void {
    set({ line: "refused", refusal: REFUSALS[code] ?? "refusedKey" });
    hold();
    emit("error", { code });
  }

  /** Sends what happened while there was no connection. */
  function catchUp(): void {
    refreshSending();
    if (cursor.readSeq > 0) line.send("read", { seq: cursor.readSeq });
    if (cursor.pendingRating !== null) line.send("rate", cursor.pendingRating);
    sender.flush();
  }

  /** Connects, unless the server has refused it or the visitor has to sign in first. */
  function connect(): void {
    if (isSuspended || get().line === "refused") return;
    if (!canTalk()) return refuse("invalid_identity");
    line.start();
    line.retryNow();
  }

  /** Takes over the messages that closed tabs have not sent. */
  async function adopt(): Promise<void> {
    // If the browser refuses the lock, two tabs may send a message; the server stores it once.
    const taken = isSuspended ? [] : await outbox.adopt(() => !isSuspended).catch(() => []);
    if (taken.length === 0) return;
    const { entries } = get();
    const known = new Set(entries.map(({ key }) => key));
    const added = taken.filter(({ message }) => !known.has(message.clientMessageId));
    set({ entries: inOrder([...entries, ...added.map(viewOfItem)]) });
    connect();
    sender.flush();
  }

  // The visitor: another one must see nothing of the one before.

  function pause(): void {
    core.saveNow();
    line.stop();
    hold();
  }

  function leave(): void {
    pause();
    cursor.pendingRating = null;
  }

  const startTurn = () => set({ line: "idle", refusal: null, turn: get().turn + 1 });

  function reset(): void {
    leave();
    outbox.clear();
    visitor.forget();
    storage.write("contact", null);
    tab.write("draft", null);
    core.forget();
    startTurn();
  }

  function identify(identity: Identity): void {
    if (!visitor.identify(identity)) return;
    reset();
    visitor.identify(identity);
  }

  // What the panel can do.

  let typingTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the server was last notified that the visitor is writing; 0 if it knows that the visitor has stopped. */
  let typingAt = 0;

  function endTyping(): void {
    clearTimeout(typingTimer);
    if (typingAt > 0) line.send("typing", { on: false });
    typingAt = 0;
  }

  const itemOf = (key: string) => outbox.list().find(({ message }) => message.clientMessageId === key);
  const without = (key: string) => get().entries.filter((entry) => entry.key !== key);

  function explainUnsendable(text: string): string | null {
    if (outbox.list().length >= MAX_UNSENT) return "faultTooFast";
    return isTooLong(text) ? "faultTooLong" : null;
  }

  function showPanel(isOpen: boolean): void {
    tab.write("open", isOpen);
    if (get().isOpen !== isOpen) set({ isOpen });
  }

  const actions: WidgetActions = {
    open() {
      showPanel(true);
      connect();
    },
    close: () => showPanel(false),
    send(text, files = [], { wantsPerson } = {}) {
      const message = composeMessage({
        text,
        files,
        wantsPerson: wantsPerson === true,
        contact: contact(),
        locale: options.locale(),
        page: options.page(),
      });
      if (message === null) return;
      visitor.keep();
      const item: OutboxItem = { message, files, at: Date.now(), fault: explainUnsendable(message.text) };
      outbox.put(item);
      connect();
      set({ entries: [...get().entries, viewOfItem(item)] });
      emit("message", { id: message.clientMessageId, role: "visitor", text: message.text });
      sender.flush();
    },
    retry(key) {
      const item = itemOf(key);
      if (item === undefined || item.fault === null) return;
      const again = { ...item, fault: null };
      // At the end, where it is seen: what was written after it has been answered already.
      outbox.remove(key);
      outbox.put(again);
      connect();
      set({ entries: [...without(key), viewOfItem(again)] });
      sender.flush();
    },
    discard(key) {
      if (itemOf(key)?.fault == null) return;
      outbox.remove(key);
      set({ entries: without(key) });
    },
    fileAccess: () => ({ base, headers: visitor.headers() }),
    openChat(conversation) {
      if (conversation === get().chat) return true;
      // They belong to this conversation, in every tab.
      if (storage.names("out:").length > 0 || cursor.pendingRating !== null) return false;
      leave();
      visitor.chooseChat(conversation);
      core.forget();
      startTurn();
      connect();
      return true;
    },
    rate(score, comment) {
      const words = firstChars(comment?.trim() ?? "", LIMITS.commentMaxChars);
      cursor.pendingRating = { score, ...(words !== "" && { comment: words }) };
      line.send("rate", cursor.pendingRating);
      set({ rating: score });
      saveSoon();
    },
    markRead() {
      const seq = lastReplySeq(get().entries);
      if (seq <= cursor.readSeq) return;
      cursor.readSeq = seq;
      line.send("read", { seq });
      set({});
      saveSoon();
    },
    noteTyping() {
      clearTimeout(typingTimer);
      typingTimer = setTimeout(endTyping, TYPING_ENDS_AFTER_MS);
      if (Date.now() - typingAt >= TYPING_EVERY_MS && line.send("typing", { on: true })) typingAt = Date.now();
    },
    draft() {
      const [id, chat, text] = [tab.read("draft")].flat();
      // Another visitor's may be left where a tab has logged out.
      return id === visitor.id() && chat === visitor.chat() && typeof text === "string" ? text : "";
    },
    keepDraft: (text) => void tab.write("draft", text === "" ? null : [visitor.id(), visitor.chat(), text]),
    setSound(on) {
      storage.write("sound", on);
      set({ hasSound: on });
    },
    introduce(given) {
      storage.write("contact", given);
      set({});
    },
  };

  // Other tabs of this browser.

  /** Another tab has ended the conversation, or shows another one. */
  function follow(): void {
    if (!visitor.hasChanged()) return;
    leave();
    outbox.drop();
    visitor.follow();
    startTurn();
    core.load();
    if (get().isOpen || visitor.isKnown()) connect();
  }

  const changedElsewhere: Record<string, () => void> = {
    visitor: follow,
    // A tab with unsent messages stays with their conversation.
    chat: () => outbox.list().length === 0 && follow(),
    history() {
      const { readSeq, chatId } = readHistory(storage);
      if (chatId !== cursor.chatId || readSeq <= cursor.readSeq) return;
      cursor.readSeq = readSeq;
      set({});
    },
  };
  const unfollow = storage.follow((name) => {
    if (name.startsWith("out:")) void adopt();
    else changedElsewhere[name]?.();
  });
  const heartbeat = setInterval(() => {
    outbox.beat();
    void adopt();
  }, HEARTBEAT_MS);

  // The page: it may be left, and come back.

  function begin(): void {
    core.load();
    void adopt();
    if (get().isOpen || visitor.isKnown()) connect();
  }

  function suspend(): void {
    if (isSuspended) return;
    isSuspended = true;
    endTyping();
    pause();
    outbox.release();
  }

  if (options.identity !== null) identify(options.identity);
  begin();

  return {
    get,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    actions,
    identify(identity) {
      identify(identity);
      if (get().line === "refused") set({ line: "idle", refusal: null });
      if (get().line !== "idle") line.restart();
      else if (get().isOpen || visitor.isKnown()) connect();
    },
    logout() {
      const wasOpen = get().isOpen;
      reset();
      if (wasOpen) connect();
    },
    suspend,
    resume() {
      isSuspended = false;
      // A page that was left did not receive the events of other tabs.
      visitor.follow();
      outbox.reclaim();
      begin();
    },
    retryNow: line.retryNow,
    restart: line.restart,
    stop() {
      suspend();
      clearInterval(heartbeat);
      unfollow();
      listeners.clear();
    },
  };
}
