import { escapeInline, escapeMarkdown, formatTable } from "./format-table.ts";
import type { PdfLine } from "./pdf-lines.ts";

/** Text of a PDF, and its structure. */
interface PdfText {
  /** Markdown. */
  text: string;
  /** Start of each page in `text`, in UTF-16 units; an empty page starts where the next one does. */
  pageStarts: number[];
  /** The first of the largest headings, or null. */
  headline: string | null;
}

/** Minimum font size of a heading, relative to body text. */
const HEADING_FACTOR = 1.15;
const HEADING_CHARS = 200;
const MAX_HEADING_LEVELS = 4;

/** Minimum gap above a paragraph, relative to the line spacing. */
const PARAGRAPH_FACTOR = 1.35;

/**
 * Number of lines before and after a line from which the width of its column is estimated, and the maximum difference
 * of their left edges.
 */
const COLUMN_LINES = 8;
const COLUMN_POINTS = 40;

type BlockKind = "paragraph" | "heading" | "item" | "table";

interface Block {
  kind: BlockKind;
  lines: PdfLine[];
  page: number;
}

/** A line that ends with a hyphenated word. */
const HYPHENATED = /\p{L}[-‐\u00ad]$/u;

const BULLET = /^[•●▪■◦‣⁃∙·–−-]\s+/u;
const NUMBER = /^(?:\d{1,3}|[a-z])[.)]\s+/;

/**
 * Joins the lines of pages: lines of a paragraph, also across pages, and words hyphenated at a line break; drops
 * running headers, footers and page numbers. Headings, list items and tables are recognized by their layout, only if it
 * is unambiguous.
 */
export function pdfText(pages: readonly (readonly PdfLine[])[]): PdfText {
  const bodySize = commonest(pages.flat().map(({ size, text }) => [size, text.length]));
  const kept = dropRunningLines(pages, bodySize);
  const levels = headingLevels(kept.flat(), bodySize);
  const leading = commonest(kept.flatMap((lines) => gapsOf(lines).map((gap): [number, number] => [gap, 1])));
  const blocks = kept.flatMap((lines, page) => blocksOf(lines, page, { levels, leading }));
  return { ...joinBlocks(blocks, kept.length, levels), headline: headlineOf(blocks, levels) };
}

