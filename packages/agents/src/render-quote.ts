import { splitBlocks } from "@svc/text";
import type { Passage } from "./answer.ts";
import { linkDefinitions } from "./passage-units.ts";
import type { Span } from "./passage-units.ts";
import { codeBlocks, maskMarkup, rowsOf, showParts } from "./readable-markdown.ts";
import { renderInline } from "./render-inline.ts";
import type { InlineOptions } from "./render-inline.ts";

/** Separator of the cells of a row. Stored texts never contain it. */
const CELL_END = "\0";

/** Markup at the beginning of a line, and lines that are only markup. */
const LINE_START = /^[\s>]*(?:#{1,6}\s|[-*+]\s(?:\[[ xX]\]\s)?)?/;
const ITEM_START = /^[\s>]*(?:[-*+]|\d{1,9}[.)])\s/;
const FENCE_LINE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]*)?(?:`{3,}|~{3,})/;
const SETEXT_UNDERLINE = /^\s*(?:=+|-+)\s*$/;
const LINK_DEFINITION_LINE = /^ {0,3}\[[^\]^\n][^\]\n]*\]:[ \t]*\S+[ \t]*(?:["'(].*)?$/;
const OUTER_BAR = /^\s*\||\|\s*$/;

/**
 * Returns a quote as its page shows it: its lines, each with its text or with the cells of its table row. Its passage
 * decides what is code and which links have definitions. Without `hasAlt`, an image is a line break.
 */
export function renderQuote(
  { text, markdown }: Pick<Passage, "text" | "markdown">,
  quote: string,
  { hasAlt }: { hasAlt: boolean },
): string[][] {
  const at = text.indexOf(quote);
  const source = at === -1 ? quote : text;
  const signs = markdown ? renderPassage(source, hasAlt).slice(Math.max(0, at)).slice(0, quote.length) : [quote];
  return signs
    .join("")
    .split(/[\n\r\u2028\u2029]+/)
    .map((line) => line.split(CELL_END).map((cell) => cell.replace(/\s+/g, " ").trim()))
    .map((cells) => cells.filter((cell) => cell !== ""))
    .filter((cells) => cells.length > 0);
}

/** Returns what a reader sees in place of each UTF-16 unit of a passage. */
function renderPassage(text: string, hasAlt: boolean): string[] {
  const masked = maskMarkup(text);
  const signs = masked.split("").map(showParts);
  const options = { names: new Set(linkDefinitions(text).map(({ name }) => name)), hasAlt };
  const blocks = splitBlocks(text);
  const code = codeBlocks(text, blocks);
  let paragraph: Span | undefined;
  const endParagraph = (): void => {
    if (paragraph !== undefined) renderSpan(masked, paragraph, signs, options);
    paragraph = undefined;
  };
  for (const [index, block] of blocks.entries()) {
    const lines = linesOf(masked, block);
    const tableLines = rowsOf(text, blocks, index);
    for (const [position, { start, end }] of lines.entries()) {
      const line = masked.slice(start, end);
      const isLast = position === lines.length - 1;
      const isHidden =
        block.kind === "mark" ||
        (block.kind === "code" && (position === 0 || isLast) && FENCE_LINE.test(line)) ||
        (block.kind === "heading" && SETEXT_UNDERLINE.test(line)) ||
        (block.kind === "prose" && LINK_DEFINITION_LINE.test(line));
      if (isHidden) signs.fill("", start, end);
      if (isHidden || code.has(block)) continue;
      const from = start + (LINE_START.exec(line)?.[0].length ?? 0);
      signs.fill("", start, from);
      const content = { start: from, end };
      const isRow =
        tableLines === "all" || (tableLines === "last" && isLast) || OUTER_BAR.test(masked.slice(from, end));
      if (isRow) renderRow(masked, content, signs, options);
      else if (paragraph !== undefined && !ITEM_START.test(line) && isBroken(masked, paragraph.end, start)) {
        paragraph.end = end;
      } else {
        endParagraph();
        paragraph = content;
      }
    }
  }
  endParagraph();
  return signs;
}

/** Returns whether two lines are one paragraph with a hard break between them: emphasis may span both. */
function isBroken(masked: string, end: number, start: number): boolean {
  return start - end <= 2 && /(?: {2}|\\|>)(?:\r\n|[\n\r])$/.test(masked.slice(Math.max(0, end - 2), start));
}

/** Renders the cells of a row; an escaped bar is text, even in code. */
function renderRow(masked: string, { start, end }: Span, signs: string[], options: InlineOptions): void {
  let from = start;
  for (const { index, 0: sign } of masked.slice(start, end).matchAll(/\\.|\|/g)) {
    if (sign === "\\|") signs[start + index] = "";
    if (sign !== "|") continue;
    signs[start + index] = CELL_END;
    renderSpan(masked, { start: from, end: start + index }, signs, options);
    from = start + index + 1;
  }
  renderSpan(masked, { start: from, end }, signs, options);
}

function renderSpan(masked: string, { start, end }: Span, signs: string[], options: InlineOptions): void {
  const source = masked.slice(start, end);
  for (const [at, shown] of renderInline(source, options).entries()) {
    if (shown !== source.charAt(at)) signs[start + at] = shown;
  }
}

function linesOf(text: string, { start, end }: Span): Span[] {
  const lines: Span[] = [];
  let from = start;
  for (const { index, 0: newline } of text.slice(start, end).matchAll(/\r\n|[\n\r\u2028\u2029]/g)) {
    lines.push({ start: from, end: start + index });
    from = start + index + newline.length;
  }
  return [...lines, { start: from, end }];
}
