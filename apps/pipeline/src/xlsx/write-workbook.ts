import { setImmediate as nextTurn } from "node:timers/promises";
import type { Style, Worksheet } from "exceljs";
import { cleanCellText, escapeCellText, guardFormulaStart } from "./clean-cell-text.ts";
import type { ColumnAlign, FoundTable } from "./find-tables.ts";
import { fixZipDates } from "./fix-zip-dates.ts";
import { findDecimalMark, readNumber } from "./read-number.ts";
import type { DecimalMark } from "./read-number.ts";
import { sheetName } from "./sheet-name.ts";

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
