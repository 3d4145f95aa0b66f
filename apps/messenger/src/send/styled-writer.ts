import { PLAIN } from "./styled-text.ts";
import type { Run, Style, StyledText } from "./styled-text.ts";

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
