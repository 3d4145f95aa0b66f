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

const ACTOR = /^operator:/;
/** REVIEW_LIMITS of the contracts say the same; the server checks. */
const MENTIONS_MAX_COUNT = 20;

/** Whom a note is for: the operators whose names stand in it after an @, as the server wants their ids. */
export function mentionsIn(text: string, people: readonly { actor: string; name: string }[]): { mentions?: string[] } {
  const mentions = people
    .filter(({ name }) => text.includes(`@${name}`))
    .map(({ actor }) => actor.replace(ACTOR, ""))
    .slice(0, MENTIONS_MAX_COUNT);
  return mentions.length === 0 ? {} : { mentions };
}