/** Returns the value with the highest weight, rounded to half points; 0 if there is none. */
function commonest(values: readonly (readonly [number, number])[]): number {
  const weights = new Map<number, number>();
  for (const [value, weight] of values) {
    const rounded = Math.round(value * 2) / 2;
    weights.set(rounded, (weights.get(rounded) ?? 0) + weight);
  }
  return [...weights].toSorted((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}

/** Returns the distances of consecutive lines of the same size. */
function gapsOf(lines: readonly PdfLine[]): number[] {
  return lines.slice(1).flatMap((line, index) => {
    const above = lines[index];
    const gap = (above?.y ?? 0) - line.y;
    return above !== undefined && gap > 0 && above.size === line.size && gap < line.size * 3 ? [gap] : [];
  });
}

/**
 * Number of lines at the top and bottom of pages that are checked, and the minimum share of pages with a repeated one.
 */
const EDGE_LINES = 3;
const RUNNING_SHARE = 0.4;
/** A chapter title is repeated on at least three of five consecutive pages. */
const RUNNING_PAGES = 3;
const RUNNING_WINDOW = 5;

const PAGE_NUMBER =
  /^(?:[-–—|\s]*)(?:page|seite|p\.|pág(?:ina)?\.?|стр\.?)?\s*(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|von|de|\/)\s*\d{1,4})?(?:[-–—|\s]*)$/iu;

/** Returns whether a line is a page number even if only one page has it: "Page 3", or "1/1" in a document of one page. */
const isClearPageNumber = (text: string, pageCount: number) =>
  PAGE_NUMBER.test(text) &&
  /\d/.test(text) &&
  (/\p{L}/u.test(text) || Number(/\/\s*(\d+)/.exec(text)?.[1]) === pageCount);

/** An entry of a table of contents, whose heading follows in the document. */
const CONTENTS_ENTRY = /(?:\.\s?){6,}\s*[\divxlc]+$/i;

/** Drops lines repeated at page edges, page numbers, and tables of contents. */
function dropRunningLines(pages: readonly (readonly PdfLine[])[], bodySize: number): PdfLine[][] {
  const key = (line: PdfLine) =>
    `${Math.round(line.y / 4)} ${line.text.toLowerCase().replace(/^[ivxlc]{1,7}$|\d+/g, "#")}`;
  const pagesOf = new Map<string, number[]>();
  const downs = pages.map((lines) => lines.toSorted((one, other) => other.y - one.y));
  const apart = linesApart(downs, bodySize);
  const edges = downs.map((down) => {
    return new Set([...down.slice(0, EDGE_LINES), ...down.slice(-EDGE_LINES)]);
  });
  for (const [page, edge] of edges.entries()) {
    for (const name of new Set([...edge].map(key))) pagesOf.set(name, [...(pagesOf.get(name) ?? []), page]);
  }
  const isRunning = (line: PdfLine) => {
    const on = pagesOf.get(key(line)) ?? [];
    if (on.length < RUNNING_PAGES)
      return (on.length > 1 && PAGE_NUMBER.test(line.text)) || isClearPageNumber(line.text, pages.length);
    const isClose = on.some((page, index) => (on[index + RUNNING_PAGES - 1] ?? Infinity) - page < RUNNING_WINDOW);
    return isClose || on.length >= pages.length * RUNNING_SHARE;
  };
  return pages.map((lines, page) =>
    lines.filter(
      (line) =>
        !CONTENTS_ENTRY.test(line.text) && !apart.has(line) && !(edges[page]?.has(line) === true && isRunning(line)),
    ),
  );
}

/** Minimum distance of a running header from the text, in font sizes. */
const APART = 1.8;
const APART_PAGES = 5;

/**
 * Finds first and last lines that are separated from the text, at the same height on most pages: running lines that
 * change with each chapter. Larger text, such as slide titles, is excluded.
 */
function linesApart(downs: readonly (readonly PdfLine[])[], bodySize: number): Set<PdfLine> {
  const found = new Set<PdfLine>();
  for (const [edge, next] of [
    [0, 1],
    [-1, -2],
  ] as const) {
    const candidates = downs.flatMap((down) => {
      const line = down.at(edge);
      const inner = down.at(next);
      if (line === undefined || inner === undefined || down.length < 3 || line.size > bodySize * 1.05) return [];
      return Math.abs(line.y - inner.y) > line.size * APART ? [line] : [];
    });
    const height = commonest(candidates.map(({ y }) => [y, 1]));
    const running = candidates.filter(({ y }) => Math.abs(y - height) < 1.5);
    if (running.length < Math.max(APART_PAGES, downs.length * 0.6)) continue;
    for (const line of running) found.add(line);
  }
  return found;
}

/**
 * Returns the heading level of each font size that is clearly larger than body text; none if most text has that size.
 */
function headingLevels(lines: readonly PdfLine[], bodySize: number): Map<number, number> {
  const large = lines.filter(({ size }) => size >= bodySize * HEADING_FACTOR);
  const chars = (some: readonly PdfLine[]) => some.reduce((sum, { text }) => sum + text.length, 0);
  const levels = new Map<number, number>();
  if (chars(large) > chars(lines) * 0.3) return levels;
  let level = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const size of [...new Set(large.map(({ size }) => size))].toSorted((one, other) => other - one)) {
    if (size < last * 0.97) level = Math.min(level + 1, MAX_HEADING_LEVELS);
    levels.set(size, level);
    last = size;
  }
  return levels;
}

function blocksOf(
  lines: readonly PdfLine[],
  page: number,
  check: { levels: ReadonlyMap<number, number>; leading: number },
): Block[] {
  const blocks: Block[] = [];
  for (const [index, line] of lines.entries()) {
    const block = blocks.at(-1);
    const above = lines[index - 1];
    const kind = kindOf(line, lines, index, check.levels);
    const isSame =
      block !== undefined &&
      above !== undefined &&
      continues(block, above, line, { kind, leading: check.leading, right: columnRight(lines, index) });
    if (isSame) block.lines.push(line);
    else blocks.push({ kind, lines: [line], page });
  }
  return blocks;
}

function kindOf(
  line: PdfLine,
  lines: readonly PdfLine[],
  index: number,
  levels: ReadonlyMap<number, number>,
): BlockKind {
  if (levels.has(line.size) && line.text.length <= HEADING_CHARS && /\p{L}/u.test(line.text)) return "heading";
  const isRow = (other: PdfLine | undefined) =>
    other !== undefined && other.cells.length === line.cells.length && other.size === line.size;
  if (
    line.cells.length > 1 &&
    !BULLET.test(line.text) &&
    !NUMBER.test(line.text) &&
    (isRow(lines[index - 1]) || isRow(lines[index + 1]))
  )
    return "table";
  return BULLET.test(line.text) || NUMBER.test(line.text) ? "item" : "paragraph";
}

