import { cutText } from "@svc/text";
import type { Source } from "@svc/contracts";
import { excerptOf } from "./readable-markdown.ts";
import type { Passage } from "./answer.ts";

/** Number of words at the beginning and the end of a quote that identify it; a shorter quote is used as a whole. */
const NAMED_WORDS = 6;
const MAX_NAMED_CHARS = 80;

/** Matches URLs of files that a browser does not show as text, so that text fragments do not work. */
const FILE_ENDING = /\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|epub|zip|csv|tsv|json|png|jpe?g|gif|svg)$/i;

/**
 * Returns the URL of a quote: with `#page=` for a paged document (PDF Open Parameters), and with a text fragment
 * (`#:~:text=start,end`, WICG's Scroll to Text Fragment) for a web page. A URL with a fragment, another scheme than
 * http(s) or the extension of a file is returned unchanged.
 */
export function sourceUrl(url: string, position: { quote: string; page?: number | null }): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || url.includes("#")) return url;
  if (typeof position.page === "number") return `${url}#page=${position.page}`;
  if (FILE_ENDING.test(parsed.pathname)) return url;
  const fragment = textFragment(position.quote);
  return fragment === "" ? url : `${url}#:~:text=${fragment}`;
}

/**
 * Returns start and end of a quote as shown to a reader. Each must lie within one block of the page, so on one line.
 */
function textFragment(quote: string): string {
  const lines = quote
    .split(/[\n\r]+/)
    .map(plainText)
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

/** Returns a line of Markdown without its markup. For a table row, its first cell: each cell is a block. */
function plainText(line: string): string {
  const content = line.replace(/^[\s>]*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s)?/, "");
  if (/^[-|:\s`~=]+$/.test(content)) return "";
  const cell = content.startsWith("|") ? (content.split("|").find((part) => part.trim() !== "") ?? "") : content;
  return cell
    .replace(/!?\[([^\][]{0,300})\](?:\([^()\s]{0,500}\)|\[[^\][]{0,200}\])?/g, "$1")
    .replace(/<\/?[a-z][^<>]{0,300}>/gi, "")
    .replace(/\*\*|__|[*`]/g, "")
    .replace(/\s+/g, " ")
    .trim();
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

/** Returns the source of a quote. The quote occurs in the passage verbatim. */
export function sourceOf({ title, url, documentId, chunkId, page = null, markdown }: Passage, quote: string): Source {
  const link = url === undefined ? {} : { url: sourceUrl(url, { quote, page }) };
  return { title, ...link, documentId, chunkId, quote, excerpt: excerptOf(quote, markdown) };
}
