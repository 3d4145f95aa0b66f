import type { ServerFrame, ServerFrameData, ServerFrameType, VisitorMessage } from "@svc/contracts";
import { LIMITS } from "../limits.ts";
import type { Contact, Entry, VisitorEntry, WidgetActions, WidgetState } from "../state.ts";
import {
  addMessage,
  addReply,
  changeMessage,
  countUnread,
  growPartial,
  hasGap,
  inOrder,
  lastReplySeq,
  dropHistory,
  keepHistory,
  NO_HISTORY,
  readHistory,
} from "./conversation.ts";
import type { Rating } from "./conversation.ts";
import { composeMessage, firstChars, isTooLong, createSender } from "./create-sender.ts";
import { downloadFile, uploadFile } from "./files.ts";
import type { ManagedStore, StoreOptions } from "./managed-store.ts";
import { newId } from "./new-id.ts";
import { createTypingNotes } from "./note-typing.ts";
import { openConnection } from "./open-connection.ts";
import { HEARTBEAT_MS, openOutbox } from "./outbox.ts";
import type { OutboxItem } from "./outbox.ts";
import { openVisitor } from "./visitor.ts";

const MOST_WAITING = 100;
const SAVE_AFTER_MS = 300;

/** The string that tells the visitor why there is no line, by the server's code. */
const REFUSALS: Record<string, string> = {
  origin_not_allowed: "refusedOrigin",
  invalid_identity: "refusedIdentity",
};

/** Codes of a refused message that say more than that it was refused. */
const MESSAGE_FAULTS: Record<string, string> = {
  too_long: "faultTooLong",
  payload_too_large: "faultTooLong",
  rate_limited: "faultTooFast",
  not_found: "faultFileGone",
  storage_full: "faultStorage",
};

/**
 * The conversation of this browser's visitor: shown from what was kept, brought up to date over the line, with each
 * message of the visitor stored once by the server however often it has to be sent. Connects when it is first opened,
 * or at once where there is a conversation already.
 */
