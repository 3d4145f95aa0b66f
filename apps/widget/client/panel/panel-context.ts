import type { VNode } from "preact";
import type { Texts } from "../locales/create-texts.ts";
import type { Entry, FileView, WidgetActions, WidgetState } from "../state.ts";

/** Parts of the panel that few visitors need, each a file that is loaded when it is first shown. */
export interface Parts {
  chats: { viewChats(context: PanelContext): VNode };
  files: {
    add(files: readonly File[], context: PanelContext): void;
    viewDraft(file: DraftFile, context: PanelContext): VNode;
    viewFile(file: FileView, entry: Entry, context: PanelContext): VNode;
  };
  forms: Record<"Rating" | "Contact", (props: { context: PanelContext }) => VNode>;
}

/** A file of the message that is being written. */
export interface DraftFile {
  /** No other file of this panel has it. */
  key: number;
  view: FileView;
  /** Name of the string that says why it was not taken; null otherwise. */
  fault: string | null;
  /** Ends its transfer. */
  abort: () => void;
}

/** What only the panel knows, apart from the conversation. */
export interface PanelUi {
  /** The text that is being written. */
  text: string;
  files: DraftFile[];
  /** Name of the string that says what went wrong last; null otherwise. */
  fault: string | null;
  /** Key of the first entry that was not read when the panel was opened. */
  newFrom?: string | undefined;
  /** The part that has come, 0 to 1, of each file that is being fetched, by its `fileId`. */
  coming: Map<string, number>;
  /** True while there are messages below what can be seen that came in meanwhile. */
  hasMore: boolean;
  /** True while files are held over the panel. */
  isDragging: boolean;
  /** Another object each time that the visitor's conversations are shown in place of one of them; null otherwise. */
  listing: object | null;
  /** How many times files were given that wait for the part that takes them. */
  adding: number;
  /** How many entries there were when the visitor asked to rate, or rated; 0 before that. */
  ratedAt: number;
  /** What the live region says, and how often it has said something: the same words can be said again. */
  said: string;
  saidCount: number;
}

/** What each view of the panel is given. It is the same object each time, and holds what is so now. */
export interface PanelContext {
  state: WidgetState;
  texts: Texts;
  ui: PanelUi;
  actions: WidgetActions;
  /** Changes parts of what only the panel knows, and shows them. */
  change: (part: Partial<PanelUi>) => void;
  /** Lets the live region say something. */
  say: (words: string) => void;
  /** Takes files into the message that is being written, as far as there is room. */
  addFiles: (files: Iterable<File>) => void;
  /** Sends what is written. */
  send: () => void;
  scrollToEnd: () => void;
  /** The parts that are loaded. */
  parts: Partial<Parts>;
  /** Loads a part unless it is there or on the way, shows it, and calls `work`. */
  need: (name: keyof Parts, work?: () => void) => void;
  /** The text of Markdown. */
  plain: (markdown: string) => string;
  /** Entries as they were shown last: as long as they and the texts are the same, they need not be shown again. */
  shown: WeakMap<Entry, VNode>;
}
