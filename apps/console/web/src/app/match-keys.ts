/** What is known of a key that was pressed. */
export interface KeyPress {
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
