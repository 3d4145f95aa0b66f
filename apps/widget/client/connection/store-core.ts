import type { WidgetConfigAnswer } from "@svc/contracts";
import type { Identity } from "../launch/page-settings.ts";
import type { Contact, Entry, VisitorEntry, WidgetState } from "../state.ts";
import { newId } from "../storage.ts";
import type { Storage } from "../storage.ts";
import {
  changeMessage,
  countUnread,
  deleteHistory,
  inOrder,
  NO_HISTORY,
  readHistory,
  saveHistory,
} from "./conversation.ts";
import type { Rating } from "./conversation.ts";
import type { ConnectionOptions } from "./open-connection.ts";
import { openOutbox } from "./outbox.ts";
import type { Locks, OutboxItem } from "./outbox.ts";

/** The visitor of this browser. The id is a secret: it is only sent in headers and the socket's first message. */
interface Visitor {
  /** Returns the id, which is created when it is first needed. */
  id: () => string;
  /** Number of the conversation that this tab shows. */
  chat: () => number;
  /** Shows another conversation, in other tabs too. */
  chooseChat: (conversation: number) => void;
  /** Returns true if this browser has used the service before. */
  isKnown: () => boolean;
  /** Returns true if another tab has replaced or removed the visitor of this tab. */
  hasChanged: () => boolean;
  /** Returns true if the site has identified the visitor. */
  hasProof: () => boolean;
  /** Returns the credentials as HTTP headers. */
  headers: () => Record<string, string>;
  /** Returns the credentials for the socket. */
  auth: () => { visitorId: string; conversation: number } & Partial<Identity>;
  /** Stores the id again if the page has removed it: new messages belong to it. */
  keep: () => void;
  /** Switches to the visitor stored in this browser; an earlier identity given by the page no longer counts. */
  follow: () => void;
  /**
   * Sets the identity of the visitor. Returns true if it replaces another one, whose conversation must not be shown.
   */
  identify: (identity: Identity) => boolean;
  /** Removes the visitor: the next id is another visitor's. */
  forget: () => void;
}

const VISITOR = "visitor";
const USER = "user";
const CHAT = "chat";
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns the stored visitor, or a new one. */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
function openVisitor(storage: Storage, apiKey: string): Visitor {
  let identity: Identity | null = null;
  let current: string | null = null;

  const keptChat = () => {
    const number = storage.read(CHAT);
    return typeof number === "number" ? number : 1;
  };
  let chat = keptChat();

  function kept(): string | null {
    const id = storage.read(VISITOR);
    return typeof id === "string" && UUID_V4.test(id) ? id : null;
  }

  function id(): string {
    // A page may clear the storage during a conversation.
    if (current === null) {
      current = kept() ?? newId();
      keep();
    }
    return current;
  }

  function keep(): void {
    if (current !== null && kept() === null) storage.write(VISITOR, current);
  }

  return {
    id,
    chat: () => chat,
    chooseChat(conversation) {
      chat = conversation;
      storage.write(CHAT, conversation);
    },
    isKnown: () => kept() !== null,
    hasChanged: () => current !== null && (current !== kept() || chat !== keptChat()),
    keep,
    follow() {
      current = null;
      chat = keptChat();
      if (storage.read(USER) !== identity?.userId) identity = null;
    },
    hasProof: () => identity?.userHash !== undefined,
    headers: () => ({
      "X-Api-Key": apiKey,
      "X-Visitor-Id": id(),
      "X-Conversation": String(chat),
      ...(identity !== null && { "X-User-Id": encodeURIComponent(identity.userId) }),
      ...(identity?.userHash !== undefined && { "X-User-Hash": identity.userHash }),
    }),
    auth: () => ({ visitorId: id(), conversation: chat, ...identity }),
    identify(given) {
      const before = storage.read(USER);
      identity = given;
      storage.write(USER, given.userId);
      return before !== null && before !== given.userId;
    },
    forget() {
      identity = null;
      current = null;
      chat = 1;
      storage.write(CHAT, null);
      // Other tabs switch when they are notified of the visitor, and must not find the user then.
      storage.write(USER, null);
      storage.write(VISITOR, null);
    },
  };
}

/** Events for the page; `error` has the code of the server. */
export interface WidgetEvents {
  message: { id: string; role: "visitor" | "agent" | "operator" | "system"; text: string };
  unread: number;
  error: { code: string };
}

/** Dependencies and settings of the store. */
export interface StoreOptions extends Pick<ConnectionOptions, "openSocket" | "loadHttp" | "random"> {
  /** URL of the widget's server, with a trailing slash. */
  base: string;
  apiKey: string;
  config: WidgetConfigAnswer;
  storage: Storage;
  /** What only this tab keeps. */
  tab: Storage;
  identity: Identity | null;
  /** Language of the widget, BCP 47; sent with each message. */
  locale: () => string;
  /** The visitor's current page. */
  page(): { url: string; title: string };
  emit: <Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]) => void;
  locks: Locks;
}

