/** Number of final letters that may differ: endings such as -s, -ing, -en, -tion. */
const MAX_ENDING_CHARS = 3;

/** Words that share fewer initial letters are different words. */
const MIN_STEM_CHARS = 4;

/**
 * Returns whether two words in lower case are equal or look like forms of one word, in any language: they differ only
 * in a short ending. Coarser than a stemmer, but sufficient to find the words of a question in a passage that a search
 * with a real stemmer has chosen.
 */
export function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  // A different number is a different thing.
  if (/\p{N}/u.test(one) || /\p{N}/u.test(other)) return false;
  const shorter = Math.min(one.length, other.length);
  if (Math.max(one.length, other.length) - shorter > MAX_ENDING_CHARS) return false;
  let same = 0;
  while (same < shorter && one[same] === other[same]) same += 1;
  return same >= MIN_STEM_CHARS && same >= shorter - MAX_ENDING_CHARS;
}

/** Similarity of two texts, each 0 to 1. */
export interface TokenScores {
  /**
   * Tokens that both have, whatever their order, as the harmonic mean of precision and recall: the F1 of SQuAD (Rajpurkar
   * et al. 2016), and of ROUGE-1.
   */
  f1: number;
  /** The longest sequence of tokens that both have in this order: the F1 of ROUGE-L (Lin 2004). */
  rougeL: number;
}

const f1 = (hits: number, given: number, wanted: number) => (hits === 0 ? 0 : (2 * hits) / (given + wanted));

/** Compares two lists of tokens. Takes time proportional to the product of their lengths: cut long ones. */
export function compareTokens(given: readonly string[], wanted: readonly string[]): TokenScores {
  return {
    f1: f1(countShared(given, wanted), given.length, wanted.length),
    rougeL: f1(longestCommon(given, wanted), given.length, wanted.length),
  };
}

function countShared(given: readonly string[], wanted: readonly string[]): number {
  const left = new Map<string, number>();
  for (const token of wanted) left.set(token, (left.get(token) ?? 0) + 1);
  let shared = 0;
  for (const token of given) {
    const count = left.get(token) ?? 0;
    if (count === 0) continue;
    shared += 1;
    left.set(token, count - 1);
  }
  return shared;
}

/** Length of the longest sequence that both have in this order. */
function longestCommon(one: readonly string[], other: readonly string[]): number {
  let row = new Uint32Array(other.length + 1);
  let next = new Uint32Array(other.length + 1);
  for (const token of one) {
    for (const [position, wanted] of other.entries()) {
      next[position + 1] =
        token === wanted ? (row[position] ?? 0) + 1 : Math.max(row[position + 1] ?? 0, next[position] ?? 0);
    }
    [row, next] = [next, row];
  }
  return row[other.length] ?? 0;
}
