/** Limits of a spreadsheet cell: UTF-16 units, and line breaks. */
const MAX_CELL_CHARS = 32_767;
const MAX_LINE_BREAKS = 253;

/** Characters that XML 1.0 forbids (section 2.2), and invisible control characters. */
const FORBIDDEN = /[^\P{Cc}\t\n]|[\ufffe\uffff]/gu;
/** Escape sequence of a character in a spreadsheet; literal text of this form must be escaped itself. */
const ESCAPE_LOOKALIKE = /_(?=x[0-9A-Fa-f]{4}_)/g;

/**
 * Returns a text that fits into a spreadsheet cell: control characters are dropped, lone surrogates become U+FFFD,
 * line breaks become `\n` and
 * are at most 253, and text beyond 32,767 UTF-16 units is replaced by an ellipsis, never within a surrogate
 * pair. Bidirectional marks are kept: right-to-left text needs them, and they have no effect beyond the cell.
 */
export function cleanCellText(text: string): string {
  let breaks = 0;
  const cleaned = text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(FORBIDDEN, "")
    .toWellFormed()
    .replaceAll("\n", () => (++breaks > MAX_LINE_BREAKS ? " " : "\n"));
  if (cleaned.length <= MAX_CELL_CHARS) return cleaned;
  return `${cleaned.slice(0, MAX_CELL_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/**
 * Escapes text that Office Open XML would read as a numbered character (`_x0041_` means "A"; ECMA-376 part 1,
 * ST_Xstring), so that the cell shows the text as given. Called last, since the added characters do not count towards
 * the limit.
 */
export function escapeCellText(text: string): string {
  return text.replaceAll(ESCAPE_LOOKALIKE, "_x005F_");
}

/** Characters that spreadsheets may read as the beginning of a formula in a CSV file, also in full width. */
const FORMULA_START = /^[=+\-@\t\n\uff1d\uff0b\uff0d\uff20]/;
/** A sign alone, an amount, or a phone number: it cannot call a function or refer to a cell. */
const SIGNED_NUMBER = /^[+-][\d\s().,/:%$\u20ac-]*$/;

/**
 * Returns a cleaned text that stays text when its sheet is saved as CSV and opened again: an apostrophe precedes any
 * text that could begin a formula. Amounts and phone numbers are unchanged. Source: OWASP, CSV Injection.
 */
export function guardFormulaStart(text: string): string {
  if (!FORMULA_START.test(text) || SIGNED_NUMBER.test(text)) return text;
  return `'${text.slice(0, MAX_CELL_CHARS - 1)}`;
}
