import { foldAccents } from "@svc/text";

/** Shorter words are too similar to other words. */
const MIN_CHARS = 5;

/** Minimum length of a word with two errors. */
const MIN_CHARS_OF_TWO_ERRORS = 10;

/** Maximum length of a word that is corrected: the number of variants grows with it. */
const MAX_CHARS = 24;

/** Letters to try, by the script of a word. */
const ALPHABETS: readonly (readonly [pattern: RegExp, letters: string])[] = [
  [/^[a-z]+$/, "abcdefghijklmnopqrstuvwxyz"],
  [/^\p{Script=Cyrillic}+$/u, "абвгґдеєжзиіїйклмнопрстуўфхцчшщъыьэюя"],
  [/^\p{Script=Greek}+$/u, "αβγδεζηθικλμνξοπρσςτυφχψω"],
];

/** Possible corrections of a misspelt word. */
export interface Misspelling {
  /** The word without accents. */
  word: string;
  /** Every word that is one error away: a letter too many or too few, another letter, or two swapped ones. */
  variants: string[];
}

/** Returns the possible corrections of an unknown word: null if it is too short or too long, or has digits. */
export function readMisspelling(word: string): Misspelling | null {
  const plain = foldAccents(word);
  const letters = ALPHABETS.find(([pattern]) => pattern.test(plain))?.[1];
  if (letters === undefined || plain.length < MIN_CHARS || plain.length > MAX_CHARS) return null;
  const variants = new Set<string>();
  for (let at = 0; at <= plain.length; at += 1) {
    const [head, tail] = [plain.slice(0, at), plain.slice(at)];
    if (tail.length > 1) variants.add(head + tail.charAt(1) + tail.charAt(0) + tail.slice(2));
    // The first letter is rarely wrong, and words with another first letter are other words.
    if (at === 0) continue;
    if (tail !== "") variants.add(head + tail.slice(1));
    for (const letter of letters) {
      variants.add(head + letter + tail);
      if (tail !== "") variants.add(head + letter + tail.slice(1));
    }
  }
  variants.delete(plain);
  return { word: plain, variants: [...variants] };
}

/** Returns the found words that are closest to the misspelt one, if they are close enough. */
export function nearestWords(misspelt: string, found: readonly string[]): string[] {
  const maxErrors = misspelt.length >= MIN_CHARS_OF_TWO_ERRORS ? 2 : 1;
  const distances = found
    .filter((word) => Math.abs(word.length - misspelt.length) <= maxErrors)
    .map((word) => ({ word, faults: countErrors(misspelt, word) }))
    .filter(({ word, faults: errors }) => errors <= maxErrors && beginsAlike(word, misspelt));
  const least = Math.min(...distances.map(({ faults: errors }) => errors));
  return distances.filter(({ faults: errors }) => errors === least).map(({ word }) => word);
}

/** Words with another first letter are other words ("bread", "read"), unless the first two are swapped. */
function beginsAlike(one: string, other: string): boolean {
  const isSwap = one.charAt(0) === other.charAt(1) && one.charAt(1) === other.charAt(0);
  return one.charAt(0) === other.charAt(0) || isSwap;
}

/** Counts letters to add, remove, change or swap with their neighbour (optimal string alignment). */
function countErrors(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
