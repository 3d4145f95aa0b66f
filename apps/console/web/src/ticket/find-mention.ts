/** Maximum length of a name in a mention. */
const WORD_MAX_CHARS = 40;

/** Returns the mention at the caret: the position of its @, and the letters so far; null if there is none. */
export function findMention(text: string, caret: number): { at: number; word: string } | null {
  const before = text.slice(0, caret);
  const at = before.lastIndexOf("@");
  if (at < 0 || (at > 0 && !/\s/.test(before.charAt(at - 1)))) return null;
  const word = before.slice(at + 1);
  return word.length > WORD_MAX_CHARS || /\s/.test(word) ? null : { at, word };
}

const ACTOR = /^operator:/;
/** Copied from REVIEW_LIMITS of the contracts; the server checks it. */
const MENTIONS_MAX_COUNT = 20;

/** Characters that may precede the @ of a mention, so that an email address is not one. */
const BEFORE = /[^\p{L}\p{N}\p{M}_.]$/u;
/** Characters that continue a name: Ann is neither Anna nor Ann-Marie. */
const GOES_ON = /^(?:[\p{L}\p{N}\p{M}_]|-\p{L})/u;

/** Returns the names after an @ in a text: the longest match at each position. */
function namesIn(text: string, names: readonly string[]): Set<string> {
  const longestFirst = names.filter((name) => name !== "").sort((one, other) => other.length - one.length);
  const found = new Set<string>();
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    if (at > 0 && !BEFORE.test(text.slice(Math.max(0, at - 2), at))) continue;
    const name = longestFirst.find(
      (one) => text.startsWith(one, at + 1) && !GOES_ON.test(text.slice(at + 1 + one.length, at + 4 + one.length)),
    );
    if (name !== undefined) found.add(name);
  }
  return found;
}

/**
 * Returns the ids of operators whom a note mentions, whose names follow an @. Of several with the same name, those
 * `chosen` from the list if any, otherwise all. The author is excluded.
 */
export function mentionsIn(
  text: string,
  people: readonly { actor: string; name: string; isMe?: boolean }[],
  chosen: readonly string[] = [],
): { mentions?: string[] } {
  const names = namesIn(
    text,
    people.map(({ name }) => name),
  );
  const isChosen = ({ actor }: { actor: string }) => chosen.includes(actor);
  const mentions = [...names]
    .flatMap((name) => {
      const namesakes = people.filter((person) => person.name === name);
      return namesakes.some(isChosen) ? namesakes.filter(isChosen) : namesakes;
    })
    .filter(({ isMe }) => isMe !== true)
    .map(({ actor }) => actor.replace(ACTOR, ""))
    .slice(0, MENTIONS_MAX_COUNT);
  return mentions.length === 0 ? {} : { mentions };
}
