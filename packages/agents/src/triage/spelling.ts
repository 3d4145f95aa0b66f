/** The words that triage knows, for correcting misspelt ones. */
export interface Spelling {
  /** Number of samples that contain each word. */
  counts: Map<string, number>;
  /** Known words by the results of leaving out at most one letter. */
  shortened: Map<string, string[]>;
  /** Number of known words by prefix. */
  beginnings: Map<string, number>;
}

/** Shorter words are too similar to each other to correct; longer ones are not words. */
const CORRECTED_CHARS = { least: 4, most: 30 } as const;

/** Length of the prefix that the forms of one word share, in any language; shorter words must be equal. */
const BEGINNING_CHARS = { least: 4, most: 5 } as const;

/** Creates a spelling without words. */
export function createSpelling(): Spelling {
  return { counts: new Map(), shortened: new Map(), beginnings: new Map() };
}

/** Adds the words of a sample. Changes `spelling`. */
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

/** Removes the words of a sample. Changes `spelling`; a word in no other sample becomes unknown. */
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

/** Returns whether a word or another form of it is known. */
export function isFamiliar(spelling: Spelling, term: string): boolean {
  if (spelling.counts.has(term)) return true;
  return (
    term.length >= BEGINNING_CHARS.least && (spelling.beginnings.get(term.slice(0, BEGINNING_CHARS.most)) ?? 0) > 0
  );
}

/**
 * Returns the most likely intended word for an unknown one: one edit away (a letter left out, added or changed, or two
 * swapped), with the same first letter if possible, and the most common of those. Returns known words, words with
 * digits, and words without a close one unchanged.
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

/** Returns a word and the results of leaving out one of its letters. */
function shorten(term: string): string[] {
  return [term, ...Array.from(term, (_, index) => term.slice(0, index) + term.slice(index + 1))];
}

/** Returns whether two words differ by one letter added, left out or changed, or by two swapped neighbours. */
function isOneLetterAway(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  if (short.length < long.length) return short.slice(start) === long.slice(start + 1);
  if (short.slice(start + 1) === long.slice(start + 1)) return true;
  const isSwapped = short[start] === long[start + 1] && short[start + 1] === long[start];
  return isSwapped && short.slice(start + 2) === long.slice(start + 2);
}
