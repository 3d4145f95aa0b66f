import { format, isDateFormat } from "numfmt";
import { escapeInline, formatTable } from "./format-table.ts";
import { fileTooLarge } from "../ingest-file.ts";
import type { FileText } from "../ingest-file.ts";
import { readCoreTitle, readXml } from "./open-zip.ts";
import type { Zip } from "./open-zip.ts";
import type { ReadLimits } from "./read-limits.ts";

/**
 * Built-in formats of Excel (ECMA-376 part 1, section 18.8.30). Locale-dependent ones are replaced by a
 * locale-independent form.
 */
const BUILT_IN: Readonly<Record<number, string>> = {
  0: "General",
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  14: "yyyy-mm-dd",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "yyyy-mm-dd h:mm",
  37: "#,##0;(#,##0)",
  38: "#,##0;(#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;(#,##0.00)",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mm:ss.0",
  48: "##0.0E+0",
  49: "@",
};

/** Days between Excel's two date systems. */
const DAYS_TO_1904 = 1462;

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

interface Workbook {
  sheets: { name: string; relation: string; isHidden: boolean }[];
  is1904: boolean;
}

type Context = { zip: Zip; file: { name: string }; limits: ReadLimits };

/**
 * Reads an Excel workbook (ECMA-376 part 1, section 18): each visible sheet is a heading and one table, values as
 * displayed, formulas by their last result. Sheets are streamed and only non-empty cells are kept, so that empty cells
 * need time but no memory. Throws `payload_too_large` for too many cells or too much text.
 */
export async function readXlsx(zip: Zip, file: { name: string }, limits: ReadLimits): Promise<FileText> {
  const context: Context = { zip, file, limits };
  const workbook = await readWorkbook(context);
  const targets = await readRelations(context);
  const formats = await readFormats(context);
  const strings = await readSharedStrings(context);
  const visible = workbook.sheets.filter(({ isHidden }) => !isHidden);
  const budget = { cells: limits.cells, chars: limits.textBytes };
  const sections: string[] = [];
  for (const sheet of visible.length > 0 ? visible : workbook.sheets) {
    const path = targets.get(sheet.relation);
    if (path === undefined) continue;
    const rows = await readSheet(context, path, { strings, formats, is1904: workbook.is1904, budget });
    const table = formatTable(rows);
    if (table !== "") sections.push(`## ${escapeInline(sheet.name.replace(/\s+/g, " "))}\n\n${table}`);
  }
  return {
    text: sections.join("\n\n"),
    mime: "text/markdown",
    title: await readCoreTitle(zip, file),
    sourceMime: XLSX,
  };
}

async function readWorkbook({ zip, file }: Context): Promise<Workbook> {
  const workbook: Workbook = { sheets: [], is1904: false };
  await readXml(zip.stream("xl/workbook.xml"), file, {
    open: (name, attributes) => {
      if (name === "workbookPr") workbook.is1904 = /^(?:1|true)$/.test(attributes["date1904"] ?? "");
      if (name !== "sheet") return;
      const relation = Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1] ?? "";
      workbook.sheets.push({
        name: attributes["name"] ?? "",
        relation,
        isHidden: /hidden/i.test(attributes["state"] ?? ""),
      });
    },
  });
  return workbook;
}

/** Reads the path of each part of the workbook by relationship. */
async function readRelations({ zip, file }: Context): Promise<Map<string, string>> {
  const targets = new Map<string, string>();
  await readXml(zip.stream("xl/_rels/workbook.xml.rels"), file, {
    open: (name, { Id = "", Target = "" }) => {
      if (name !== "Relationship") return;
      targets.set(Id, Target.startsWith("/") ? Target.slice(1) : `xl/${Target.replace(/^\.\//, "")}`);
    },
  });
  return targets;
}

/** Reads the number format of each cell style: its code, or the id of a built-in one. */
async function readFormats({ zip, file }: Context): Promise<(string | number)[]> {
  const codes = new Map<string, string>();
  const formats: (string | number)[] = [];
  let isInCells = false;
  await readXml(zip.stream("xl/styles.xml"), file, {
    open: (name, attributes) => {
      if (name === "numFmt") codes.set(attributes["numFmtId"] ?? "", attributes["formatCode"] ?? "");
      if (name === "cellXfs") isInCells = true;
      if (name === "xf" && isInCells) {
        const id = attributes["numFmtId"] ?? "0";
        formats.push(codes.get(id) ?? Number(id));
      }
    },
    close: (name) => {
      if (name === "cellXfs") isInCells = false;
    },
  });
  return formats;
}

/** The limit of shared strings is twice that of cells: those of hidden sheets count as well. */
const STRINGS_PER_LIMIT = 2;

