/** How a stretch of a text is shown; what Telegram knows of it, and no more. */
export interface Style {
  isBold: boolean;
  isItalic: boolean;
  isStruck: boolean;
  isCode: boolean;
  /** Address that it leads to. */
  link: string | null;
  /** The block of preformatted text that it belongs to; two blocks that follow each other have two numbers. */
  pre: { block: number; language: string | null } | null;
  /** Number of the quotation that it belongs to. */
  quote: number | null;
}

/** A stretch of a text in one style: UTF-16 units, the end excluded. */
export interface Run {
  start: number;
  end: number;
  style: Style;
}

/** A text with its styles. Every unit of the text is in exactly one run. */
export interface StyledText {
  text: string;
  runs: Run[];
  /** Where a block of the outermost level begins: the best places to split. */
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

/** A text without any style; its paragraphs are its blocks. */
export function plainText(text: string): StyledText {
  const boundaries = Array.from(text.matchAll(/\n{2,}/g), (gap) => gap.index + gap[0].length);
  return { text, runs: text === "" ? [] : [{ start: 0, end: text.length, style: PLAIN }], boundaries };
}

/** Writes a styled text from its beginning to its end, block after block. */
export interface StyledWriter {
  /** Appends a text; its lines are indented, but not those of preformatted text. */
  write: (text: string, style: Style) => void;
  /** At least so many line ends come before what is written next. None at the beginning. */
  breakLines: (count: number) => void;
  /** What is written next begins a block of the outermost level. */
  beginBlock: () => void;
  /** Lines that `work` writes are indented by so much more. */
  indented: (indent: string, work: () => void) => void;
  /** A number that no block of this text has yet. */
  nextNumber: () => number;
  finish: () => StyledText;
}

/** Makes a writer for one text. */
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
      // A gap within a quotation belongs to it, so that it stays one.
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
