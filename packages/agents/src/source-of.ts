import type { Source } from "@svc/contracts";
import { cutText } from "@svc/text";
import type { Passage } from "./answer.ts";
import { renderQuote } from "./render-quote.ts";

/** Maximum length of an excerpt, which only identifies the quote. */
const MAX_EXCERPT_CHARS = 300;

/** Number of words at the beginning and the end of a quote that identify it; a shorter quote is used as a whole. */
const NAMED_WORDS = 6;
const MAX_NAMED_CHARS = 80;

/** Matches URLs of files that a browser does not show as text, so that text fragments do not work. */
const FILE_ENDING = /\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|epub|zip|csv|tsv|json|png|jpe?g|gif|svg)$/i;

/**
 * Returns the URL of a quote, given by its rendered lines: with `#page=` for a paged document (PDF Open Parameters), and
 * with a text fragment (`#:~:text=start,end`, WICG's Scroll to Text Fragment) for a web page. A URL with a fragment,
 * another scheme than http(s) or the extension of a file is returned unchanged.
 */
export function sourceUrl(url: string, position: { lines: readonly string[][]; page?: number | null }): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || url.includes("#")) return url;
  if (typeof position.page === "number") return `${url}#page=${position.page}`;
  if (FILE_ENDING.test(parsed.pathname)) return url;
  const fragment = textFragment(position.lines);
  return fragment === "" ? url : `${url}#:~:text=${fragment}`;
}

/** Number of a list item, which is no text of its page. */
const ITEM_NUMBER = /^\d{1,9}[.)]\s/;

/**
 * Returns start and end of a quote as shown to a reader. Each must lie within one block of the page: on one line, or in
 * the first cell of a table row.
 */
function textFragment(quote: readonly string[][]): string {
  const lines = quote
    .map(([first = ""]) => first.replace(ITEM_NUMBER, ""))
    .filter((line) => /[\p{L}\p{N}]/u.test(line));
  const first = lines[0];
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return "";
  if (lines.length === 1 && first.length <= MAX_NAMED_CHARS) return encode(first);
  const start = cutText(first.split(" ").slice(0, NAMED_WORDS).join(" "), MAX_NAMED_CHARS);
  const end = last.split(" ").slice(-NAMED_WORDS).join(" ");
  return end.length > MAX_NAMED_CHARS || (lines.length === 1 && start.length + end.length >= first.length)
    ? encode(start)
    : `${encode(start)},${encode(end)}`;
}

/**
 * Encodes hyphens, commas and ampersands, which have a meaning in a text fragment, and brackets, which end a URL in
 * Markdown.
 */
function encode(text: string): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, "");
  return encodeURIComponent(wellFormed).replace(
    /[-!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns a rendered quote on one line, cut to fit a list. */
function excerptOf(lines: readonly string[][]): string {
  return cutText(lines.map((cells) => cells.join(" · ")).join(" "), MAX_EXCERPT_CHARS);
}

/** Returns the source of a quote. The quote occurs in the passage verbatim. */
export function sourceOf(passage: Passage, quote: string): Source {
  const { title, url, documentId, chunkId, page = null } = passage;
  const shown = renderQuote(passage, quote, { hasAlt: true });
  const lines = passage.text.includes("![") ? renderQuote(passage, quote, { hasAlt: false }) : shown;
  const link = url === undefined ? {} : { url: sourceUrl(url, { lines, page }) };
  return { title, ...link, documentId, chunkId, quote, excerpt: excerptOf(shown) };
}
