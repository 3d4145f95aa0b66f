import type { Definition, ListItem, Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** Returns true for `<br>`, the only HTML that answers use within lines, mostly in tables. */
export const isLineBreak = (html: string): boolean => /^<br\s*\/?>$/i.test(html);

/** Returns the box of a task in a list, with a space after it; empty for an item that is not a task. */
export function checkMarkOf({ checked }: ListItem): string {
  if (typeof checked !== "boolean") return "";
  return checked ? "☑ " : "☐ ";
}

/**
 * Returns a text that Telegram accepts: well-formed, with one kind of line end, without control characters. A lone
 * surrogate would make the whole request invalid.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(/\p{Cc}/gu, (control) => (control === "\n" || control === "\t" ? control : ""));
}

/** Characters that are invisible besides white space: Telegram rejects messages that have no others. */
const INVISIBLE = /^(?:[\s\p{Cc}\p{Cf}\u115F\u1160\u2800\u3164\uFFA0]|\uFE0F)*$/u;

/** Returns true for a text that shows nothing. */
export const isBlank = (text: string): boolean => INVISIBLE.test(text);

const RIGHT_TO_LEFT =
  /^[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Returns true for a text whose first letter is of a right-to-left script. */
export const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(/\p{L}/u.exec(text)?.[0] ?? "");

/**
 * `mailto:` is missing because Telegram would treat it as a web site; it detects email addresses and phone numbers in
 * the text itself.
 */
const SCHEMES = new Set(["http:", "https:", "tg:"]);

/** Longer addresses do not become links. */
const LINK_MAX_CHARS = 2_048;

/** Returns the URL of a link; null if it should not be a link. */
export function safeLink(url: string): string | null {
  if (url.length > LINK_MAX_CHARS) return null;
  try {
    const { protocol, href } = new URL(url);
    return SCHEMES.has(protocol) ? href : null;
  } catch {
    // Relative addresses lead nowhere in a message.
    return null;
  }
}

/** Returns the URL of a link as shown in a text without links. */
export const shownAddress = (url: string): string => url.replace(/^(?:mailto|tel):/i, "");

/** A parsed Markdown text. */
export interface MarkdownDocument {
  root: Root;
  /** Definitions of reference links by identifier; the first one counts. */
  definitions: ReadonlyMap<string, Definition>;
}

/** Deeper than any real answer; the functions that walk the tree are recursive. */
const DEPTH_LIMIT = 100;

/**
 * Maximum length of parsed Markdown, in UTF-16 units; longer texts are shown as they are. Some texts take quadratic
 * time.
 */
const MARKDOWN_MAX_CHARS = 32_768;

/** Markers of quotes and lists at the beginning of a line; the parser takes very long for thousands of them. */
const DEEP_LINE = /^[ \t>*+\-\d.)]{400}/m;

/**
 * Beginnings of comments, declarations and processing instructions of HTML. At each, the parser reads the rest of the
 * paragraph for its end: more than this many are in no real answer.
 */
const DECLARATION = /<[!?]/g;
const MAX_DECLARATIONS = 100;

/**
 * Parses GitHub Flavored Markdown (tables, task lists, footnotes, bare links, strikethrough). Returns null for a text
 * that is too long, nested too deep or has too many HTML comments, which is then shown as it is written.
 */
export function parseMarkdown(text: string): MarkdownDocument | null {
  if (text.length > MARKDOWN_MAX_CHARS || DEEP_LINE.test(text)) return null;
  if ((text.match(DECLARATION)?.length ?? 0) > MAX_DECLARATIONS) return null;
  const root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const definitions = new Map<string, Definition>();
  const open: { node: Nodes; depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    if (depth > DEPTH_LIMIT) return null;
    if (node.type === "definition" && !definitions.has(node.identifier)) definitions.set(node.identifier, node);
    if ("children" in node)
      open.push(...node.children.map((child) => ({ node: child, depth: depth + 1 })).toReversed());
  }
  return { root, definitions };
}

/** Style of a range of a text, limited to what Telegram supports. */
export interface Style {
  isBold: boolean;
  isItalic: boolean;
  isStruck: boolean;
  isCode: boolean;
  /** URL of a link. */
  link: string | null;
  /** The preformatted block that it belongs to; adjacent blocks have different numbers. */
  pre: { block: number; language: string | null } | null;
  /** Number of the quotation that it belongs to. */
  quote: number | null;
}

/** A range of a text in one style, in UTF-16 units, the end excluded. */
export interface Run {
  start: number;
  end: number;
  style: Style;
}

/** A text with its styles. Every unit of the text is in exactly one run. */
export interface StyledText {
  text: string;
  runs: Run[];
  /** Positions where a top-level block begins: the best ones to split at. */
  boundaries: number[];
}

export const PLAIN: Style = {
  isBold: false,
  isItalic: false,
  isStruck: false,
  isCode: false,
  link: null,
  pre: null,
  quote: null,
};

/** Returns a text without styles; its paragraphs are its blocks. */
export function plainText(text: string): StyledText {
  const boundaries = Array.from(text.matchAll(/\n{2,}/g), (gap) => gap.index + gap[0].length);
  return { text, runs: text === "" ? [] : [{ start: 0, end: text.length, style: PLAIN }], boundaries };
}

/** Writes a styled text block by block. */
export interface StyledWriter {
  /** Appends a text; its lines are indented, but not those of preformatted text. */
  write: (text: string, style: Style) => void;
  /** Ensures at least this number of line breaks before the next text. Has no effect at the beginning. */
  breakLines: (count: number) => void;
  /** Begins a top-level block with the next text. */
  beginBlock: () => void;
  /** Indents the lines that `work` writes. */
  indented: (indent: string, work: () => void) => void;
  /** Returns a number that no block of this text has yet. */
  nextNumber: () => number;
  finish: () => StyledText;
}

/** Creates a writer for one text. */
export function createStyledWriter(): StyledWriter {
  const chunks: string[] = [];
  const runs: Run[] = [];
  const boundaries: number[] = [];
  let length = 0;
  let pendingBreaks = 0;
  let isBoundaryNext = false;
  let isAtLineStart = true;
  let indent = "";
  let number = 0;

  function put(chunk: string, style: Style): void {
    if (chunk === "") return;
    const last = runs.at(-1);
    if (last !== undefined && isSameStyle(last.style, style)) last.end += chunk.length;
    else runs.push({ start: length, end: length + chunk.length, style });
    chunks.push(chunk);
    length += chunk.length;
    isAtLineStart = chunk.endsWith("\n");
  }

  function settleBreaks(style: Style): void {
    if (pendingBreaks > 0 && length > 0) {
      // White space within a quotation belongs to it, so that it stays one quotation.
      const isWithin = style.quote !== null && runs.at(-1)?.style.quote === style.quote;
      put("\n".repeat(pendingBreaks), isWithin ? { ...PLAIN, quote: style.quote } : PLAIN);
    }
    pendingBreaks = 0;
    if (isBoundaryNext && length > 0) boundaries.push(length);
    isBoundaryNext = false;
  }

  return {
    write(text, style) {
      if (text === "") return;
      settleBreaks(style);
      if (style.pre !== null || indent === "") {
        put(text, style);
        return;
      }
      const beside = { ...PLAIN, quote: style.quote };
      for (const [index, line] of text.split("\n").entries()) {
        if (index > 0) put("\n", style);
        if (isAtLineStart && line !== "") put(indent, beside);
        put(line, style);
      }
    },
    breakLines(count) {
      pendingBreaks = Math.max(pendingBreaks, count);
    },
    beginBlock() {
      isBoundaryNext = true;
    },
    indented(more, work) {
      const before = indent;
      indent += more;
      work();
      indent = before;
    },
    nextNumber: () => (number += 1),
    finish: () => ({ text: chunks.join(""), runs, boundaries }),
  };
}

const isSameStyle = (a: Style, b: Style): boolean =>
  a.isBold === b.isBold &&
  a.isItalic === b.isItalic &&
  a.isStruck === b.isStruck &&
  a.isCode === b.isCode &&
  a.link === b.link &&
  a.pre?.block === b.pre?.block &&
  a.quote === b.quote;
