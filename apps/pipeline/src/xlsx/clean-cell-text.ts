/** What a cell of a spreadsheet holds at most, in UTF-16 units, and how many line breaks. */
const MAX_CELL_CHARS = 32_767;
const MAX_LINE_BREAKS = 253;

/** Characters that XML 1.0 forbids (section 2.2), and the other control characters, which nobody sees or means. */
const FORBIDDEN = /[^\P{Cc}\t\n]|[\ufffe\uffff]/gu;
/** How a spreadsheet writes a character by its number; text that only looks like it must not be read so. */
const ESCAPE_LOOKALIKE = /_(?=x[0-9A-Fa-f]{4}_)/g;

/**
 * A text as a spreadsheet can hold it: control characters are dropped, lone surrogates become U+FFFD, line ends are
 * `\n` and at most 253, and what exceeds 32,767 UTF-16 units is cut, an ellipsis at its end, never within a character.
 * Bidirectional marks stay: right-to-left text needs them, and none reaches beyond its cell.
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
 * Escapes what Office Open XML reads as a numbered character (`_x0041_` is "A" to it; ECMA-376 part 1, ST_Xstring), so
 * that the cell shows the text as given. The last step before writing: it adds characters that no reader counts.
 */
export function escapeCellText(text: string): string {
  return text.replaceAll(ESCAPE_LOOKALIKE, "_x005F_");
}

/** What spreadsheets may read as the beginning of a formula in a CSV file, also in full width. */
const FORMULA_START = /^[=+\-@\t\n\uff1d\uff0b\uff0d\uff20]/;
/** A sign alone, an amount, or a phone number: nothing in it can call a function or name a cell. */
const SIGNED_NUMBER = /^[+-][\d\s().,/:%$\u20ac-]*$/;

/**
 * A cleaned text that stays a text when its sheet is saved as CSV and opened again: what could begin a formula gets an
 * apostrophe in front. Amounts and phone numbers stay as they are. Source: OWASP, CSV Injection.
 */
export function guardFormulaStart(text: string): string {
  if (!FORMULA_START.test(text) || SIGNED_NUMBER.test(text)) return text;
  return `'${text.slice(0, MAX_CELL_CHARS - 1)}`;
}
