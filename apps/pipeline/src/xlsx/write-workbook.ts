import { setImmediate as nextTurn } from "node:timers/promises";
import type { Style, Worksheet } from "exceljs";
import type { ColumnAlign, FoundTable } from "./find-tables.ts";

/** A number in a spreadsheet: its value, and the format that shows it as in the text. */
interface ReadNumber {
  value: number;
  numFmt: string;
}

/** Decimal separator of a table's numbers. */
type DecimalMark = "." | ",";

/** A sign, a currency sign before or after, a percent sign after; `FORMS` match the rest. */
const AFFIXES =
  /^(?<sign>[-\u2212]?)(?<prefix>\p{Sc}?[ \u00a0\u202f]?)(?<digits>\d(?:[\d.,\u00a0\u202f ]*\d)?)(?<suffix>[ \u00a0\u202f]?[%\p{Sc}]?)$/u;
/**
 * A number without a leading zero, its thousands grouped by threes or not at all. With a decimal comma, spaces only
 * group if decimals follow: `555 123` may be a phone number.
 */
const FORMS = {
  ".": /^(?<whole>0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.(?<decimals>\d+))?$/,
  ",": /^(?<whole>0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+(?=,))(?:,(?<decimals>\d+))?$/,
} satisfies Record<DecimalMark, RegExp>;

/** Digits that a double, and so a spreadsheet, stores exactly. */
const MAX_SIGNIFICANT_DIGITS = 15;

/** Cells that only have one reading: 0.125, 12.5, 1,234.5 and 1,234,567. */
const POINT_EVIDENCE =
  /^[-\u2212]?\p{Sc}? ?(?:0\.\d+|\d+\.(?:\d{1,2}|\d{4,})|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}) ?[%\p{Sc}]?$/u;
/** Cells that almost certainly have decimal commas: 1.234,5, 1 234,50, 12,50, 7,5 % and 3,9 €. */
const COMMA_EVIDENCE =
  /^[-\u2212]?\p{Sc}?[ \u00a0\u202f]?(?:\d{1,3}(?:[.\u00a0\u202f ]\d{3})+,\d+|\d+,\d{2}|\d+,\d{1,2}[ \u00a0\u202f]?[%\p{Sc}])[ \u00a0\u202f]?[%\p{Sc}]?$/u;

/**
 * Returns the decimal separator of a table from all its cells: a comma if at least one cell almost certainly has one
 * (`12,50`, `1.234,5`) and none has a decimal point; otherwise a point. It is the same for a whole table, since
 * `1,234` may be a thousand or little more than one.
 */
export function findDecimalMark(cells: string[]): DecimalMark {
  const hasCommas = cells.some((cell) => COMMA_EVIDENCE.test(cell));
  return hasCommas && !cells.some((cell) => POINT_EVIDENCE.test(cell)) ? "," : ".";
}

/**
 * Returns the number in a cell, or null if it is not a number. Numbers are integers and decimals, with or without
 * thousands separators, negative numbers (`-5`, `−5`), percentages (12.5% is 0.125 shown as 12.5%) and amounts with a
 * currency sign ($1,234.50 or 12 €). The format shows separators, decimals and signs as in the text, so that `1.10`
 * or a 13-digit article number looks the same. Not numbers: a leading zero (00123), a plus (+49 …), several points
 * (1.2.3), dates, times, ranges, phone numbers with separators, exponents (1E5), and more than 15 significant digits
 * (card numbers), which would lose digits.
 */
export function readNumber(text: string, decimalMark: DecimalMark): ReadNumber | null {
  const affixes = AFFIXES.exec(text)?.groups;
  if (affixes === undefined) return null;
  const { sign = "", prefix = "", digits = "", suffix = "" } = affixes;
  if (prefix.trim() !== "" && suffix.trim() !== "") return null;
  if (prefix.trim() === "" && prefix !== "") return null;
  const form = FORMS[decimalMark].exec(digits)?.groups;
  if (form === undefined) return null;
  const { whole = "", decimals = "" } = form;
  const wholeDigits = whole.replaceAll(/\D/g, "");
  if (`${wholeDigits}${decimals}`.replace(/^0+/, "").length > MAX_SIGNIFICANT_DIGITS) return null;

  const isPercentage = suffix.endsWith("%");
  const isGrouped = whole.length > wholeDigits.length;
  const format = `${isGrouped ? "#,##0" : "0"}${decimals === "" ? "" : `.${"0".repeat(decimals.length)}`}`;
  const after = isPercentage ? "%" : quote(suffix);
  return {
    // The exponent makes 33.3% exactly 0.333; a division by 100 would leave 0.33299999999999996.
    value: Number(`${sign === "" ? "" : "-"}${wholeDigits}.${decimals}e${isPercentage ? -2 : 0}`),
    numFmt: `${quote(prefix)}${format}${after}`,
  };
}

