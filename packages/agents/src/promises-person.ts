import { splitSentences } from "@svc/text";
import { lazily } from "./language-files.ts";
import { foldWords, matchWording, phrasesOf } from "./match-wording.ts";
import type { WordingMatcher } from "./match-wording.ts";
import { JOINED_LANGUAGES, sharedTalk, talkByLanguage } from "./talk/read-talk.ts";

/** Maximum number of words between the helper and the verb. */
const GAP_WORDS = 4;

/** Number of words before the helper in which a negation counts: "nobody of our team". */
const WORDS_BEFORE = 2;

/** Maximum length of a sentence; only the beginning of a text without sentences is read. */
const MAX_SENTENCE_CHARS = 1_500;
const MAX_TEXT_CHARS = 50_000;

interface Promising {
  matchers: readonly { match: WordingMatcher; canBeNegated: boolean }[];
  conditions: WordingMatcher;
  isUnspaced: boolean;
}

const negating = lazily(() => new Set(phrasesOf(sharedTalk().negations ?? [])));

const languages = lazily((): readonly Promising[] =>
  [...talkByLanguage()].flatMap(([language, { person }]) => {
    if (person === undefined) return [];
    const isUnspaced = JOINED_LANGUAGES.has(language);
    return [
      {
        matchers: person.promises.map((wording) => ({
          match: matchWording(wording, { gap: GAP_WORDS, isUnspaced }),
          canBeNegated: wording.length > 1,
        })),
        conditions: matchWording([person.conditions], { gap: 0, isUnspaced }),
        isUnspaced,
      },
    ];
  }),
);

/**
 * Returns whether a text promises that a person will look, call or write, in one of the languages of `data/talk`.
 * Descriptions ("our team is there on weekdays"), negations ("we will never call you"), questions and offers that
 * depend on the customer ("if you send us the form, a colleague will call") are not promises.
 */
export function promisesPerson(text: string): boolean {
  return splitSentences(text.slice(0, MAX_TEXT_CHARS)).some(
    (sentence) =>
      !/[?？؟;]\s*$/u.test(sentence.text) && isPromise(foldWords(sentence.text.slice(0, MAX_SENTENCE_CHARS))),
  );
}

function isPromise(words: string): boolean {
  return languages().some(({ matchers, conditions, isUnspaced }) =>
    matchers.some(({ match, canBeNegated }) => {
      const found = match(words);
      if (found === null) return false;
      const condition = conditions(words);
      if (condition !== null && condition.start < found.end) return false;
      return isUnspaced || !canBeNegated || !isNegated(words, found);
    }),
  );
}

function isNegated(words: string, { start, end }: { start: number; end: number }): boolean {
  const before = words.slice(0, start).trim().split(" ").slice(-WORDS_BEFORE);
  return [...before, ...words.slice(start, end).split(" ")].some((word) => negating().has(word));
}
