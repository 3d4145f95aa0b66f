/** The words that triage knows, and the way from a misspelt word to the one that was meant. */
export interface Spelling {
  /** In how many samples each word stands. */
  counts: Map<string, number>;
  /** The known words that become this one when at most one letter is left out. */
  shortened: Map<string, string[]>;
  /** How many known words begin so. */
  beginnings: Map<string, number>;
}

/** Shorter words are too close to each other to say which was meant; longer ones are no words. */
const CORRECTED_CHARS = { least: 4, most: 30 } as const;

/** Forms of one word begin alike, in any language: by this number of letters, or all of a word that short. */
const BEGINNING_CHARS = { least: 4, most: 5 } as const;

/** A spelling that knows no word yet. */
export function createSpelling(): Spelling {
  return { counts: new Map(), shortened: new Map(), beginnings: new Map() };
}

/** Takes in the words of a sample. Changes `spelling`. */
export function addWords(spelling: Spelling, terms: readonly string[]): void {
  for (const term of new Set(terms)) {
    const count = spelling.counts.get(term) ?? 0;
    spelling.counts.set(term, count + 1);
    if (count > 0) continue;
    for (const beginning of beginningsOf(term)) {
      spelling.beginnings.set(beginning, (spelling.beginnings.get(beginning) ?? 0) + 1);
    }
    if (!isCorrectable(term)) continue;
    for (const short of shorten(term)) {
      const words = spelling.shortened.get(short);
      if (words === undefined) spelling.shortened.set(short, [term]);
      else if (!words.includes(term)) words.push(term);
    }
  }
}

/** Takes the words of a sample out again. Changes `spelling`; a word that stands nowhere any more counts as unknown. */
export function removeWords(spelling: Spelling, terms: readonly string[]): void {
  for (const term of new Set(terms)) {
    const count = spelling.counts.get(term) ?? 0;
    if (count > 1) {
      spelling.counts.set(term, count - 1);
      continue;
    }
    if (!spelling.counts.delete(term)) continue;
    for (const beginning of beginningsOf(term)) {
      spelling.beginnings.set(beginning, (spelling.beginnings.get(beginning) ?? 0) - 1);
    }
  }
}

/** Whether a word or another form of it is known. */
export function isFamiliar(spelling: Spelling, term: string): boolean {
  if (spelling.counts.has(term)) return true;
  return (
    term.length >= BEGINNING_CHARS.least && (spelling.beginnings.get(term.slice(0, BEGINNING_CHARS.most)) ?? 0) > 0
  );
}

/**
 * The known word that was most likely meant by an unknown one: one letter away (left out, added, another, or two
 * swapped), beginning with the same letter if possible, the commonest of those. A known word, one with digits, and one
 * that nothing is close to stay as they are.
 */
export function correctTerm(spelling: Spelling, term: string): string {
  if (spelling.counts.has(term) || !isCorrectable(term)) return term;
  const close = [...new Set(shorten(term).flatMap((short) => spelling.shortened.get(short) ?? []))]
    .filter((word) => spelling.counts.has(word) && isOneLetterAway(term, word))
    .map((word) => ({ word, sameStart: word[0] === term[0], count: spelling.counts.get(word) ?? 0 }))
    .sort((a, b) => Number(b.sameStart) - Number(a.sameStart) || b.count - a.count || (a.word < b.word ? -1 : 1));
  return close[0]?.word ?? term;
}

function isCorrectable(term: string): boolean {
  return term.length >= CORRECTED_CHARS.least && term.length <= CORRECTED_CHARS.most && !/\p{N}/u.test(term);
}

function beginningsOf(term: string): string[] {
  if (term.length < BEGINNING_CHARS.least) return [];
  return [...new Set([term.slice(0, BEGINNING_CHARS.least), term.slice(0, BEGINNING_CHARS.most)])];
}

/** A word and what remains when one of its letters is left out. */
function shorten(term: string): string[] {
  return [term, ...Array.from(term, (_, index) => term.slice(0, index) + term.slice(index + 1))];
}

/** True when one letter more, less or other, or two neighbours swapped, make one word of the other. */
function isOneLetterAway(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  if (short.length < long.length) return short.slice(start) === long.slice(start + 1);
  if (short.slice(start + 1) === long.slice(start + 1)) return true;
  const isSwapped = short[start] === long[start + 1] && short[start + 1] === long[start];
  return isSwapped && short.slice(start + 2) === long.slice(start + 2);
}
