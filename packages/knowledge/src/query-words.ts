import { findCodes, questionWords, stopWords, postgresConfigOf } from "@svc/text";
import type { Store } from "@svc/store";
import { wordsOf, formsToStem, termsOf } from "./index-words.ts";

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
