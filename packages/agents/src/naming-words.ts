import { detectLanguage, findCodes, questionWords, stopWords, tokenize } from "@svc/text";
import type { Token } from "@svc/text";
import { z } from "zod";
import { createLanguageFiles, words } from "./language-files.ts";

const wordSet = words.transform((list): ReadonlySet<string> => new Set(list));

/** A file of `data/naming`. */
const namingOf = createLanguageFiles(
  "naming",
  z.strictObject({
    /** Words that precede a noun: articles, possessives, prepositions, "which". */
    before: wordSet,
    /** Verbs that take another verb at the end: "does the warranty last", "kann ich Ware umtauschen". */
    auxiliaries: wordSet.optional(),
  }),
);

/** In a language without a file, the first words of a question are its topic. */
const NOTHING_BEFORE: ReadonlySet<string> = new Set([""]);

/** A question that begins with one of these ends with a property: "Is the delivery free?". */
const COPULAS = new Set("is are was were ist sind".split(" "));

/** Pronouns that a verb follows: "do you sell bicycles". */
const PERSONS = new Set("i you we they he she it".split(" "));

/** Matches English words that describe how something is. */
const ADJECTIVE = /(?:est|able|ible|ive|ful|ous|less|ish|ed|ly)$/;

/**
 * Finds the words of a question that name its topic, as terms: the price of something else does not answer a question
 * about a coffee grinder, while a verb or adjective may differ from the document's. They are found by preceding
 * articles and the like, and by the capitals of names (and of German nouns); if there are only keywords, all of them
 * are topic words.
 */
export function readNaming(question: string): ReadonlySet<string> {
  const tokens = tokenize(question);
  const { language } = detectLanguage(question);
  const empty = new Set([...stopWords(language), ...questionWords(language)]);
  const content = tokens.filter(({ term }) => !empty.has(term));
  const codes = findCodes(question);
  const termsOf = (list: readonly { term: string }[]) => new Set([...list, ...codes].map(({ term }) => term));
  if (content.length === tokens.length) return termsOf(content);
  const { before = NOTHING_BEFORE, auxiliaries = NOTHING_BEFORE } = namingOf(language) ?? {};
  const runs = runsOf(tokens, (term) => empty.has(term) || before.has(term));
  const hasAuxiliary = tokens.some(({ term }) => auxiliaries.has(term)) || COPULAS.has(tokens[0]?.term ?? "");
  const found = runs.flatMap((run, position) => {
    const isLast = position === runs.length - 1;
    if (before.has(run.behind)) {
      const named = isLast && hasAuxiliary && run.tokens.length > 1 ? run.tokens.slice(0, -1) : run.tokens;
      return named.filter(
        ({ term }, index) => index === named.length - 1 || language !== "en" || !ADJECTIVE.test(term),
      );
    }
    const object = run.tokens.at(-1);
    const isObject = language === "en" && PERSONS.has(run.behind) && run.tokens.length > 1;
    return isObject && object !== undefined && !ADJECTIVE.test(object.term) ? [object] : [];
  });
  const capitals = content.filter(
    ({ start, end }) => /^\p{Lu}\p{Ll}/u.test(question.slice(start, end)) && !beginsSentence(question, start),
  );
  // In German, which capitalizes nouns, other words are not nouns.
  const named = language === "de" && capitals.length > 0 ? capitals : [...found, ...capitals];
  return termsOf(named);
}

/** Returns runs of consecutive words, each with the word before it; the first run has the empty word before it. */
function runsOf(tokens: readonly Token[], isEmpty: (term: string) => boolean): { behind: string; tokens: Token[] }[] {
  const runs: { behind: string; tokens: Token[] }[] = [];
  let behind = "";
  let isOpen = false;
  for (const token of tokens) {
    if (isEmpty(token.term)) {
      behind = token.term;
      isOpen = false;
    } else if (isOpen) {
      runs.at(-1)?.tokens.push(token);
    } else {
      runs.push({ behind, tokens: [token] });
      isOpen = true;
    }
  }
  return runs;
}

function beginsSentence(text: string, start: number): boolean {
  return /(?:^|[.?!:¿¡\n])["'„“»«(\s]*$/.test(text.slice(Math.max(0, start - 6), start));
}
