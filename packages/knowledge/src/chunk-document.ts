import { cutText, splitSentences } from "@svc/text";
import type { BlockKind } from "@svc/text";

/** Maximum length of a heading, because it is shown in lists and repeated in the path of every passage below it. */
const MAX_HEADING_CHARS = 200;

/**
 * A passage of a document: `text` is the document's text from `startOffset` to `endOffset` (UTF-16 units), unchanged.
 */
interface Chunk {
  /** Headings above it, outermost first. */
  headingPath: string[];
  text: string;
  startOffset: number;
  endOffset: number;
}

/** A document split into passages. */
interface ChunkedDocument {
  /** The first heading; null if there is none. */
  heading: string | null;
  chunks: Chunk[];
}

interface Span {
  start: number;
  end: number;
}

/** A sentence or a block with its position; later also a paragraph or a table. */
interface Part extends Span {
  kind: BlockKind | "question";
}

/** A heading, its parent headings, and the text below it up to the next heading. */
interface Section {
  headingPath: string[];
  headingLine: Span | null;
  /** False for a question that is a paragraph of its own and acts as a heading. */
  isMarked: boolean;
  body: Part[];
  hasSubsections: boolean;
}

/** Maximum length of a passage of prose; longer sections are split into passages of similar length. */
const MAX_PASSAGE_CHARS = 1_200;

/** Tables and code fences up to this length are never split, even if the passage gets longer. */
const MAX_WHOLE_CHARS = 8_000;

/**
 * Splits a document into passages of at most about 1,200 characters: by heading, then by paragraph, then by sentence. A
 * passage never spans a heading; tables and code fences up to 8,000 characters are not split, longer ones between
 * lines. The passages contain every word of the document except its headings, which are in the heading paths; a heading
 * without text is a passage of its own. A question that is a paragraph of its own above its answer also acts as a
 * heading. Supports `text/markdown`, and `text/plain`, which has no other headings. Runs in linear time.
 */
export function chunkDocument(document: { text: string; mime: string }): ChunkedDocument {
  const { text } = document;
  // Markdown does not treat a byte order mark as white space: a heading after it would be missed.
  const first = text.startsWith("\uFEFF") ? 1 : 0;
  const isPlain = document.mime === "text/plain";
  const parts = splitSentences(text.slice(first)).map(({ kind, start, end }) => ({
    kind: kind === "heading" && isPlain ? ("prose" as const) : kind,
    start: start + first,
    end: end + first,
  }));
  const sections = splitSections(text, parts);
  const chunks = sections.flatMap((section) =>
    packSpans(spansOf(text, section)).map(({ start, end }): Chunk => ({
      headingPath: section.headingPath,
      text: text.slice(start, end),
      startOffset: start,
      endOffset: end,
    })),
  );
  const heading = sections.find(({ isMarked }) => isMarked)?.headingPath.at(-1) ?? null;
  return { heading, chunks };
}

function splitSections(text: string, parts: readonly Part[]): Section[] {
  let open: Heading[] = [];
  let section: Section = { headingPath: [], headingLine: null, isMarked: false, body: [], hasSubsections: false };
  const sections = [section];
  for (const part of joinQuestions(text, parts)) {
    const isMarked = part.kind === "heading";
    const heading = isMarked || part.kind === "question" ? readAnyHeading(text, part) : null;
    if (heading === null) {
      section.body.push(part);
      continue;
    }
    const above = open.filter(({ level }) => level < heading.level);
    section.hasSubsections = above.length === open.length && section.headingLine !== null;
    open = heading.title === "" ? above : [...above, heading];
    section = {
      headingPath: open.map(({ title }) => title),
      headingLine: { start: part.start, end: part.end },
      isMarked,
      body: [],
      hasSubsections: false,
    };
    sections.push(section);
  }
  return sections;
}

interface Heading {
  level: number;
  title: string;
}

/** Level of a question: below all Markdown headings. */
const QUESTION_LEVEL = 7;

function readAnyHeading(text: string, { kind, start, end }: Part): Heading {
  const source = text.slice(start, end);
  return kind === "heading" ? readHeading(source) : { level: QUESTION_LEVEL, title: plainTitle(source) };
}

/** A longer question is not a heading. */
const MAX_QUESTION_CHARS = 200;

