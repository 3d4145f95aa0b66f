import type { VNode } from "preact";
import type { Texts } from "../locales/create-texts.ts";
import type { Entry, FileView, WidgetActions, WidgetState } from "../state.ts";

/** Rarely needed parts of the panel, each in a file that is loaded when it is first shown. */
export interface Parts {
  chats: { viewChats(context: PanelContext): VNode };
  files: {
    add(files: readonly File[], context: PanelContext): void;
    viewDraft(file: DraftFile, context: PanelContext): VNode;
    viewFile(file: FileView, entry: Entry, context: PanelContext): VNode;
  };
  forms: Record<"Rating" | "Contact", (props: { context: PanelContext }) => VNode>;
}

/** A file of the draft message. */
export interface DraftFile {
  /** Unique within this panel. */
  key: number;
  view: FileView;
  /** Name of the string that describes the error; null if there is none. */
  fault: string | null;
  /** Aborts its upload. */
  abort: () => void;
}

/** State of the panel itself, apart from the conversation. */
export interface PanelUi {
  /** The draft text. */
  text: string;
  files: DraftFile[];
  /** Name of the string for the last error; null if there is none. */
  fault: string | null;
  /** Key of the first entry that was unread when the panel was opened. */
  newFrom?: string | undefined;
  /** Progress of each file that is being downloaded, 0 to 1, by its `fileId`. */
  coming: Map<string, number>;
  /** True while there are new messages below the visible part. */
  hasMore: boolean;
  /** True while files are dragged over the panel. */
  isDragging: boolean;
  /** A new object each time that the list of conversations is opened; null while it is closed. */
  listing: object | null;
  /** Number of pending additions of files, which wait for the part that handles them. */
  adding: number;
  /** Number of entries when the visitor opened the rating, or rated; 0 before that. */
  ratedAt: number;
  /** Content of the live region, and a counter: the same words can be announced again. */
  said: string;
  saidCount: number;
}

/** Context of the panel's views. It is the same object each time, with the current state. */
export interface PanelContext {
  state: WidgetState;
  texts: Texts;
  ui: PanelUi;
  actions: WidgetActions;
  /** Changes the state of the panel, and renders it. */
  change: (part: Partial<PanelUi>) => void;
  /** Announces a text in the live region. */
  say: (words: string) => void;
  /** Adds files to the draft message, up to the limit. */
  addFiles: (files: Iterable<File>) => void;
  /** Sends the draft message. */
  send: () => void;
  scrollToEnd: () => void;
  /** The loaded parts. */
  parts: Partial<Parts>;
  /** Loads a part unless it is loaded or loading, shows it, and calls `work`. */
  need: (name: keyof Parts, work?: () => void) => void;
  /** Returns the plain text of Markdown. */
  plain: (markdown: string) => string;
  /** Cached views of entries, which are rendered again only if the entry or the texts change. */
  shown: WeakMap<Entry, VNode>;
}