async function readSharedStrings({ zip, file, limits }: Context): Promise<string[]> {
  const strings: string[] = [];
  let current = "";
  let chars = 0;
  let depth = { text: 0, phonetic: 0 };
  await readXml(zip.stream("xl/sharedStrings.xml"), file, {
    open: (name) => {
      if (name === "si") current = "";
      if (name === "t") depth = { ...depth, text: 1 };
      if (name === "rPh") depth = { ...depth, phonetic: 1 };
    },
    text: (text) => {
      if (depth.text === 0 || depth.phonetic === 1) return;
      chars += text.length;
      if (chars > limits.textBytes * STRINGS_PER_LIMIT) throw tooMuchText(file.name, limits);
      current += text;
    },
    close: (name) => {
      if (name === "t") depth = { ...depth, text: 0 };
      if (name === "rPh") depth = { ...depth, phonetic: 0 };
      if (name !== "si") return;
      strings.push(current);
      if (strings.length > limits.cells * STRINGS_PER_LIMIT) throw tooManyCells(file.name, limits);
    },
  });
  return strings;
}

interface SheetContext {
  strings: readonly string[];
  formats: readonly (string | number)[];
  is1904: boolean;
  /** Remaining limits of all sheets together. */
  budget: { cells: number; chars: number };
}

/** Reads the non-empty rows of a sheet, as maps from columns to Markdown. */
async function readSheet(
  { zip, file, limits }: Context,
  path: string,
  sheet: SheetContext,
): Promise<Map<number, string>[]> {
  const { budget } = sheet;
  const rows: Map<number, string>[] = [];
  let row = new Map<number, string>();
  let column = -1;
  let cell = { type: "n", style: 0, value: "" };
  let isValue = false;
  await readXml(zip.stream(path), file, {
    open: (name, attributes) => {
      if (name === "row") {
        row = new Map();
        column = -1;
      } else if (name === "c") {
        column = columnOf(attributes["r"]) ?? column + 1;
        cell = { type: attributes["t"] ?? "n", style: Number(attributes["s"] ?? 0), value: "" };
      } else if (name === "v" || name === "t") isValue = true;
    },
    text: (text) => {
      if (!isValue) return;
      budget.chars -= text.length;
      if (budget.chars < 0) throw tooMuchText(file.name, limits);
      cell.value += text;
    },
    close: (name) => {
      if (name === "v" || name === "t") isValue = false;
      else if (name === "row" && row.size > 0) rows.push(row);
      else if (name === "c" && cell.value !== "") {
        const text = cellText(cell, sheet).trim();
        if (text === "") return;
        budget.cells -= 1;
        if (budget.cells < 0) throw tooManyCells(file.name, limits);
        row.set(column, escapeInline(text));
      }
    },
  });
  return rows;
}

/** Returns the displayed text of a cell, by its type (ECMA-376 part 1, section 18.18.11). */
function cellText(cell: { type: string; style: number; value: string }, sheet: SheetContext): string {
  const { type, value } = cell;
  if (type === "s") return sheet.strings[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type !== "n" || value.trim() === "" || !Number.isFinite(Number(value))) return value;
  return formatCell(Number(value), sheet.formats[cell.style] ?? 0, sheet);
}

/** Returns the number of a column, from 0, in a reference such as `AB12`; null if there is none. */
function columnOf(reference: string | undefined): number | null {
  const letters = /^[A-Z]{1,3}(?=\d)/.exec(reference ?? "")?.[0];
  if (letters === undefined) return null;
  return letters.split("").reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function tooManyCells(name: string, limits: ReadLimits) {
  return fileTooLarge(
    name,
    `has more than ${limits.cells} cells with a value, the maximum; split it into several files`,
  );
}

function tooMuchText(name: string, limits: ReadLimits) {
  return fileTooLarge(
    name,
    `has more than ${limits.textBytes} characters of text, the maximum; split it into several files`,
  );
}

/** Formats a number as Excel displays it in a cell with this format (a code, or the id of a built-in one). */
export function formatCell(value: number, numberFormat: string | number, options: { is1904: boolean }): string {
  const code = typeof numberFormat === "string" ? numberFormat : (BUILT_IN[numberFormat] ?? "General");
  try {
    const days = options.is1904 && isDateFormat(code) ? value + DAYS_TO_1904 : value;
    const shown = format(code, days, { throws: true }).trim();
    // A format may hide a value (such as ;;;) or have no room for it; the value itself is more useful.
    return shown === "" || /^#+$/.test(shown) ? String(value) : shown;
  } catch {
    // Excel shows nothing useful for an invalid code either.
    return String(value);
  }
}
