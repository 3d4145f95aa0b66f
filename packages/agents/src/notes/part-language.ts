import { detectLanguage, stopWords, tokenize } from "@svc/text";

/** A shorter part is taken for one in the language of the notes: names and single words are clear to nobody. */
const LEAST_WORDS = 3;
/** From this share of its words on that are stop words of the language of the notes, a part is in it. */
const CLEARLY_OWN = 0.25;
/** From this confidence on a part is in a language of its own. */
const CLEARLY_OTHER = 0.5;
/** So many parts are looked at so closely, since that takes longer than all the rest. */
const MAX_DETECTED = 400;

/** Makes the function that tells the language (ISO 639-1) of a part of notes, which are mostly in one. */
export function partLanguages(language: string): (text: string) => string {
  const common = stopWords(language);
  let detected = 0;
  return (text) => {
    const words = tokenize(text);
    const isOwn = words.filter(({ term }) => common.has(term)).length >= CLEARLY_OWN * words.length;
    if (words.length < LEAST_WORDS || isOwn || detected >= MAX_DETECTED) return language;
    detected += 1;
    const found = detectLanguage(text, language);
    return found.confidence >= CLEARLY_OTHER ? found.language : language;
  };
}
