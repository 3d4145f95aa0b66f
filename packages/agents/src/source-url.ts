import { cutText } from "@svc/text";
import type { Source } from "@svc/contracts";
import { excerptOf } from "./readable-markdown.ts";
import type { Passage } from "./answer.ts";

/** Number of words at the beginning and at the end of a quote that identify it; a shorter quote is used whole. */
const NAMED_WORDS = 6;
const MAX_NAMED_CHARS = 80;

/** Addresses of files that a browser shows without their text, so that it finds no words in them. */
const FILE_ENDING = /\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|epub|zip|csv|tsv|json|png|jpe?g|gif|svg)$/i;

/**
 * The address of the place that a quote was taken from: with `#page=` for a paged document (PDF Open Parameters), and
 * with a text fragment (`#:~:text=start,end`, WICG's Scroll to Text Fragment) for a page of the web. An address that
 * has a fragment of its own, is no http(s) address or is that of a file stays as it is.
 */
export function sourceUrl(url: string, position: { quote: string; page?: number | null }): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || url.includes("#")) return url;
  if (typeof position.page === "number") return `${url}#page=${position.page}`;
  if (FILE_ENDING.test(parsed.pathname)) return url;
  const fragment = textFragment(position.quote);
  return fragment === "" ? url : `${url}#:~:text=${fragment}`;
}

/** Start and end of a quote as a reader sees them. Each part must lie within one block of the page, so in one line. */
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

/** A line of Markdown without its marks. Of a row of a table, its first cell: each cell is a block of its own. */
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

/** A hyphen, a comma and an ampersand mean something in a text fragment; brackets end an address in Markdown. */
function encode(text: string): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, "");
  return encodeURIComponent(wellFormed).replace(
    /[-!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns the source that a quote of a passage is shown with. The quote stands in the passage word for word. */
export function sourceOf({ title, url, documentId, chunkId, page = null, markdown }: Passage, quote: string): Source {
  const link = url === undefined ? {} : { url: sourceUrl(url, { quote, page }) };
  return { title, ...link, documentId, chunkId, quote, excerpt: excerptOf(quote, markdown) };
}
