import type { TextKey } from "../i18n/texts.ts";

/** Properties of a pressed key. */
interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/**
 * Returns the name of a key in commands: `j`, `?`, `Enter`, `mod+k`, `shift+Enter`. Ctrl and Cmd are equivalent;
 * letters are lower-case.
 */
export function nameKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string {
  const isLetter = /^\p{L}$/u.test(key);
  const isSign = key.length === 1 && !isLetter;
  const name = isLetter ? key.toLowerCase() : key;
  return [
    ctrlKey || metaKey ? "mod+" : "",
    altKey ? "alt+" : "",
    // A symbol already implies whether Shift was held.
    shiftKey && !isSign ? "shift+" : "",
    name,
  ].join("");
}

/**
 * Returns whether a key is a single letter or symbol, with or without Shift: these can be disabled, because speech
 * input types them.
 */
export const isSingleKey = (name: string): boolean => Array.from(name.replace(/^shift\+(?=.)/, "")).length === 1;

/** Result of matching a sequence of pressed keys with the keys of commands. */
export type KeyMatch = { kind: "hit"; index: number } | { kind: "begin" } | { kind: "none" };

/**
 * Finds the command whose keys (such as `g i`) were pressed; of several the last one, which was registered later and is
 * therefore more specific.
 */
export function matchKeys(pressed: readonly string[], keysOfCommands: readonly (string | undefined)[]): KeyMatch {
  const text = pressed.join(" ");
  const index = keysOfCommands.findLastIndex((keys) => keys === text);
  if (index >= 0) return { kind: "hit", index };
  return { kind: keysOfCommands.some((keys) => keys?.startsWith(`${text} `) === true) ? "begin" : "none" };
}

/** Sections of the list of keyboard shortcuts. */
export type CommandGroup = "general" | "go" | "list" | "ticket" | "bulk" | "page";

/** An available command, with its keys, and in the palette. */
export interface Command {
  id: string;
  /** Title in the palette and in the list of keyboard shortcuts. */
  title: string;
  group: CommandGroup;
  /** Such as `j`, `g i` or `mod+k`; none for commands that are only in the palette. */
  keys?: string;
  /** True for an irreversible change, such as sending: its key counts once, even if it is pressed twice. */
  isDecision?: boolean;
  run: () => void;
}

/** A command without its group, which all commands of a list share. */
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

/** A key pressed on the page, as reported by the browser. */
export type PressedKey = KeyPress &
  Pick<KeyboardEvent, "defaultPrevented" | "isComposing" | "preventDefault" | "repeat" | "target" | "timeStamp">;

/** The commands of everything that is shown. */
export interface CommandRegistry {
  /** Adds the commands that `read` returns at any time, until the returned function is called. */
  add: (read: () => readonly Command[]) => () => void;
  /** Returns all commands, the later one of two with the same id. */
  list: () => Command[];
  /** Runs the command of a key. Returns true if there was one. */
  press: (event: PressedKey, hasSingleKeys: boolean) => boolean;
}

/** Time limit for the second key of a sequence, in milliseconds. */
const SEQUENCE_MS = 1_200;

/** Time after a decision in which the next item cannot have been read, in milliseconds. */
export const READ_MS = 600;
/** Keys that repeat while they are held. All others count once. */
const HELD: ReadonlySet<string> = new Set(["j", "k", "ArrowDown", "ArrowUp"]);

const EDITABLE = "input, textarea, select, [contenteditable], [role=menu], [role=listbox], [role=combobox]";
const PRESSABLE = "a[href], button, summary, [role=button], [role=tab], [role=checkbox]";

/** In a field it undoes typing. */
const UNDO_KEY = "mod+z";

/** Returns whether a key is handled by the focused element, and not by a command. */
function isTaken(event: PressedKey, name: string): boolean {
  const { target } = event;
  if (!(target instanceof Element) || (name.startsWith("mod+") && name !== UNDO_KEY)) return false;
  if (target.closest(EDITABLE) !== null && !target.matches("input[type=checkbox], input[type=radio]")) return true;
  return ["Enter", " ", "Spacebar"].includes(name) && target.closest(PRESSABLE) !== null;
}

/** Creates a registry without commands. */
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