/** The browser's position in the conversation. */
interface Cursor {
  chatId: string | null;
  /** Sequence number of the last reply from before this page; no event reports those. */
  oldSeq: number;
  /** Sequence number up to which everything has arrived. */
  sinceSeq: number;
  /** Sequence number up to which missing items were requested again. */
  askedSeq: number;
  /** True until the response to that request. */
  isAsking: boolean;
  readSeq: number;
  /** The rating that the server has not confirmed. */
  pendingRating: Rating | null;
}

/** The position in a conversation of which nothing has arrived. */
const NOTHING_YET = { chatId: null, sinceSeq: 0, askedSeq: 0, isAsking: false, readSeq: 0 };

const SAVE_AFTER_MS = 300;

const initialState = ({ config, storage, tab }: StoreOptions): WidgetState => ({
  config,
  line: "idle",
  refusal: null,
  isOpen: tab.read("open") === true,
  entries: [],
  unread: 0,
  readSeq: 0,
  isTyping: false,
  typist: "",
  chat: 1,
  partial: null,
  conversation: "open",
  rating: null,
  // Off until the visitor enables it: the feature only offers it.
  hasSound: storage.read("sound") === true,
  needsContact: false,
  turn: 0,
});

/** Returns the state of a visitor's message that the server does not have yet. */
export function sendStateOf(line: WidgetState["line"], error: string | null): VisitorEntry["state"] {
  if (error !== null) return "failed";
  return line === "offline" || line === "refused" ? "waiting" : "sending";
}

/**
 * Creates the state of the store with its storage: the visitor, the unsent messages, and the history, which other pages
 * of this browser read.
 */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
export function createStoreCore(options: StoreOptions) {
  const { apiKey, config, storage, emit } = options;
  const visitor = openVisitor(storage, apiKey);
  const outbox = openOutbox(storage, newId(), { locks: options.locks, now: Date.now });
  const listeners = new Set<() => void>();
  const cursor: Cursor = { ...NOTHING_YET, oldSeq: 0, pendingRating: null };
  let saveTimer: ReturnType<typeof setTimeout> | undefined;
  let state = initialState(options);

  function set(change: Partial<WidgetState>): void {
    const before = state;
    const entries = change.entries ?? before.entries;
    const { readSeq } = cursor;
    const unread = countUnread(entries, readSeq);
    const needsContact = config.features.prechat.length > 0 && entries.length === 0 && contact() === null;
    state = { ...before, ...change, unread, readSeq, needsContact, chat: visitor.chat() };
    for (const listener of listeners) listener();
    if (unread !== before.unread) emit("unread", unread);
  }

  function contact(): Contact | null {
    const kept = storage.read("contact");
    if (typeof kept !== "object" || kept === null) return null;
    // Other scripts can write there too, and the server rejects a message with values other than strings.
    return Object.fromEntries(Object.entries(kept).filter(([, value]) => typeof value === "string"));
  }

  const canTalk = () => !config.features.identity || visitor.hasProof();

  const viewOfItem = ({ message, files, at, fault: error }: OutboxItem): VisitorEntry => ({
    kind: "visitor",
    key: message.clientMessageId,
    seq: null,
    at,
    text: message.text,
    files,
    state: sendStateOf(state.line, error),
    fault: error,
  });

  /** Shows these entries, and the messages that are not sent yet. */
  function show(entries: Entry[], change: Partial<WidgetState>): void {
    set({ ...change, entries: inOrder([...entries, ...outbox.list().map(viewOfItem)]) });
  }

  function save(): void {
    clearTimeout(saveTimer);
    saveTimer = undefined;
    // What another tab has just deleted must not be stored again.
    if (visitor.hasChanged()) return;
    const { chatId, sinceSeq, readSeq, pendingRating } = cursor;
    const { conversation, rating, entries } = state;
    saveHistory(storage, { chatId, sinceSeq, readSeq, conversation, rating, pendingRating, entries });
  }

  return {
    options,
    visitor,
    outbox,
    listeners,
    cursor,
    get: () => state,
    set,
    /** Returns the visitor's answers to the form before the first message; null if there are none. */
    contact,
    canTalk,
    viewOfItem,
    changeMessage: (key: string, values: Partial<VisitorEntry>) => {
      set({ entries: changeMessage(state.entries, key, values) });
    },
    /** Shows the stored conversation. */
    load() {
      const history = visitor.isKnown() && canTalk() ? readHistory(storage) : NO_HISTORY;
      const { chatId, sinceSeq, readSeq, pendingRating, conversation, rating, entries } = history;
      Object.assign(cursor, { chatId, sinceSeq, readSeq, pendingRating, oldSeq: sinceSeq });
      show(entries, { conversation, rating });
    },
    saveSoon: () => {
      saveTimer ??= setTimeout(save, SAVE_AFTER_MS);
    },
    /** Stores what `saveSoon` has not stored yet. */
    saveNow() {
      if (saveTimer !== undefined) save();
    },
    /** Ends the conversation in this browser, but not its unsent messages. */
    forget() {
      Object.assign(cursor, NOTHING_YET);
      deleteHistory(storage);
      show([], { conversation: "open", rating: null, isTyping: false, partial: null });
    },
  };
}

/** The state of the store with its storage. */
export type StoreCore = ReturnType<typeof createStoreCore>;
