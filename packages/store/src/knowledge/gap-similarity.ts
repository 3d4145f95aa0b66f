/** From this similarity on two questions count as one: chosen by `tests/packages/store/gap-groups.test.ts`. */
export const SAME_QUESTION = 0.7;

/** Terms that share fewer letters at their beginning are different words. */
const MIN_COMMON_CHARS = 4;

/** So much longer is a word that is made of another one: `livr`, `livraison`. */
const MAX_ENDING_CHARS = 5;

/** A shorter word with one letter changed is another word. */
const MIN_MISSPELT_CHARS = 6;

const HAS_DIGIT = /\p{N}/u;

/**
 * How much two questions ask the same, 0 to 1: twice the terms that they share, against all that they have. Two forms of
 * a word count as shared, and so does one with a slip of the pen; when each has a code or number that the other lacks
 * (`K-1050`, `K-2000`) they ask different things.
 */
export function similarityOf(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return 0;
  const isNumberOf = (terms: readonly string[]) => (term: string) => HAS_DIGIT.test(term) && !terms.includes(term);
  if (one.some(isNumberOf(other)) && other.some(isNumberOf(one))) return 0;
  const left = [...other];
  let shared = 0;
  for (const term of one) {
    const exact = left.indexOf(term);
    const place = exact === -1 ? left.findIndex((candidate) => isSameTerm(term, candidate)) : exact;
    if (place === -1) continue;
    left.splice(place, 1);
    shared += 1;
  }
  return (2 * shared) / (one.length + other.length);
}

function isSameTerm(one: string, other: string): boolean {
  if (HAS_DIGIT.test(one) || HAS_DIGIT.test(other)) return false;
  const shorter = Math.min(one.length, other.length);
  const beyond = Math.max(one.length, other.length) - shorter;
  const common = commonLength(one, other);
  if (common === shorter && common >= MIN_COMMON_CHARS && beyond <= MAX_ENDING_CHARS) return true;
  if (shorter < MIN_MISSPELT_CHARS || beyond > 1) return false;
  const tail = Math.min(commonEndLength(one, other), shorter - common);
  return shorter + beyond - common - tail <= 1;
}

function commonLength(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let length = 0;
  while (length < shorter && one[length] === other[length]) length += 1;
  return length;
}

function commonEndLength(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let length = 0;
  while (length < shorter && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}