export function createWidgetStore(options: StoreOptions): ManagedStore {
  const { base, apiKey, config, storage, emit } = options;
  const visitor = openVisitor(storage, apiKey);
  const outbox = openOutbox(storage, newId(), { locks: options.locks, now: Date.now });
  const listeners = new Set<() => void>();
  /** Up to where replies were said before this page; no event tells of them. */
  let oldSeq = 0;
  let sinceSeq = 0;
  /** Up to where what was missing has been asked for again, and whether the answer is still to come. */
  let askedSeq = 0;
  let isAsking = false;
  let readSeq = 0;
  let chatId: string | null = null;
  let saveTimer: ReturnType<typeof setTimeout> | undefined;
  /** True while the page is left, or the store has ended. */
  let isAway = false;
  /** The rating of which the server has not said yet that it has it. */
  let pendingRating: Rating | null = null;

  let state: WidgetState = {
    config,
    line: "idle",
    refusal: null,
    isOpen: false,
    entries: [],
    unread: 0,
    readSeq: 0,
    isTyping: false,
    partial: null,
    conversation: "open",
    rating: null,
    // Off until the visitor wants it: the feature says whether it is offered.
    hasSound: storage.read("sound") === true,
    needsContact: false,
    turn: 0,
  };

  const line = openConnection({
    ...options,
    auth: () => ({ ...visitor.auth(), sinceSeq }),
    onFrame: (frame) => take(frame),
    onState(now) {
      // A line that is away stays so for the visitor until it is up: a flicker with each try says nothing.
      if (now === "connecting" && state.line === "offline") return;
      set(now === "online" ? { line: now } : { line: now, isTyping: false, partial: null });
      if (now === "online") catchUp();
      else hold();
    },
    onRefused: refuse,
    onFault: (fault) => emit("error", { code: fault instanceof Error ? fault.message : "unknown" }),
  });

  const sender = createSender(line, outbox, (key, fault) =>
    set({ entries: changeMessage(state.entries, key, { state: "failed", fault }) }),
  );
  const typing = createTypingNotes(line);

  function set(change: Partial<WidgetState>): void {
    const before = state;
    const entries = change.entries ?? before.entries;
    const unread = countUnread(entries, readSeq);
    const needsContact = config.features.prechat.length > 0 && entries.length === 0 && contact() === null;
    state = { ...before, ...change, unread, readSeq, needsContact };
    for (const listener of listeners) listener();
    if (unread !== before.unread) emit("unread", unread);
  }

  function contact(): Contact | null {
    const kept = storage.read("contact");
    if (typeof kept !== "object" || kept === null) return null;
    // Others can write there too, and the server refuses a message with anything but texts.
    return Object.fromEntries(Object.entries(kept).filter(([, value]) => typeof value === "string"));
  }

  // What is kept between pages.

  function load(): void {
    const history = visitor.isKnown() && canTalk() ? readHistory(storage) : NO_HISTORY;
    ({ chatId, sinceSeq, readSeq, pendingRating } = history);
    oldSeq = sinceSeq;
    const { conversation, rating, entries } = history;
    set({ conversation, rating, entries: inOrder([...entries, ...outbox.list().map(viewOfItem)]) });
  }

  function save(): void {
    clearTimeout(saveTimer);
    saveTimer = undefined;
    // What another tab has just forgotten must not come back.
    if (visitor.hasChanged()) return;
    const { conversation, rating, entries } = state;
    keepHistory(storage, { chatId, sinceSeq, readSeq, conversation, rating, pendingRating, entries });
  }

  function saveSoon(): void {
    saveTimer ??= setTimeout(save, SAVE_AFTER_MS);
  }

  function canTalk(): boolean {
    return !config.features.identity || visitor.hasProof();
  }

  function viewOfItem({ message, files, at, fault }: OutboxItem): VisitorEntry {
    return {
      kind: "visitor",
      key: message.clientMessageId,
      seq: null,
      at,
      text: message.text,
      files,
      state: sendState(fault),
      fault,
    };
  }

  function sendState(fault: string | null): VisitorEntry["state"] {
    if (fault !== null) return "failed";
    return state.line === "offline" || state.line === "refused" ? "waiting" : "sending";
  }

  // What the server says.

  const frameHandlers: { [Type in ServerFrameType]: (frame: Extract<ServerFrame, { type: Type }>) => void } = {
    ready({ data }) {
      // A conversation that begins anew, or is another one: what is kept does not belong to it.
      const isOther = (chatId !== null && chatId !== data.chatId) || sinceSeq > data.lastSeq;
      if (isOther) {
        forgetConversation();
        line.send("hello", { sinceSeq: 0 });
      }
      if (isAsking) askedSeq = data.lastSeq;
      isAsking = false;
      // What a browser that knows nothing yet is sent first was said long ago.
      if (chatId === null && sinceSeq === 0) oldSeq = data.lastSeq;
      chatId = data.chatId;
    },
    reply({ id, seq, data }) {
      const entries = addReply(state.entries, { id, seq, data });
      const isNew = entries !== state.entries;
      place(entries, seq, { partial: null });
      if (!isNew || seq <= oldSeq) return;
      for (const item of data.items)
        emit("message", { id, role: data.author, text: item.type === "message" ? item.text : item.filename });
    },
    message({ seq, data }) {
      if (data.clientMessageId !== null) sender.settle(data.clientMessageId);
      place(addMessage(state.entries, { seq, data }), seq, {});
    },
    ack({ data }) {
      const isOurs = sender.settle(data.clientMessageId);
      const { clientMessageId, seq } = data;
      set({ entries: changeMessage(state.entries, clientMessageId, { seq, state: "sent", fault: null }) });
      saveSoon();
      // It went with the message, and is not asked for again.
      if (isOurs && contact() !== null) storage.write("contact", {});
      sender.flush();
    },
    typing: ({ data }) => set(data.on ? { isTyping: true } : { isTyping: false, partial: null }),
    delta: ({ data }) => set({ partial: growPartial(state.partial, data) }),
    status({ data }) {
      if (data.rating === pendingRating?.score) pendingRating = null;
      set({ conversation: data.state, rating: pendingRating?.score ?? data.rating });
      saveSoon();
    },
    error: ({ data }) => takeError(data),
  };

  function take(frame: ServerFrame): void {
    (frameHandlers[frame.type] as (frame: ServerFrame) => void)(frame);
  }

  /** Puts what came at `seq` in its place, and notes that everything up to there has come. */
  function place(entries: Entry[], seq: number, change: Partial<WidgetState>): void {
    if (seq > askedSeq && hasGap(entries, sinceSeq, seq)) {
      // Lost within a line that is up: a browser repeats a request over HTTP by itself, and gets what came after the
      // answer that was lost. It is asked for once; what is missing then too was erased.
      if (!isAsking) isAsking = line.send("hello", { sinceSeq });
    } else sinceSeq = Math.max(sinceSeq, seq);
    set({ ...change, entries });
    saveSoon();
  }

  function takeError({ code, clientMessageId, retryAfterSeconds }: ServerFrameData<"error">): void {
    emit("error", { code });
    if (clientMessageId !== null)
      return sender.refuse(clientMessageId, MESSAGE_FAULTS[code] ?? "faultRefused", retryAfterSeconds);
    if (pendingRating === null) return;
    // It was not taken, and can be given again.
    pendingRating = null;
    set({ rating: null });
    saveSoon();
  }

  // What the visitor sends.

  /** The line is away: what is unsent waits. */
  function hold(): void {
    sender.hold();
    refreshSending();
  }

  const itemOf = (key: string) => outbox.list().find(({ message }) => message.clientMessageId === key);

  function refreshSending(): void {
    set({
      entries: state.entries.map((entry) =>
        entry.kind === "visitor" && entry.seq === null ? { ...entry, state: sendState(entry.fault) } : entry,
      ),
    });
  }

  /** There is no line, and no try will change that. */
  function refuse(code: string): void {
    set({ line: "refused", refusal: REFUSALS[code] ?? "refusedKey" });
    hold();
    emit("error", { code });
  }

  /** The line is up: what was done meanwhile is told. */
  function catchUp(): void {
    refreshSending();
    if (readSeq > 0) line.send("read", { seq: readSeq });
    if (pendingRating !== null) line.send("rate", pendingRating);
    sender.flush();
  }

  /** Connects where that makes sense: there is a visitor, who may talk. */
  function connect(): void {
    if (isAway || state.line === "refused") return;
    if (!canTalk()) return refuse("invalid_identity");
    line.start();
    line.retryNow();
  }

  async function adopt(): Promise<void> {
    // Where the browser refuses its lock, the server still takes a message that is sent twice for one.
    const taken = isAway ? [] : await outbox.adopt(() => !isAway).catch(() => []);
    if (taken.length === 0) return;
    const known = new Set(state.entries.map(({ key }) => key));
    const added = taken.filter(({ message }) => !known.has(message.clientMessageId));
    set({ entries: inOrder([...state.entries, ...added.map(viewOfItem)]) });
    connect();
    sender.flush();
  }

  function forgetConversation(): void {
    chatId = null;
    sinceSeq = 0;
    askedSeq = 0;
    isAsking = false;
    readSeq = 0;
    dropHistory(storage);
    set({
      entries: outbox.list().map(viewOfItem),
      conversation: "open",
      rating: null,
      isTyping: false,
      partial: null,
    });
  }

  function leave(): void {
    line.stop();
    clearTimeout(saveTimer);
    saveTimer = undefined;
    hold();
    pendingRating = null;
  }

  /** Another visitor: nothing of the one before may be seen. */
  function reset(): void {
    leave();
    outbox.clear();
    visitor.forget();
    storage.write("contact", null);
    forgetConversation();
    set({ line: "idle", refusal: null, turn: state.turn + 1 });
  }

  const actions: WidgetActions = {
    open() {
      if (!state.isOpen) set({ isOpen: true });
      connect();
    },
    close() {
      if (state.isOpen) set({ isOpen: false });
    },
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
      const item: OutboxItem = { message, files, at: Date.now(), fault: faultOf(message) };
      outbox.put(item);
      connect();
      set({ entries: [...state.entries, viewOfItem(item)] });
      emit("message", { id: message.clientMessageId, role: "visitor", text: message.text });
      sender.flush();
    },
    retry(key) {
      const item = itemOf(key);
      if (item === undefined || item.fault === null) return;
      // At the end, where it is seen: what was written after it has been answered already.
      outbox.remove(key);
      outbox.put({ ...item, fault: null });
      connect();
      set({
        entries: [...state.entries.filter((entry) => entry.key !== key), viewOfItem({ ...item, fault: null })],
      });
      sender.flush();
    },
    discard(key) {
      if (itemOf(key)?.fault == null) return;
      outbox.remove(key);
      set({ entries: state.entries.filter((entry) => entry.key !== key) });
    },
    upload: (file, onProgress, signal) => uploadFile({ base, headers: visitor.headers() }, file, onProgress, signal),
    download: (file, onProgress) => downloadFile({ base, headers: visitor.headers() }, file, onProgress),
    rate(score, comment) {
      const words = firstChars(comment?.trim() ?? "", LIMITS.commentMaxChars);
      pendingRating = { score, ...(words !== "" && { comment: words }) };
      line.send("rate", pendingRating);
      set({ rating: score });
      saveSoon();
    },
    markRead() {
      const seq = lastReplySeq(state.entries);
      if (seq <= readSeq) return;
      readSeq = seq;
      line.send("read", { seq });
      set({});
      saveSoon();
    },
    noteTyping: typing.note,
    setSound(on) {
      storage.write("sound", on);
      set({ hasSound: on });
    },
    introduce(given) {
      storage.write("contact", given);
      set({});
    },
  };

  function faultOf({ text }: VisitorMessage): string | null {
    if (outbox.list().length >= MOST_WAITING) return "faultTooFast";
    return isTooLong(text) ? "faultTooLong" : null;
  }

  // Other tabs of this browser.

  const changedElsewhere: Record<string, () => void> = {
    visitor() {
      // Another tab has ended the conversation, and has perhaps begun another one.
      if (!visitor.hasChanged()) return;
      leave();
      outbox.drop();
      visitor.follow();
      set({ line: "idle", refusal: null, turn: state.turn + 1 });
      load();
      if (state.isOpen || visitor.isKnown()) connect();
    },
    history() {
      const { readSeq: seen, chatId: other } = readHistory(storage);
      if (other !== chatId || seen <= readSeq) return;
      readSeq = seen;
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

  function begin(): void {
    load();
    void adopt();
    if (visitor.isKnown()) connect();
  }

  function suspend(): void {
    if (isAway) return;
    isAway = true;
    if (saveTimer !== undefined) save();
    typing.end();
    line.stop();
    hold();
    outbox.release();
  }

  if (options.identity !== null && visitor.identify(options.identity)) {
    const { identity } = options;
    reset();
    visitor.identify(identity);
  }
  begin();

  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    actions,
    identify(identity) {
      if (visitor.identify(identity)) {
        reset();
        visitor.identify(identity);
      }
      if (state.line === "refused") set({ line: "idle", refusal: null });
      const wasOn = state.line !== "idle";
      if (wasOn) line.restart();
      else if (state.isOpen || visitor.isKnown()) connect();
    },
    logout() {
      const wasOpen = state.isOpen;
      reset();
      if (wasOpen) connect();
    },
    suspend,
    resume() {
      isAway = false;
      // A page that is left is not told what other tabs do.
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
