import type { TextKey } from "../i18n/texts.ts";

/** What is known of a key that was pressed. */
interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** A key as commands name it: `j`, `?`, `Enter`, `mod+k`, `shift+Enter`. Ctrl and Cmd are the same; letters are small. */
export function nameKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string {
  const isLetter = /^\p{L}$/u.test(key);
  const isSign = key.length === 1 && !isLetter;
  const name = isLetter ? key.toLowerCase() : key;
  return [
    ctrlKey || metaKey ? "mod+" : "",
    altKey ? "alt+" : "",
    // A sign says by itself whether Shift was held.
    shiftKey && !isSign ? "shift+" : "",
    name,
  ].join("");
}

/** Whether a key is a single letter or sign, with Shift or not: what may be switched off, and what speech types. */
export const isSingleKey = (name: string): boolean => Array.from(name.replace(/^shift\+(?=.)/, "")).length === 1;

/** What keys that were pressed one after another come to among the keys of commands. */
export type KeyMatch = { kind: "hit"; index: number } | { kind: "begin" } | { kind: "none" };

/**
 * Finds the command whose keys (as in `g i`) have been pressed; of several the last one, which was registered later and
 * so is closer to what is worked on.
 */
export function matchKeys(pressed: readonly string[], keysOfCommands: readonly (string | undefined)[]): KeyMatch {
  const text = pressed.join(" ");
  const index = keysOfCommands.findLastIndex((keys) => keys === text);
  if (index >= 0) return { kind: "hit", index };
  return { kind: keysOfCommands.some((keys) => keys?.startsWith(`${text} `) === true) ? "begin" : "none" };
}

/** Chapters of the list of keys. */
export type CommandGroup = "general" | "go" | "list" | "ticket" | "bulk" | "page";

/** Something that can be done now: by its keys, and from the palette. */
export interface Command {
  id: string;
  /** What it does, as the palette and the list of keys show it. */
  title: string;
  group: CommandGroup;
  /** As in `j`, `g i` or `mod+k`; none for what the palette alone offers. */
  keys?: string;
  /** True for what changes something for good, as in sending: its key counts once, even where it is pressed twice. */
  isDecision?: boolean;
  run: () => void;
}

/** A command, without the group that all of its list have. */
export type GroupCommand = Omit<Command, "group">;

/** Titles of the groups. */
export const GROUP_TITLES = {
  general: "keys.general",
  go: "keys.go",
  list: "keys.list",
  ticket: "keys.ticket",
  bulk: "keys.bulk",
  page: "keys.page",
} as const satisfies Record<CommandGroup, TextKey>;

/** A key that was pressed on the page, as the browser tells it. */
export type PressedKey = KeyPress &
  Pick<KeyboardEvent, "defaultPrevented" | "isComposing" | "preventDefault" | "repeat" | "target" | "timeStamp">;

/** The commands of all that is shown now. */
export interface CommandRegistry {
  /** Adds what `read` answers at any time, until the answer is called. */
  add: (read: () => readonly Command[]) => () => void;
  /** All commands, the later registered of two with the same id. */
  list: () => Command[];
  /** Runs what a key stands for. True when it was for a command. */
  press: (event: PressedKey, hasSingleKeys: boolean) => boolean;
}

/** How long the second key of a sequence is waited for. */
const SEQUENCE_MS = 1_200;

/** Nobody has read what has come to the place of something decided so shortly before. */
export const READ_MS = 600;
/** Keys that may be held. All others count once, however long they are held. */
const HELD: ReadonlySet<string> = new Set(["j", "k", "ArrowDown", "ArrowUp"]);

const EDITABLE = "input, textarea, select, [contenteditable], [role=menu], [role=listbox], [role=combobox]";
const PRESSABLE = "a[href], button, summary, [role=button], [role=tab], [role=checkbox]";

/** In a field it undoes what was typed. */
const UNDO_KEY = "mod+z";

/** Whether a key belongs to what has the focus, and not to a command. */
function isTaken(event: PressedKey, name: string): boolean {
  const { target } = event;
  if (!(target instanceof Element) || (name.startsWith("mod+") && name !== UNDO_KEY)) return false;
  if (target.closest(EDITABLE) !== null && !target.matches("input[type=checkbox], input[type=radio]")) return true;
  return ["Enter", " ", "Spacebar"].includes(name) && target.closest(PRESSABLE) !== null;
}

/** Makes a registry without commands. */
export function createCommandRegistry(): CommandRegistry {
  const sources = new Set<() => readonly Command[]>();
  let pressed: string[] = [];
  let pressedAt = 0;
  let decidedAt = Number.NEGATIVE_INFINITY;

  const list = () => {
    const byId = new Map<string, Command>();
    for (const read of sources) for (const command of read()) byId.set(command.id, command);
    return [...byId.values()];
  };

  return {
    add(read) {
      sources.add(read);
      return () => sources.delete(read);
    },
    list,
    press(event, hasSingleKeys) {
      const name = nameKey(event);
      if (event.defaultPrevented || event.isComposing || ["Control", "Meta", "Shift", "Alt"].includes(event.key)) {
        return false;
      }
      if (isTaken(event, name) || document.querySelector("dialog:modal") !== null) return false;
      if (!hasSingleKeys && isSingleKey(name)) return false;
      // With a selection, the keys of a ticket are those of the selected tickets.
      const commands = list().toSorted((one, other) => Number(one.group === "bulk") - Number(other.group === "bulk"));
      const keys = commands.map((command) => command.keys);
      const isSoon = event.timeStamp - pressedAt < SEQUENCE_MS;
      const together = isSoon ? [...pressed, name] : [name];
      const found = matchKeys(together, keys);
      const match = found.kind === "none" && together.length > 1 ? matchKeys([name], keys) : found;
      pressed = match.kind === "begin" ? together : [];
      pressedAt = event.timeStamp;
      if (match.kind !== "hit") return match.kind === "begin";
      event.preventDefault();
      const command = commands[match.index];
      if (event.repeat && !HELD.has(name)) return true;
      if (command?.isDecision === true) {
        if (event.timeStamp - decidedAt < READ_MS) return true;
        decidedAt = event.timeStamp;
      }
      command?.run();
      return true;
    },
  };
}
