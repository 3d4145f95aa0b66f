import { findCodes, questionWords, stopWords } from "@svc/text";
import { wordsOf } from "./index-words.ts";

/** Distinct words of a query that are looked at; the rest of a longer one is not. */
const MAX_QUERY_WORDS = 400;

/**
 * The distinct words of a query that say what it is about, in order: without the stop words and question words of the
 * language it is in, or all of them when nothing else is left. Of the languages given it is taken to be in the one
 * whose stop words it has most of. A code (`K-1050`) is one word (`k1050`).
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
