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
