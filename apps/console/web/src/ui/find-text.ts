/** Returns a text in lower case without accents, as it is searched for. */
export const fold = (text: string): string => text.toLowerCase().normalize("NFD").replaceAll(/\p{M}/gu, "");

/** An option with its value. */
export interface Option<Value extends string> {
  value: Value;
  label: string;
}

/**
 * Returns the index of the next option whose label begins with the typed letters, starting at `from` and wrapping
 * around; `from` itself if there is none. The same letter typed repeatedly cycles through the options that begin with
 * it.
 */
export function findOption(options: readonly Option<string>[], typed: string, from: number): number {
  const letters = Array.from(typed.toLowerCase());
  const isOneLetter = letters.every((letter) => letter === letters[0]);
  const begin = isOneLetter ? (letters[0] ?? "") : typed.toLowerCase();
  // A further letter of a word may still match the active option; a single letter moves to the next one.
  const start = isOneLetter ? from + 1 : from;
  for (let step = 0; step < options.length; step += 1) {
    const index = (start + step) % options.length;
    if (options[index]?.label.toLowerCase().startsWith(begin) === true) return index;
  }
  return from;
}

/** A web address in a text, without the punctuation behind it. */
const WEB_ADDRESS = /(https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]}])/i;

/** Returns the parts of a text in their order: every other one, from the second on, is a web address. */
export const splitAddresses = (text: string): string[] => text.split(WEB_ADDRESS);
