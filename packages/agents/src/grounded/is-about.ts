import { detectLanguage, stopWords, tokenize } from "@svc/text";
import { holdsPart } from "../holds-word.ts";

/**
 * So much of what a sentence says has to stand in what it cites: it may be said in other words, not be about something
 * else.
 */
const MIN_SHARE = 1 / 3;
/** A shorter sentence may well say it in other words alone. */
const MIN_WORDS = 3;
/** The language of a text shows in its beginning. */
const MAX_DETECTED_CHARS = 1_000;

/**
 * Whether a claim is about what the cited texts are about, by the words that they share; null where that cannot be
 * decided, because they are in different languages or the claim is too short. `language` is that of the question.
 */
export function isAbout(claim: string, cited: string, language: string): boolean | null {
  const own = detectLanguage(claim, language).language;
  const theirs = detectLanguage(cited.slice(0, MAX_DETECTED_CHARS), own).language;
  if (own !== theirs) return null;
  const empty = stopWords(own);
  const words = [...new Set(tokenize(claim).map(({ term }) => term))].filter(
    (term) => !empty.has(term) && /\p{L}/u.test(term),
  );
  if (words.length < MIN_WORDS) return null;
  const holds = holdsPart(cited);
  return words.filter(holds).length >= MIN_SHARE * words.length;
}