function continues(
  block: Block,
  above: PdfLine,
  line: PdfLine,
  check: { kind: BlockKind; leading: number; right: number },
): boolean {
  const gap = above.y - line.y;
  const isNear = gap > 0 && gap <= Math.max(check.leading * PARAGRAPH_FACTOR, line.size * 1.5);
  if (check.kind === "table") return block.kind === "table" && above.cells.length === line.cells.length;
  if (check.kind === "item" || block.kind === "table") return false;
  if (Math.abs(above.size - line.size) > line.size * 0.08 || (check.kind === "heading") !== (block.kind === "heading"))
    return false;
  if (block.kind === "heading") return isNear || (gap > 0 && gap < line.size * 1.6);
  // At the top of the next column, a paragraph continues if its sentence has not ended.
  if (gap <= 0) return !endsSentence(above.text) && /^\p{Ll}/u.test(line.text);
  if (!isNear) return false;
  // The text of a list item is indented; text further left comes after the list.
  if (block.kind === "item" && line.left < (block.lines[0]?.left ?? 0) + 1 && endsSentence(above.text)) return false;
  return !isShort(above, line, check.right);
}

/** Returns the right edge of a line's column. */
function columnRight(lines: readonly PdfLine[], index: number): number {
  const left = lines[index]?.left ?? 0;
  const near = lines.slice(Math.max(0, index - COLUMN_LINES), index + COLUMN_LINES);
  return Math.max(...near.filter((line) => Math.abs(line.left - left) < COLUMN_POINTS).map((line) => line.right));
}

/** Returns whether the first word of the next line would have fit on this one, so that a new paragraph begins there. */
function isShort(line: PdfLine, next: PdfLine, right: number): boolean {
  if (HYPHENATED.test(line.text)) return false;
  const word = /^\S*/.exec(next.text)?.[0].length ?? 0;
  const charWidth = (next.right - next.left) / Math.max(1, next.text.length);
  const room = right - line.right;
  return room > charWidth * (word + 1) * (endsSentence(line.text) ? 1 : 1.5) + line.size;
}

function endsSentence(text: string): boolean {
  return /[.!?:。！？…]["'”’)\]]*$/u.test(text);
}

function joinBlocks(
  blocks: readonly Block[],
  pageCount: number,
  levels: ReadonlyMap<number, number>,
): { text: string; pageStarts: number[] } {
  let text = "";
  const starts = new Map<number, number>();
  let previous: Block | null = null;
  for (const block of blocks) {
    const isNewPage = previous !== null && previous.page !== block.page;
    const goesOn =
      isNewPage &&
      previous?.kind !== "heading" &&
      previous?.kind !== "table" &&
      block.kind === "paragraph" &&
      !endsSentence(previous?.lines.at(-1)?.text ?? ".") &&
      /^\p{Ll}/u.test(block.lines[0]?.text ?? "");
    const source = sourceOf(block, levels);
    if (goesOn) {
      text = HYPHENATED.test(text) ? text.slice(0, -1) : `${text} `;
    } else if (text !== "") text += block.kind === "item" && previous?.kind === "item" ? "\n" : "\n\n";
    if (!starts.has(block.page)) starts.set(block.page, text.length);
    text += source;
    previous = block;
  }
  const pageStarts: number[] = [];
  for (let page = pageCount - 1; page >= 0; page -= 1) {
    pageStarts.unshift(starts.get(page) ?? pageStarts[0] ?? text.length);
  }
  return { text, pageStarts: pageStarts.with(0, 0) };
}

function sourceOf(block: Block, levels: ReadonlyMap<number, number>): string {
  if (block.kind === "table") return formatTable(block.lines.map(({ cells }) => cells.map(escapeInline)));
  const joined = block.lines.map(({ text }) => text).reduce(joinLines);
  if (block.kind === "heading")
    return `${"#".repeat(levels.get(block.lines[0]?.size ?? 0) ?? 2)} ${escapeInline(joined)}`;
  if (block.kind === "item") {
    const marker = NUMBER.exec(joined)?.[0];
    return marker !== undefined && /^\d/.test(marker)
      ? joined.slice(0, marker.length).trim() + " " + escapeMarkdown(joined.slice(marker.length))
      : `- ${escapeMarkdown(joined.replace(BULLET, ""))}`;
  }
  return escapeMarkdown(joined);
}

/** Joins two lines, including a word hyphenated between them. */
function joinLines(one: string, other: string): string {
  if (one.endsWith("\u00ad")) return one.slice(0, -1) + other;
  if (/\p{L}[-‐]$/u.test(one)) return /^\p{Ll}/u.test(other) ? one.slice(0, -1) + other : one + other;
  // Chinese and Japanese have no spaces between words.
  if (/[\u3000-\u30ff\u3400-\u9fff]$/u.test(one) && /^[\u3000-\u30ff\u3400-\u9fff]/u.test(other)) return one + other;
  return `${one} ${other}`;
}

function headlineOf(blocks: readonly Block[], levels: ReadonlyMap<number, number>): string | null {
  const top = blocks.find(({ kind, lines }) => kind === "heading" && levels.get(lines[0]?.size ?? 0) === 1);
  return top === undefined ? null : top.lines.map(({ text }) => text).reduce(joinLines);
}
