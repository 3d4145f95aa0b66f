import { foldAccents, tokenize } from "./tokenize.ts";
import { createLanguageData } from "./language-data.ts";

/** A word or phrase of a group of synonyms. */
interface Entry {
  words: readonly string[];
  group: number;
}

interface Groups {
  /** The single words of each group. */
  groups: readonly (readonly string[])[];
  /** Entries by the first letters of their first word. */
  byStart: ReadonlyMap<string, readonly Entry[]>;
}

/** Least number of first letters that two forms of a word have in common; shorter words are compared as they are. */
const START_CHARS = 4;

/** Maximum number of synonyms of a word; for a word with many meanings the first groups count. */
const MAX_SYNONYMS = 24;

/** One group a line, its words and phrases separated by commas, the most neutral first. */
const synonymsOf = createLanguageData("synonyms", readGroups);

/** One topic a line, its names first, then what people say whose message belongs there. */
const topicsOf = createLanguageData("topics", readGroups);

function readGroups(lines: readonly string[]): Groups {
  const byStart = new Map<string, Entry[]>();
  const groups = lines.map((line, group) => {
    const entries = line.split(",").map((entry) => tokenize(foldAccents(entry)).map(({ term }) => term));
    for (const words of entries) {
      const start = words[0]?.slice(0, START_CHARS);
      if (start !== undefined) byStart.set(start, [...(byStart.get(start) ?? []), { words, group }]);
    }
    return entries.flatMap((words) => (words.length === 1 ? words : []));
  });
  return { groups, byStart };
}

/**
 * Returns words that mean the same as words of a text, by the text's word, all without accents: "send a bike back"
 * gives `return` for `send` and `back`, and `bicycle` for `bike`. Empty for a language without a list.
 */
export function findSynonyms(text: string, language: string): Map<string, string[]> {
  const { groups, byStart } = synonymsOf(language);
  const found = new Map<string, Set<string>>();
  const terms = tokenize(foldAccents(text)).map(({ term }) => term);
  for (const [at, term] of terms.entries()) {
    for (const { words, group } of byStart.get(term.slice(0, START_CHARS)) ?? []) {
      if (!words.every((word, index) => isForm(word, terms[at + index]))) continue;
      for (let index = 0; index < words.length; index += 1) {
        const own = terms[at + index] ?? term;
        const synonyms = found.get(own) ?? new Set();
        found.set(own, synonyms);
        for (const synonym of groups[group] ?? []) {
          if (synonyms.size < MAX_SYNONYMS && !isForm(synonym, own)) synonyms.add(synonym);
        }
      }
    }
  }
  return new Map([...found].map(([word, synonyms]) => [word, [...synonyms]]));
}

/**
 * Returns how many words and phrases of a text belong to each topic of everyday business (billing, delivery, staff), by
 * the topic's number. Empty for a language without a list.
 */
export function findTopics(text: string, language: string): Map<number, number> {
  const { byStart } = topicsOf(language);
  const found = new Map<number, number>();
  const terms = tokenize(foldAccents(text)).map(({ term }) => term);
  for (const [at, term] of terms.entries()) {
    const topics = (byStart.get(term.slice(0, START_CHARS)) ?? [])
      .filter(({ words }) => words.every((word, index) => isForm(word, terms[at + index])))
      .map(({ group }) => group);
    for (const topic of new Set(topics)) found.set(topic, (found.get(topic) ?? 0) + 1);
  }
  return found;
}

/** Endings of forms of one word; a looser comparison would match France and franc. */
const ENDINGS = new Set(["", "s", "es", "ed", "d", "ing", "n", "en", "er", "em", "nen"]);

function isForm(word: string, term: string | undefined): boolean {
  if (term === undefined) return false;
  const [short, long] = word.length <= term.length ? [word, term] : [term, word];
  return (
    long.startsWith(short) &&
    (short.length >= START_CHARS - 1 || short === long) &&
    ENDINGS.has(long.slice(short.length))
  );
}
