import { findCodes, findSynonyms, foldAccents, postgresConfigOf, questionWords, stopWords } from "@svc/text";
import type { Store } from "@svc/store";
import { wordsOf, formsToStem, termsOf } from "./index-words.ts";

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
interface Misspelling {
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

/** Maximum number of words of a question that are compared: further ones add nothing. */
const MAX_WORDS = 40;

/**
 * Words that ask whether something is available or possible: unlike stop words they may be a document's topic, but not
 * a question's.
 */
const ASKING_WORDS: Readonly<Record<string, string>> = {
  en: `able accept accepted allow allowed get getting give guys help know like let looking mean means need needed offer
    please possible possibly provide question tell thing things trying want wanted wanting wish wondering work works`,
  de: `bekomme bekommen bitte brauche brauchen erlaubt frage funktioniert gehen geht gern gerne gibt hilfe machen
    möchte möchten möglich möglichkeit sagen suche weiß will wissen wollen würde`,
  fr: `aide aimerais besoin cherche demande faire possible question savoir souhaite trouve trouver veux voudrais`,
  es: `ayuda busco desea hacer necesito necesita posible pregunta puedo quiero quisiera saber tienen`,
  it: `aiuto bisogno cerco domanda fare possibile posso sapere vorrei voglio`,
  pt: `ajuda gostaria pergunta possível posso preciso procuro quero saber`,
  nl: `graag hulp kan mogelijk nodig vraag weten wil zoek`,
  pl: `chcę chciałbym chciałabym możliwe można pomoc potrzebuję pytanie`,
  ru: `возможно хочу хотел хотела можно нужно помогите вопрос`,
  tr: `istiyorum lazım mümkün soru var yapabilir`,
};

const askingSets = new Map<string, ReadonlySet<string>>(
  Object.entries(ASKING_WORDS).map(([language, words]) => [language, new Set(words.trim().split(/\s+/))]),
);

/** Maximum number of distinct words of a query; the rest is ignored. */
const MAX_QUERY_WORDS = 400;

/**
 * Returns the distinct topic words of a query, in order: without the stop words and question words of its language, or
 * all of them if nothing else is left. Its language is the one of the given languages with most of its stop words. A
 * code (`K-1050`) is one word (`k1050`).
 */
export function queryWords(query: string, languages: readonly string[]): string[] {
  const words = wordsWithCodes(query);
  const emptyWords = languages.map((language) => new Set([...stopWords(language), ...questionWords(language)]));
  const countOf = (set: ReadonlySet<string>): number => words.reduce((sum, word) => sum + (set.has(word) ? 1 : 0), 0);
  const best = emptyWords
    .map((set) => ({ set, count: countOf(set) }))
    .reduce((best, next) => (next.count > best.count ? next : best), { set: new Set<string>(), count: 0 });
  const distinct = [...new Set(words)];
  const telling = distinct.filter((word) => !best.set.has(word));
  return (telling.length > 0 ? telling : distinct).slice(0, MAX_QUERY_WORDS);
}

function wordsWithCodes(query: string): string[] {
  const words: string[] = [];
  let from = 0;
  for (const { term, start, end, words: parts } of findCodes(query)) {
    for (const word of wordsOf(query.slice(from, start))) words.push(word);
    words.push(term, ...parts);
    from = end;
  }
  for (const word of wordsOf(query.slice(from))) words.push(word);
  return words;
}

/** Maximum number of synonyms of a query. */
const MAX_SYNONYMS = 32;

/** Returns the synonyms of each word of a query in the languages of the documents. */
export function synonymsIn({
  languages,
  words,
  query,
}: {
  languages: readonly string[];
  words: readonly string[];
  query: string;
}): string[][] {
  let left = MAX_SYNONYMS;
  const found = languages.map((language) => findSynonyms(query, language));
  return words.map((word) => {
    const ofWord = [...new Set(found.flatMap((synonyms) => synonyms.get(foldAccents(word)) ?? []))];
    const taken = ofWord.slice(0, Math.min(left, Math.ceil(MAX_SYNONYMS / Math.max(2, words.length))));
    left -= taken.length;
    return taken;
  });
}

/**
 * Returns the distinct stems of a question's topic words: questions with equal stems are equivalent. None for a text
 * without words. `language` is ISO 639-1; null if unknown.
 */
export async function questionTerms(
  deps: { store: Pick<Store, "chunks"> },
  question: string,
  language: string | null,
): Promise<string[]> {
  const words = tellingWords(queryWords(question, language === null ? [] : [language]), language).slice(0, MAX_WORDS);
  if (words.length === 0) return [];
  const config = postgresConfigOf(language ?? "und");
  const stems = await deps.store.chunks.stem(config, words.flatMap(formsToStem));
  return [...new Set(words.flatMap((word) => termsOf(word, stems).slice(0, 1)))];
}

/** Returns the words that do not only ask; all of them if there are no others. */
function tellingWords(words: readonly string[], language: string | null): readonly string[] {
  const asking = askingSets.get(language ?? "");
  const telling = asking === undefined ? words : words.filter((word) => !asking.has(word));
  return telling.length > 0 ? telling : words;
}
