import { stopWords } from "@svc/text";

/** What people say in every second sentence, and hardly write. */
const SPOKEN_WORDS: ReadonlySet<string> = new Set(
  "yeah yes okay ok hmm mean think know knew going go goes gonna just like really thing things something get gets got want wanted say said saying right well maybe actually kind sort lot bit look looking see make makes making way good sure guess need probably one two would could also even much put use quite let come came take try thought anything everything someone".split(
    " ",
  ),
);

/** In Latin letters, words of up to three are mostly marks of speech; in other scripts they may be topics. */
const SHORT = /^\p{Script=Latin}{1,3}$/u;

/** Longer words are the same where they begin with the same letters: `invoice`, `invoices`, `invoicing`. */
const STEM_CHARS = 6;

/** A word in the form in which words of notes are compared. */
export const stemOf = (term: string): string => (/^\p{L}+$/u.test(term) ? term.slice(0, STEM_CHARS) : term);

/** Returns a function that says whether a word says what notes are about, in a language. */
export function topicTest(language: string): (term: string) => boolean {
  const common = stopWords(language);
  return (term) => !common.has(term) && !SPOKEN_WORDS.has(term) && !SHORT.test(term) && !term.includes("'");
}
