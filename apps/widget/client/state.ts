import type { Source, WidgetConfigAnswer } from "@svc/contracts";

/** Where files go, and what proves who asks. */
export interface FileAccess {
  /** Address of the widget's server, with a slash at its end. */
  base: string;
  headers: Record<string, string>;
}

/** A file as the visitor sees it. */
export interface FileView {
  /** Null until the server has it. */
  fileId: string | null;
  filename: string;
  mime: string;
  sizeBytes: number;
  /** True when the server has it no more. */
  expired?: boolean;
  /** 0 to 1 while it is sent; null otherwise. */
  progress: number | null;
}

/** What became of a message of the visitor: under way, kept until the line is back, stored, or refused. */
export type SendState = "sending" | "waiting" | "sent" | "failed";

/** A message of the visitor. Its key is its `clientMessageId`. */
export interface VisitorEntry {
  kind: "visitor";
  key: string;
  /** Null until the server has it. */
  seq: number | null;
  /** Epoch milliseconds. */
  at: number;
  text: string;
  files: FileView[];
  state: SendState;
  /** Name of the string that says why it failed; null otherwise. */
  fault: string | null;
}

/** A reply item. Its key is the reply's id. */
export interface ReplyEntry {
  kind: "reply";
  key: string;
  seq: number;
  at: number;
  author: "agent" | "operator" | "system";
  /** What visitors see of who wrote it: a name, and the path of a picture on the site. */
  name?: string | undefined;
  picture?: string | undefined;
  item: { type: "message"; text: string; markdown: boolean; sources: Source[] } | { type: "file"; file: FileView };
}
export type Entry = VisitorEntry | ReplyEntry;

/** How the line to the server is. `refused` is for good: a key, site or identity that is not accepted. */
export type LineState = "idle" | "connecting" | "online" | "offline" | "refused";

/** All that the panel shows. Replaced, never changed. */
export interface WidgetState {
  config: WidgetConfigAnswer;
  line: LineState;
  /** Name of the string that says why the line is refused; null otherwise. */
  refusal: string | null;
  isOpen: boolean;
  /** In the order of the conversation: by `seq`, what has none yet last. */
  entries: Entry[];
  unread: number;
  /** The place up to which the visitor has seen the replies. */
  readSeq: number;
  /** True while a reply is pending, or somebody writes one. */
  isTyping: boolean;
  /** Public name of the person who writes; empty if there is none. */
  typist: string;
  /** Number of the visitor's conversation that is shown. */
  chat: number;
  /** What the pending reply says so far; null while nothing can be shown. */
  partial: string | null;
  conversation: "open" | "waiting" | "done";
  /** The score that the visitor gave, 1 to 5; null while none. */
  rating: number | null;
  hasSound: boolean;
  /** True while the form before the first message has to be filled in. */
  needsContact: boolean;
  /** Grows with each visitor that begins after another one, who must see nothing of what that one has begun to write. */
  turn: number;
}

/** Who the visitor says to be, in the form before the first message. */
export interface Contact {
  name?: string;
  email?: string;
}

/** What the panel can ask for. None of them throws; what becomes of them is seen in the state. */
export interface WidgetActions {
  open: () => void;
  close: () => void;
  send: (text: string, files?: FileView[], options?: { wantsPerson?: boolean }) => void;
  /** Sends a failed message again. */
  retry: (key: string) => void;
  /** Takes a failed message out of the list. */
  discard: (key: string) => void;
  /** Where files and conversations of the visitor are, and what proves who asks. */
  fileAccess: () => FileAccess;
  /** Shows another conversation of the visitor, or begins it. False while there are unsent messages. */
  openChat: (conversation: number) => boolean;
  rate: (score: number, comment?: string) => void;
  /** The visitor has seen everything that is shown. */
  markRead: () => void;
  /** Tells that the visitor is writing; called as often as is convenient. */
  noteTyping: () => void;
  /** Returns the unsent text that this tab has kept for the conversation; empty if there is none. */
  draft: () => string;
  /** Keeps the unsent text of the conversation in this tab, for its next page. */
  keepDraft: (text: string) => void;
  setSound: (on: boolean) => void;
  /** Keeps what the form before the first message asked for; it goes with the next message. */
  introduce: (contact: Contact) => void;
}

/** The state with its changes. */
export interface WidgetStore {
  get: () => WidgetState;
  /** Calls `listener` after each change; answers a function that ends this. */
  subscribe: (listener: () => void) => () => void;
  actions: WidgetActions;
}
