import type { Source, WIDGET_LIMITS, WidgetConfigAnswer } from "@svc/contracts";

/**
 * The server's limits (`WIDGET_LIMITS`), copied because the browser does not load the schemas; a test compares them.
 */
export const LIMITS: Pick<
  typeof WIDGET_LIMITS,
  "textMaxChars" | "attachmentsMaxCount" | "fileMaxBytes" | "commentMaxChars" | "conversationsMaxCount"
> = {
  textMaxChars: 10_000,
  attachmentsMaxCount: 10,
  fileMaxBytes: 10 * 1024 * 1024,
  commentMaxChars: 2_000,
  conversationsMaxCount: 50,
};

/** URL of the file endpoints, with the credentials. */
export interface FileAccess {
  /** URL of the widget's server, with a trailing slash. */
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
  /** True if the server has deleted it. */
  expired?: boolean;
  /** Upload progress, 0 to 1; null otherwise. */
  progress: number | null;
}

/** Delivery state of a visitor's message: in progress, kept until the connection is restored, stored, or rejected. */
type SendState = "sending" | "waiting" | "sent" | "failed";

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
  /** Name of the string that describes the error; null if there is none. */
  fault: string | null;
}

/** A reply item. Its key is the reply's id. */
export interface ReplyEntry {
  kind: "reply";
  key: string;
  seq: number;
  at: number;
  author: "agent" | "operator" | "system";
  /** The author as visitors see it: a name, and the path of a picture on the site. */
  name?: string | undefined;
  picture?: string | undefined;
  item: { type: "message"; text: string; markdown: boolean; sources: Source[] } | { type: "file"; file: FileView };
}
export type Entry = VisitorEntry | ReplyEntry;

/** State of the connection. `refused` is permanent: a key, site or identity that is not accepted. */
type ConnectionState = "idle" | "connecting" | "online" | "offline" | "refused";

/** The state of the panel. Replaced, never mutated. */
export interface WidgetState {
  config: WidgetConfigAnswer;
  line: ConnectionState;
  /** Name of the string that describes the rejection; null if there is none. */
  refusal: string | null;
  isOpen: boolean;
  /** In the order of the conversation: by `seq`, entries without one last. */
  entries: Entry[];
  unread: number;
  /** Sequence number up to which the visitor has seen the replies. */
  readSeq: number;
  /** True while a reply is pending, or an operator is typing. */
  isTyping: boolean;
  /** Public name of the operator who is typing; empty if there is none. */
  typist: string;
  /** Number of the shown conversation of the visitor. */
  chat: number;
  /** The unfinished text of the pending reply; null if there is none. */
  partial: string | null;
  conversation: "open" | "waiting" | "done";
  /** The score that the visitor gave, 1 to 5; null if there is none. */
  rating: number | null;
  hasSound: boolean;
  /** True while the form before the first message has to be filled in. */
  needsContact: boolean;
  /** Increases when another visitor follows in this browser, who must not see the previous one's draft. */
  turn: number;
}

/** The visitor's contact data in the form before the first message. */
export interface Contact {
  name?: string;
  email?: string;
}

/** Actions of the panel. None of them throws; results appear in the state. */
export interface WidgetActions {
  open: () => void;
  close: () => void;
  send: (text: string, files?: FileView[], options?: { wantsPerson?: boolean }) => void;
  /** Sends a failed message again. */
  retry: (key: string) => void;
  /** Removes a failed message from the list. */
  discard: (key: string) => void;
  /** Returns the URL of the visitor's files and conversations, with the credentials. */
  fileAccess: () => FileAccess;
  /** Shows another conversation of the visitor, or starts it. Returns false while there are unsent messages. */
  openChat: (conversation: number) => boolean;
  rate: (score: number, comment?: string) => void;
  /** The visitor has seen everything that is shown. */
  markRead: () => void;
  /** Reports that the visitor is typing; may be called for each key. */
  noteTyping: () => void;
  /** Returns the unsent text that this tab has kept for the conversation; empty if there is none. */
  draft: () => string;
  /** Keeps the unsent text of the conversation in this tab, for its next page. */
  keepDraft: (text: string) => void;
  setSound: (on: boolean) => void;
  /** Stores the contact data of the form; it is sent with the next message. */
  introduce: (contact: Contact) => void;
}

/** The state with its actions. */
export interface WidgetStore {
  get: () => WidgetState;
  /** Calls `listener` after each change; returns a function that unsubscribes it. */
  subscribe: (listener: () => void) => () => void;
  actions: WidgetActions;
}