/** Matches a paragraph that is one question: `Can I return it?`, `Q: Can I return it?`. */
const QUESTION_LINE = /^[\p{L}\p{N}¿"'“„«([][^\n]*[?？؟]$/u;

/** Matches a paragraph in bold that ends with a question: `**(2) It came too late. Can I return it?**`. */
const BOLD_QUESTION = /^(\*\*|__)(?!\s)(?:(?!\1)[^])+[?？؟]\1$/;

/**
 * Joins the sentences of each question that is a paragraph of its own above its answer, as in an FAQ without Markdown
 * headings. Of several consecutive questions only the last has an answer.
 */
function joinQuestions(text: string, parts: readonly Part[]): Part[] {
  const paragraphs = paragraphsOf(text, parts).map((paragraph) => ({
    paragraph,
    isQuestion: isQuestion(text, paragraph),
  }));
  return paragraphs.flatMap(({ paragraph, isQuestion }, index) => {
    const next = paragraphs[index + 1];
    const hasAnswer = next !== undefined && !next.isQuestion && next.paragraph[0].kind !== "heading";
    const { end } = paragraph.at(-1) ?? paragraph[0];
    return isQuestion && hasAnswer ? [{ kind: "question" as const, start: paragraph[0].start, end }] : paragraph;
  });
}

function isQuestion(text: string, paragraph: Group): boolean {
  const { start } = paragraph[0];
  const { end } = paragraph.at(-1) ?? paragraph[0];
  if (end - start > MAX_QUESTION_CHARS || paragraph.some(({ kind }) => kind !== "prose")) return false;
  const source = text.slice(start, end);
  return BOLD_QUESTION.test(source) || (paragraph.length === 1 && QUESTION_LINE.test(source));
}

/**
 * Returns the units between which this section may be split: paragraphs, tables and code, or parts of those too long.
 */
function spansOf(text: string, section: Section): Span[] {
  const spans = joinParts(text, section.body).flatMap((group): Span[] => {
    const { start, end } = { start: group[0].start, end: (group.at(-1) ?? group[0]).end };
    const isWhole = group.some(({ kind }) => kind === "table" || kind === "code");
    const maxChars = isWhole ? MAX_WHOLE_CHARS : MAX_PASSAGE_CHARS;
    if (end - start <= maxChars) return [{ start, end }];
    const pieces = isWhole ? linesOf(text, { start, end }) : group;
    return pieces.flatMap((piece) => cutHard(text, piece, maxChars));
  });
  if (spans.length > 0 || section.hasSubsections || section.headingLine === null) return spans;
  return cutHard(text, section.headingLine, MAX_PASSAGE_CHARS);
}

type Group = [Part, ...Part[]];

/**
 * Joins the sentences of each paragraph or list, and the rows of each table, if no blank line separates them. A table
 * whose rows have no leading bar looks like prose except for its delimiter row, so prose next to that row belongs to
 * it. Drops horizontal rules.
 */
function joinParts(text: string, parts: readonly Part[]): Group[] {
  return paragraphsOf(text, parts)
    .map((group) => (group.some((part) => isDelimiter(text, part)) ? asTable(group) : group))
    .filter((group) => group.some(({ kind }) => kind !== "mark"));
}

/** Groups parts without blank lines between them; code forms its own group. */
function paragraphsOf(text: string, parts: readonly Part[]): Group[] {
  const groups: Group[] = [];
  for (const part of parts) {
    const group = groups.at(-1);
    const previous = group?.at(-1);
    const isNext = previous !== undefined && !isApart(text.slice(previous.end, part.start));
    if (group !== undefined && isNext && (part.kind === "code") === (previous.kind === "code")) group.push(part);
    else groups.push([part]);
  }
  return groups;
}

function isDelimiter(text: string, part: Part): boolean {
  return part.kind === "mark" && text.slice(part.start, part.end).includes("|");
}

function asTable([first, ...rest]: Group): Group {
  return [{ ...first, kind: "table" }, ...rest];
}

/** Returns whether a blank line separates two parts. */
function isApart(gap: string): boolean {
  return gap.indexOf("\n") !== gap.lastIndexOf("\n");
}

function linesOf(text: string, span: Span): Span[] {
  const lines: Span[] = [];
  let { start } = span;
  while (start < span.end) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? span.end : Math.min(newline, span.end);
    if (text.slice(start, end).trim() !== "") lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}

function cutHard(text: string, span: Span, maxChars: number): Span[] {
  const pieces: Span[] = [];
  let { start } = span;
  while (start < span.end) {
    // Bounded, so that splitting does not read the rest of a long text for each piece.
    const piece = cutText(text.slice(start, Math.min(span.end, start + 2 * maxChars)), maxChars);
    const end = start + Math.max(piece.length, 1);
    if (text.slice(start, end).trim() !== "") pieces.push({ start, end });
    start = end;
    while (start < span.end && text.slice(start, start + 1).trim() === "") start += 1;
  }
  return pieces;
}

/** Packs spans into as few passages as fit, of similar length, so that the last one is not tiny. */
function packSpans(spans: readonly Span[]): Span[] {
  const first = spans[0];
  const last = spans.at(-1);
  if (first === undefined || last === undefined) return [];
  const length = last.end - first.start;
  const target = length / Math.ceil(length / MAX_PASSAGE_CHARS);
  const passages: Span[] = [];
  let open: Span = { ...first };
  for (const span of spans.slice(1)) {
    const grown = span.end - open.start;
    const isFull = open.end - open.start >= target || grown - target > target - (open.end - open.start);
    if (isFull || grown > MAX_PASSAGE_CHARS) {
      passages.push(open);
      open = { ...span };
    } else {
      open.end = span.end;
    }
  }
  passages.push(open);
  return passages;
}

/**
 * Parses a Markdown heading: its level, 1 to 6, and its text without markup (bold, code, links). The text may be empty.
 */
export function readHeading(source: string): { level: number; title: string } {
  const lines = source.trim().split("\n");
  const hashes = /^#{1,6}(?=\s|$)/.exec(lines[0] ?? "")?.[0] ?? "";
  if (hashes !== "")
    return { level: hashes.length, title: plainTitle(trimHashes((lines[0] ?? "").slice(hashes.length))) };
  return {
    level: lines.at(-1)?.trim().startsWith("=") === true ? 1 : 2,
    title: plainTitle(lines.slice(0, -1).join(" ")),
  };
}

/** Removes the optional closing hashes. */
function trimHashes(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(trimmed.charAt(end - 1)) ? trimmed.slice(0, end) : trimmed;
}

/** Returns a heading's text without markup (bold, code, links), cut to the maximum length. */
function plainTitle(markdown: string): string {
  // Cut first, with room for the markup, to limit the time of the expressions.
  const plain = cutText(markdown.trim(), 4 * MAX_HEADING_CHARS)
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[*`]|\\(?=\p{P})/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  return cutText(plain, MAX_HEADING_CHARS);
}
