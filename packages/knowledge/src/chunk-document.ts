import { cutText, splitSentences } from "@svc/text";
import type { BlockKind } from "@svc/text";

/** A heading longer than this is cut: it is shown in lists and is in the path of every passage under it. */
const MAX_HEADING_CHARS = 200;

/**
 * A passage of a document: `text` is the document's text from `startOffset` to `endOffset` (UTF-16 units), unchanged.
 */
export interface Chunk {
  /** Headings above it, outermost first. */
  headingPath: string[];
  text: string;
  startOffset: number;
  endOffset: number;
}

/** A document cut into passages. */
export interface ChunkedDocument {
  /** The first heading; null when there is none. */
  heading: string | null;
  chunks: Chunk[];
}

interface Span {
  start: number;
  end: number;
}

/** A sentence or a block in its place; later also a paragraph or a table of them. */
interface Part extends Span {
  kind: BlockKind | "question";
}

/** A heading, the headings above it, and the text under it up to the next heading. */
interface Section {
  headingPath: string[];
  headingLine: Span | null;
  /** Whether the heading is marked as one, and not a question in a paragraph of its own. */
  isMarked: boolean;
  body: Part[];
  hasSubsections: boolean;
}

/** Maximum length of a passage of running text; longer sections are cut into passages of about equal length. */
const MAX_PASSAGE_CHARS = 1_200;

/** Up to this length a table or a code fence is kept whole, however long a passage gets by it. */
const MAX_WHOLE_CHARS = 8_000;

/**
 * Cuts a document into passages of at most about 1,200 characters: by heading, then by paragraph, then by sentence.
 * No passage reaches over a heading; tables and code fences stay whole up to 8,000 characters and are cut between
 * lines beyond that. Together the passages hold every word of the document but its headings, which are in the heading
 * paths; a heading with nothing under it is a passage of its own. A question in a paragraph of its own, above its
 * answer, is a heading too. Takes `text/markdown`, and `text/plain`, which has no other headings. Time grows with the
 * length of the text only.
 */
export function chunkDocument(document: { text: string; mime: string }): ChunkedDocument {
  const { text } = document;
  // A byte order mark is no white space to Markdown: a heading behind it would be missed.
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

/** Level of a question: below all marked headings. */
const QUESTION_LEVEL = 7;

function readAnyHeading(text: string, { kind, start, end }: Part): Heading {
  const source = text.slice(start, end);
  return kind === "heading" ? readHeading(source) : { level: QUESTION_LEVEL, title: plainTitle(source) };
}

/** A longer question is no heading. */
const MAX_QUESTION_CHARS = 200;

/** A paragraph that is one question: `Can I return it?`, `Q: Can I return it?`. */
const QUESTION_LINE = /^[\p{L}\p{N}¿"'“„«([][^\n]*[?？؟]$/u;

/** A paragraph in bold that ends with a question: `**(2) It came too late. Can I return it?**`. */
const BOLD_QUESTION = /^(\*\*|__)(?!\s)(?:(?!\1)[^])+[?？؟]\1$/;

/**
 * Joins the sentences of each question that stands in a paragraph of its own above its answer, as in a list of
 * frequently asked questions without marked headings. Of several questions in a row only the last has an answer.
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

/** What a passage of this section may be cut between: paragraphs, tables and code, or parts of those too long. */
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
 * Joins the sentences of each paragraph or list, and the rows of each table, which follow each other without a blank
 * line. A table whose rows do not begin with a bar looks like running text but for its delimiter row, so running text
 * next to that row belongs to it. Rules between paragraphs are dropped.
 */
function joinParts(text: string, parts: readonly Part[]): Group[] {
  return paragraphsOf(text, parts)
    .map((group) => (group.some((part) => isDelimiter(text, part)) ? asTable(group) : group))
    .filter((group) => group.some(({ kind }) => kind !== "mark"));
}

/** Groups what follows each other without a blank line; code stands apart. */
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

/** True when a blank line lies between two parts. */
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
    // A bounded slice: cutting must not look at the rest of a long text again for each piece.
    const piece = cutText(text.slice(start, Math.min(span.end, start + 2 * maxChars)), maxChars);
    const end = start + Math.max(piece.length, 1);
    if (text.slice(start, end).trim() !== "") pieces.push({ start, end });
    start = end;
    while (start < span.end && text.slice(start, start + 1).trim() === "") start += 1;
  }
  return pieces;
}

/** Packs spans into as few passages as fit, of about one length, so that no crumb is left at the end of a section. */
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
 * Reads the source of a Markdown heading: its level, 1 to 6, and its text without the marks of Markdown (bold, code,
 * links). The text may be empty.
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

/** Drops the optional closing hashes. */
function trimHashes(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(trimmed.charAt(end - 1)) ? trimmed.slice(0, end) : trimmed;
}

/** Returns a heading's text without the marks of Markdown (bold, code, links), cut to its longest length. */
function plainTitle(markdown: string): string {
  // Cut first with room for the marks: on a bounded text no expression can take long.
  const plain = cutText(markdown.trim(), 4 * MAX_HEADING_CHARS)
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[*`]|\\(?=\p{P})/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  return cutText(plain, MAX_HEADING_CHARS);
}
