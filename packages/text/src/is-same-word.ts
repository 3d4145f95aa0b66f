/** How many letters at the end may differ: endings such as -s, -ing, -en, -tion. */
const MAX_ENDING_CHARS = 3;

/** Words that share fewer letters at their beginning are different words. */
const MIN_STEM_CHARS = 4;

/**
 * True when two words in lower case are equal or look like forms of one word, in any language: they begin alike and
 * differ in a short ending only. Coarser than a stemmer; good enough to find the words of a question in a passage
 * that a search with a real stemmer has chosen.
 */
export function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  // Another number is another thing.
  if (/\p{N}/u.test(one) || /\p{N}/u.test(other)) return false;
  const shorter = Math.min(one.length, other.length);
  if (Math.max(one.length, other.length) - shorter > MAX_ENDING_CHARS) return false;
  let same = 0;
  while (same < shorter && one[same] === other[same]) same += 1;
  return same >= MIN_STEM_CHARS && same >= shorter - MAX_ENDING_CHARS;
}
