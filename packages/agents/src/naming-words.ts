import { detectLanguage, findCodes, questionWords, stopWords, tokenize } from "@svc/text";
import type { Token } from "@svc/text";
import { z } from "zod";
import { createLanguageFiles, words } from "./language-files.ts";

const wordSet = words.transform((list): ReadonlySet<string> => new Set(list));

/** A file of `data/naming`. */
const namingOf = createLanguageFiles(
  "naming",
  z.strictObject({
    /** Words behind which a thing is named: articles, possessives, prepositions, "which". */
    before: wordSet,
    /** Verbs that another verb follows at the end: "does the warranty last", "kann ich Ware umtauschen". */
    auxiliaries: wordSet.optional(),
  }),
);

/** In a language without a file, what a question begins with is named: nothing stands before it. */
const NOTHING_BEFORE: ReadonlySet<string> = new Set([""]);

/** A question that begins with one of these ends with what something may be: "Is the delivery free?". */
const COPULAS = new Set("is are was were ist sind".split(" "));

/** Persons, behind whom something is done: "do you sell bicycles". */
const PERSONS = new Set("i you we they he she it".split(" "));

/** English words that tell of what kind or how something is. */
const ADJECTIVE = /(?:est|able|ible|ive|ful|ous|less|ish|ed|ly)$/;

/**
 * The words of a question that name what it asks about, as terms: who asks for a coffee grinder is not answered by the
 * price of something else, while another verb or adjective than that of a document hardly matters. Found by articles
 * and the like in front of them, by the capitals of names (and of German nouns); keywords alone all name something.
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
  // Where nouns are written with a capital, the other words are none.
  const named = language === "de" && capitals.length > 0 ? capitals : [...found, ...capitals];
  return termsOf(named);
}

/** Words that follow each other, with the one that stands before them; the empty word stands before the first. */
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
