import type { Source } from "@svc/contracts";
import { cutText, splitBlocks } from "@svc/text";
import type { Block } from "@svc/text";
import type { Passage } from "./answer.ts";
import { linkDefinitions } from "./passage-units.ts";

/** Placeholder of a hidden character. Stored texts never contain it. */
const HIDDEN = "\0";

/** Maximum length of an excerpt, which only identifies the quote. */
const MAX_EXCERPT_CHARS = 300;

const NEWLINE = /(\r\n|[\n\r\u2028\u2029])([ \t]*(?:>[ \t]*)*)/g;
const LINK_DEFINITION_LINE = /^ {0,3}\[[^\]\n]+\]:[ \t]*\S/;
const ENDS_WITH_BREAK = /<br\s{0,3}\/?>\s*$/i;
const LIST_ITEM = /^[ \t]*(?:[-*+•‣▪–]|\d{1,9}[.)]|\p{L}\))[ \t]+\S/u;
const PREFORMATTED = /<pre[\s>]/i;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const CODE_INDENT = 4;
const CODE_INDENT_IN_LIST = 6;

/** Code spans are matched first, so that their content is ignored. An anchor without a target marks a position. */
const CODE_SPAN = "(?<ticks>`+)(?!`)[^`]{1,500}\\k<ticks>(?!`)";
const ANCHOR = "<a\\s+(?:id|name)\\s*=\\s*(?:\"[^\"<>]{0,200}\"|'[^'<>]{0,200}')\\s*/?>(?:(?<inner>[^<>]{0,300})</a>)?";
const REFERENCE = "(?<![\\w\\]\\\\])!?\\[(?<words>[^\\][]{1,300})\\]\\[(?<name>[^\\][]{0,200})\\]";
const INLINE = new RegExp(`${CODE_SPAN}|${ANCHOR}|${REFERENCE}`, "gi");

/**
 * Replaces invisible markup character by character, so that offsets stay valid: a soft line break becomes a space (as
 * in CommonMark); quotation marks after it, anchors without a target and links without a definition (`[words][name]`)
 * are hidden. Hard breaks, lists, tables, code and link definitions are kept. `showParts` returns the visible text.
 */
export function maskMarkup(text: string): string {
  const signs = text.split("");
  const names = new Set(linkDefinitions(text).map(({ name }) => name));
  const blocks = splitBlocks(text);
  let isInList = false;
  for (const [index, block] of blocks.entries()) {
    if (block.kind === "code" || block.kind === "mark") continue;
    const content = text.slice(block.start, block.end);
    const indent = indentOf(content);
    if (LIST_ITEM.test(content)) isInList = true;
    else if (indent < 2) isInList = false;
    const isCode = !LIST_ITEM.test(content) && indent >= (isInList ? CODE_INDENT_IN_LIST : CODE_INDENT);
    if (block.kind === "prose" && isCode) continue;
    if (block.kind === "prose" && !PREFORMATTED.test(content)) {
      maskSoftBreaks(signs, block, { text, isRow: rowsOf(text, blocks, index) });
    }
    maskInline(signs, block, { content, names });
  }
  return signs.join("");
}

/** Returns a masked text, or a part of it, as readers see it. */
export function showParts(masked: string): string {
  return masked.replaceAll(HIDDEN, "");
}

/** Returns a quote on one line without Markdown, cut to fit a list; a table becomes its cells. */
export function excerptOf(quote: string, markdown: boolean): string {
  const shown = markdown ? withoutMarks(showParts(maskMarkup(quote))) : quote;
  return cutText(shown.replace(/\s+/g, " ").trim(), MAX_EXCERPT_CHARS);
}