/** Returns a literal of a number format. The text has only spaces and currency signs. */
function quote(literal: string): string {
  return literal === "" ? "" : `"${literal}"`;
}

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

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
/** 1980-01-01 00:00, the earliest time of the format: time 0, and a date with year 0, month 1, day 1. */
const FIRST_TIME = 0;
const FIRST_DATE = 0x21;

/**
 * Sets the modification time of every entry of a ZIP archive (without comment, as JSZip writes it) to 1980-01-01, in
 * place, and returns the archive. The library writes the current time, which would make the bytes of the same table
 * differ. Throws if the bytes are not such an archive. Source: PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and
 * 4.3.16.
 */
export function fixZipDates(archive: Buffer): Buffer {
  const end = archive.length - END_BYTES;
  if (end < 0 || archive.readUInt32LE(end) !== END_SIGNATURE) throw new Error("not a ZIP archive without a comment");
  const entries = archive.readUInt16LE(end + 10);
  let entry = archive.readUInt32LE(end + 16);
  for (let index = 0; index < entries; index++) {
    if (archive.readUInt32LE(entry) !== ENTRY_SIGNATURE) throw new Error("the ZIP archive's directory is damaged");
    archive.writeUInt16LE(FIRST_TIME, entry + 12);
    archive.writeUInt16LE(FIRST_DATE, entry + 14);
    const local = archive.readUInt32LE(entry + 42);
    archive.writeUInt16LE(FIRST_TIME, local + 10);
    archive.writeUInt16LE(FIRST_DATE, local + 12);
    const nameBytes = archive.readUInt16LE(entry + 28);
    const extraBytes = archive.readUInt16LE(entry + 30);
    const commentBytes = archive.readUInt16LE(entry + 32);
    entry += ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
  }
  return archive;
}

/** Maximum length of a sheet's name, in UTF-16 units. */
const MAX_NAME_CHARS = 31;
/**
 * Characters that Excel rejects in the name of a sheet, and those that would reorder or hide text. Joiners are
 * allowed: Persian words and emoji need them.
 */
const FORBIDDEN_IN_NAME = /[*?:\\/[\]]|[\p{Cc}\p{Cs}\p{Cn}\p{Co}\p{Zl}\p{Zp}]|[^\P{Cf}\u200c\u200d]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
const DEFAULT_NAME = "Table";

/**
 * Returns the name of a sheet from the heading above its table, by Excel's rules: at most 31 UTF-16 units without
 * splitting a character, none of `* ? : \ / [ ]`, no apostrophe at either end, not "History", never empty. Invisible
 * and direction-changing characters are dropped. Without a usable heading it is "Table".
 */
export function sheetName(heading: string | null): string {
  const words = (heading ?? "").replaceAll(FORBIDDEN_IN_NAME, " ").replaceAll(/\s+/g, " ");
  let name = "";
  for (const character of trimName(words)) {
    if (name.length + character.length > MAX_NAME_CHARS) break;
    name += character;
  }
  const trimmed = trimName(name);
  if (!VISIBLE.test(trimmed)) return DEFAULT_NAME;
  return trimmed.toLowerCase() === "history" ? `${trimmed} ${DEFAULT_NAME.toLowerCase()}` : trimmed;
}

function trimName(name: string): string {
  return name.replace(/^[\s']+/, "").replace(/[\s']+$/, "");
}

/** Widths of a column in characters. */
const MIN_WIDTH = 8;
const MAX_WIDTH = 60;
const WIDE_CHARACTER =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const NO_WIDTH = /[\p{M}\p{Cf}]/u;

/** Rows that are written before yielding to other work of the process, such as the renewal of a worker's lease. */
const ROWS_A_TURN = 100;
/** A fixed time: the same table always gives the same bytes. */
const FIXED_DATE = new Date(Date.UTC(1980, 0, 1));
const AUTHOR = "svc";

const FONT = { name: "Calibri", family: 2, size: 11 };
/**
 * The format "Text", which keeps text that begins with `=`, or looks like a number or a date, even when a person
 * edits the cell.
 */
const TEXT_FORMAT = "@";

/** Returns the width of the longest line in characters, wide ones counted as two, up to the maximum. */
function textWidth(text: string): number {
  let longest = 0;
  for (const line of text.slice(0, MAX_WIDTH * 20).split("\n")) {
    let width = 0;
    for (const character of line) {
      if (width > MAX_WIDTH) break;
      width += NO_WIDTH.test(character) ? 0 : WIDE_CHARACTER.test(character) ? 2 : 1;
    }
    longest = Math.max(longest, width);
  }
  return longest;
}

