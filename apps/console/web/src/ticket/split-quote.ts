/** A text in three: what stands before the quote, the quote as it stands there, and what stands behind. */
export interface QuotedText {
  before: string;
  quote: string;
  after: string;
}

const escape = (word: string) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
/** A quote of more words than that is found by its first ones. */
const WORDS_MAX_COUNT = 2_000;

/**
 * Finds a quote in its passage, whatever white space is between its words. Where it is not in it, all of the passage
 * counts as quoted.
 */
export function splitQuote(passage: string, quote: string): QuotedText {
  const words = quote.trim().split(/\s+/).slice(0, WORDS_MAX_COUNT);
  const found = quote.trim() === "" ? null : new RegExp(words.map(escape).join(String.raw`\s+`)).exec(passage);
  if (found === null) return { before: "", quote: passage, after: "" };
  const end = found.index + found[0].length;
  return { before: passage.slice(0, found.index), quote: found[0], after: passage.slice(end) };
}
