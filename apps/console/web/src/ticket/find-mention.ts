/** The longest name that is looked for. */
const WORD_MAX_CHARS = 40;

/** The mention that is being written at the caret: where its @ stands, and the letters so far; null where none is. */
export function findMention(text: string, caret: number): { at: number; word: string } | null {
  const before = text.slice(0, caret);
  const at = before.lastIndexOf("@");
  if (at < 0 || (at > 0 && !/\s/.test(before.charAt(at - 1)))) return null;
  const word = before.slice(at + 1);
  return word.length > WORD_MAX_CHARS || /\s/.test(word) ? null : { at, word };
}
