/** A value of a cell; null for an empty one. */
export type CsvCell = string | number | boolean | null;

/**
 * Start of a formula in a spreadsheet, by OWASP ("CSV Injection"); also within a cell, because Excel splits cells at
 * semicolons in locales that use them as list separators, such as German, and then also at line breaks.
 */
const FORMULA = /^(?=[\t\r])|(?<=^|[;\n]|[\s\S]\r)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

function writeCell(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const safe = cell.replaceAll(FORMULA, "'");
  return /[",;\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Returns rows as a CSV file (RFC 4180) in UTF-8. Text that a spreadsheet would interpret as a formula gets an
 * apostrophe prefix; numbers stay numbers. Because of the byte order mark, Excel reads it as UTF-8; other programs skip
 * it.
 */
export const writeCsv = (rows: readonly (readonly CsvCell[])[]): Buffer =>
  Buffer.from(`\uFEFF${rows.map((row) => `${row.map(writeCell).join(",")}\r\n`).join("")}`);
