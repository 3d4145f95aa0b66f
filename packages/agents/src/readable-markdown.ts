import { splitBlocks } from "@svc/text";
import type { Block } from "@svc/text";
import { linkDefinitions } from "./passage-units.ts";

/** Placeholder of a hidden character. Stored texts never contain it. */
const HIDDEN = "\0";

const NEWLINE = /(\r\n|[\n\r\u2028\u2029])([ \t]*(?:>[ \t]*)*)/g;
const LINK_DEFINITION_LINE = /^ {0,3}\[[^\]\n]+\]:[ \t]*\S/;
const ENDS_WITH_BREAK = /<br\s{0,3}\/?>\s*$/i;
const LIST_ITEM = /^[ \t]*(?:[-*+•‣▪–]|\d{1,9}[.)]|\p{L}\))[ \t]+\S/u;
const PREFORMATTED = /<pre[\s>]/i;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const CODE_INDENT = 4;
const CODE_INDENT_IN_LIST = 6;

/**
 * Code spans are matched first, so that their content is ignored; one begins with a whole run of backticks, which is
 * read once. An anchor without a target marks a position.
 */
const CODE_SPAN = "(?<!`)(?<ticks>`+)(?!`)[^`]{1,500}\\k<ticks>(?!`)";
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
  const code = codeBlocks(text, blocks);
  for (const [index, block] of blocks.entries()) {
    if (code.has(block) || block.kind === "mark") continue;
    const content = text.slice(block.start, block.end);
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

/** Returns the blocks that are code, by a fence or by their indentation. */
export function codeBlocks(text: string, blocks: readonly Block[]): Set<Block> {
  let isInList = false;
  const isCode = ({ kind, start, end }: Block): boolean => {
    if (kind === "code" || kind === "mark") return kind === "code";
    const content = text.slice(start, end);
    const indent = indentOf(content);
    const isItem = LIST_ITEM.test(content);
    if (isItem) isInList = true;
    else if (indent < 2) isInList = false;
    return kind === "prose" && !isItem && indent >= (isInList ? CODE_INDENT_IN_LIST : CODE_INDENT);
  };
  return new Set(blocks.filter(isCode));
}

/**
 * Returns which line breaks of a prose block belong to a table whose rows have no leading bar: all, the last one or
 * none.
 */
export function rowsOf(text: string, blocks: readonly Block[], index: number): "all" | "last" | "none" {
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
