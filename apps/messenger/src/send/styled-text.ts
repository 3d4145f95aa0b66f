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
