import { cutText, stopWords, tokenize } from "@svc/text";
import type { ChunkWord } from "@svc/store";
import type { Chunk } from "./chunk-document.ts";

/** No word is longer; the rest of an encoded blob or of text without spaces is not indexed. */
const MAX_WORD_CHARS = 64;

/** The words of a text as they are indexed and searched, in order, with repetitions. */
export function wordsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => (term.length <= MAX_WORD_CHARS ? term : cutText(term, MAX_WORD_CHARS)));
}

/**
 * Counts the words of a passage by field for the index. Stop words of the body are left out: they stand nearly
 * everywhere. Those of title and headings stay, so that a question of stop words only ("Who are you?") finds the
 * heading that asks it. A heading that repeats the title counts once.
 */
export function indexWords(
  chunk: Pick<Chunk, "text" | "headingPath">,
  document: { title: string; language: string },
): { words: ChunkWord[]; termCount: number } {
  const counts = new Map<string, ChunkWord>();
  const count = (words: readonly string[], field: "titleCount" | "headingCount" | "bodyCount"): void => {
    for (const word of words) {
      const entry = counts.get(word) ?? { word, titleCount: 0, headingCount: 0, bodyCount: 0 };
      entry[field] += 1;
      counts.set(word, entry);
    }
  };
  const stops = stopWords(document.language);
  const body = wordsOf(chunk.text).filter((word) => !stops.has(word));
  const headings = chunk.headingPath.filter((heading) => heading !== document.title);
  count(wordsOf(document.title), "titleCount");
  count(wordsOf(headings.join("\n")), "headingCount");
  count(body, "bodyCount");
  return { words: [...counts.values()], termCount: body.length };
}