function withoutMarks(text: string): string {
  const lines = text.split("\n").map((line) => {
    if (/^[-|:\s`~=]+$/.test(line)) return "";
    const content = line.replace(/^[\s>]*(?:#{1,6}\s|[-*+]\s(?:\[[ xX]\]\s)?|`{3,}.*|~{3,}.*)?/, "");
    const isRow = /^\||\|\s*$/.test(content);
    return isRow
      ? content
          .split("|")
          .map((cell) => cell.trim())
          .filter((cell) => cell !== "")
          .join(" · ")
      : content;
  });
  return lines
    .join("\n")
    .replace(/!?\[([^\][]{0,300})\](?:\([^()\s]{0,500}\)|\[[^\][]{0,200}\])/g, "$1")
    .replace(/<\/?[a-z][^<>]{0,300}>/gi, "")
    .replace(/\*\*|__|[*`]/g, "");
}

/**
 * Returns which line breaks of a prose block belong to a table whose rows have no leading bar: all, the last one or
 * none.
 */
function rowsOf(text: string, blocks: readonly Block[], index: number): "all" | "last" | "none" {
  const [previous, block, next] = [blocks[index - 1], blocks[index], blocks[index + 1]];
  const touches = (one: Block | undefined, other: Block | undefined): boolean => {
    const gap = one === undefined || other === undefined ? "" : text.slice(one.end, other.start);
    return /^(?:\r\n|[\n\r])[ \t]*$/.test(gap);
  };
  const isDelimiter = (one: Block | undefined): boolean =>
    one?.kind === "mark" && text.slice(one.start, one.end).includes("|");
  if (isDelimiter(previous) && touches(previous, block)) return "all";
  return isDelimiter(next) && touches(block, next) ? "last" : "none";
}

function maskSoftBreaks(
  signs: string[],
  block: Block,
  { text, isRow }: { text: string; isRow: "all" | "last" | "none" },
): void {
  if (isRow === "all") return;
  const content = text.slice(block.start, block.end);
  const breaks = [...content.matchAll(NEWLINE)];
  for (const [index, { index: at, 0: whole }] of breaks.entries()) {
    if (isRow === "last" && index === breaks.length - 1) continue;
    const lineStart = index === 0 ? 0 : (breaks[index - 1]?.index ?? 0) + (breaks[index - 1]?.[0].length ?? 0);
    const before = content.slice(lineStart, at);
    const after = content.slice(at + whole.length, breaks[index + 1]?.index);
    const isKept =
      ENDS_WITH_BREAK.test(before) || LINK_DEFINITION_LINE.test(before) || LINK_DEFINITION_LINE.test(after);
    if (isKept) continue;
    const start = block.start + at;
    signs.fill(HIDDEN, start, start + whole.length);
    // Scripts without spaces between words need none at the end of a line either.
    const joinsWords = UNSPACED.test(before.slice(-1)) && UNSPACED.test(after.slice(0, 1));
    if (!joinsWords && !/\s$/.test(before)) signs[start] = " ";
  }
}

function maskInline(
  signs: string[],
  { start }: Block,
  { content, names }: { content: string; names: ReadonlySet<string> },
): void {
  const hide = (from: number, to: number) => signs.fill(HIDDEN, start + from, start + to);
  for (const { index, 0: whole, groups } of content.matchAll(INLINE)) {
    const { ticks, words, name = "", inner = "" } = groups ?? {};
    if (ticks !== undefined) continue;
    if (words === undefined) {
      const innerAt = inner === "" ? whole.length : whole.indexOf(">") + 1;
      hide(index, index + innerAt);
      hide(index + innerAt + inner.length, index + whole.length);
      continue;
    }
    const isNumbers = /^\d+$/.test(words) && /^\d+$/.test(name);
    if (isNumbers || names.has((name === "" ? words : name).toLowerCase())) continue;
    const wordsAt = whole.indexOf("[") + 1;
    hide(index, index + wordsAt);
    hide(index + wordsAt + words.length, index + whole.length);
  }
}

/** Returns the indentation of a block in columns; a tab counts as four. */
function indentOf(content: string): number {
  return (/^[ \t]*/.exec(content)?.[0] ?? "").replaceAll("\t", "    ").length;
}

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