/** Caches styles by their properties; the library is much faster when cells with the same style share one object. */
function createStyles() {
  const styles = new Map<string, Partial<Style>>();
  return (numFmt: string, align: ColumnAlign, weight: "normal" | "bold" | "italic", isWrapped: boolean) => {
    const key = JSON.stringify([numFmt, align, weight, isWrapped]);
    const known = styles.get(key);
    if (known !== undefined) return known;
    const style: Partial<Style> = {
      numFmt,
      font: weight === "normal" ? FONT : { ...FONT, [weight]: true },
      alignment: { vertical: "top", wrapText: isWrapped, ...(align === null ? {} : { horizontal: align }) },
    };
    styles.set(key, style);
    return style;
  };
}
type Styles = ReturnType<typeof createStyles>;

/** Writes one row of text cells, which are strings whatever their content: none can become a formula. */
function writeTextRow(
  sheet: Worksheet,
  position: { row: number; align: ColumnAlign[]; weight: "bold" | "italic" },
  texts: string[],
  styles: Styles,
): void {
  const row = sheet.getRow(position.row);
  for (const [column, text] of texts.entries()) {
    const cell = row.getCell(column + 1);
    cell.style = styles(TEXT_FORMAT, position.align[column] ?? null, position.weight, isLong(text));
    if (text !== "") cell.value = escapeCellText(guardFormulaStart(text));
  }
}

/** Writes one row of the table's body: numbers as numbers, other text as strings, no empty cells. */
function writeBodyRow(
  sheet: Worksheet,
  position: { row: number; align: ColumnAlign[]; decimalMark: DecimalMark },
  texts: string[],
  styles: Styles,
): void {
  const row = sheet.getRow(position.row);
  for (const [column, text] of texts.entries()) {
    if (text === "") continue;
    const cell = row.getCell(column + 1);
    const align = position.align[column] ?? null;
    const number = readNumber(text, position.decimalMark);
    cell.style = styles(number?.numFmt ?? TEXT_FORMAT, align, "normal", number === null && isLong(text));
    cell.value = number?.value ?? escapeCellText(guardFormulaStart(text));
  }
}

function isLong(text: string): boolean {
  return text.length > MAX_WIDTH || text.includes("\n");
}

/** Returns a note about the omitted part of a table, or null if it is complete. */
function cutNote(table: FoundTable): string | null {
  const count = (number: number) => number.toLocaleString("en-US");
  const parts = [
    ...(table.rows.length < table.totalRows ? [`${count(table.rows.length)} of ${count(table.totalRows)} rows`] : []),
    ...(table.header.length < table.totalColumns
      ? [`${count(table.header.length)} of ${count(table.totalColumns)} columns`]
      : []),
  ];
  return parts.length === 0 ? null : `Only the first ${parts.join(" and ")}. The message contains the complete table.`;
}

/**
 * Returns a table as an XLSX workbook with one sheet, named after the table's heading: the header bold and frozen,
 * columns fitted to their text (8 to 60 characters, longer text wrapped) and aligned as in the Markdown, numbers as
 * numbers (`readNumber`), everything else as strings, never a formula or a link, even after the sheet was saved as
 * CSV. A truncated table has a note below its last row, after an empty one. The same table always gives the same
 * bytes. Yields to other work between rows. Rejects if the library fails.
 */
export async function writeWorkbook(table: FoundTable): Promise<Buffer> {
  // The library takes about 150 ms to load, which answers without tables and the startup should not wait for.
  const { default: ExcelJS } = await import("exceljs");
  const workbook = new ExcelJS.Workbook();
  workbook.creator = AUTHOR;
  workbook.lastModifiedBy = AUTHOR;
  workbook.created = FIXED_DATE;
  workbook.modified = FIXED_DATE;
  const sheet = workbook.addWorksheet(sheetName(table.heading), { views: [{ state: "frozen", ySplit: 1 }] });

  const header = table.header.map(cleanCellText);
  const rows = table.rows.map((row) => row.map(cleanCellText));
  const decimalMark = findDecimalMark(rows.flat());
  const widths = header.map((text) => Math.max(MIN_WIDTH, textWidth(text)));
  const styles = createStyles();
  writeTextRow(sheet, { row: 1, align: table.align, weight: "bold" }, header, styles);
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn();
    writeBodyRow(sheet, { row: index + 2, align: table.align, decimalMark }, row, styles);
    for (const [column, text] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, textWidth(text));
  }
  for (const [column, width] of widths.entries()) sheet.getColumn(column + 1).width = Math.min(MAX_WIDTH, width) + 2;

  const note = cutNote(table);
  if (note !== null) writeTextRow(sheet, { row: rows.length + 3, align: [], weight: "italic" }, [note], styles);
  return fixZipDates(Buffer.from(await workbook.xlsx.writeBuffer()));
}
