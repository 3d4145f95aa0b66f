import { splitSentences } from "./split-sentences.ts";

/**
 * Returns whether a text contains NUL, which PostgreSQL cannot store, or a lone surrogate, which has no UTF-8 form.
 * Such texts are rejected, not repaired.
 */
export function hasBadCharacters(text: string): boolean {
  // With the flag `u`, a surrogate that is part of a pair is seen as its character and does not match.
  return text.includes("\0") || /\p{Surrogate}/u.test(text);
}

const graphemeSegmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Number of characters after the limit that are read to check whether a sentence ends there. */
const LOOKAHEAD_CHARS = 200;

/**
 * The beginning of a text with at most `maxChars` UTF-16 units: up to the last sentence that ends there if that keeps
 * at least half of them, else up to the last whole word under the same condition, else up to the last whole
 * grapheme, so that no surrogate pair, accent or emoji is cut. White space at the end is dropped and no ellipsis is
 * added. A text that fits is returned as it is. A single grapheme longer than `maxChars` is cut between its code
 * points, so that a caller who continues with the rest always advances.
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const limit = graphemeLimit(text, Math.max(0, Math.floor(maxChars)));
  const least = Math.ceil(limit / 2);
  const end = [sentenceEnd(text, limit), wordEnd(text, limit)].find((candidate) => candidate >= least) ?? limit;
  return text.slice(0, end).trimEnd();
}

/** Returns the last grapheme boundary up to the limit; a code point boundary if the first grapheme is longer. */
function graphemeLimit(text: string, maxChars: number): number {
  // Only the code point behind the limit matters of the rest, and the segmenter is slow on long texts.
  const boundary = graphemeSegmenter.segment(text.slice(0, maxChars + 2)).containing(maxChars)?.index ?? maxChars;
  if (boundary > 0 || maxChars === 0) return boundary;
  const splitsPair = (text.codePointAt(maxChars - 1) ?? 0) > 0xff_ff;
  return splitsPair ? maxChars - 1 : maxChars;
}

function sentenceEnd(text: string, limit: number): number {
  // Only what ends before the end of what was read is known to be a sentence.
  const sentences = splitSentences(text.slice(0, limit + LOOKAHEAD_CHARS));
  return sentences.findLast(({ end }) => end <= limit)?.end ?? 0;
}

function wordEnd(text: string, limit: number): number {
  let end = limit;
  while (end > 0 && !/\s/.test(text.charAt(end))) end -= 1;
  return end;
}
