import type { VNode } from "preact";
import type { Texts } from "../locales/create-texts.ts";
import type { Entry, FileView, WidgetActions, WidgetState } from "../state.ts";
import type { Forms } from "./forms.tsx";

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
  removeFile: (file: DraftFile) => void;
  /** Sends what is written. */
  send: () => void;
  /** Downloads a file of an entry; one download at a time. Shows an error if it fails. */
  download: (file: FileView, entry: Entry) => void;
  scrollToEnd: () => void;
  /** The forms; null until they are loaded. */
  forms: Forms | null;
  /** Loads the forms unless they are there or on the way, shows them, and calls `work`. */
  loadForms: (work?: () => void) => void;
  /** Entries as they were shown last: as long as they and the texts are the same, they need not be shown again. */
  shown: WeakMap<Entry, VNode>;
}
