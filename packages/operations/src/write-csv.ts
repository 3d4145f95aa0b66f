/** A value of a cell; null for an empty one. */
export type CsvCell = string | number | boolean | null;

/**
 * What a spreadsheet takes for the start of a formula, by OWASP ("CSV Injection"); also within a cell, because Excel ends
 * cells at semicolons where lists are separated by them, as in German, and lines wherever they break then.
 */
const FORMULA = /^(?=[\t\r])|(?<=^|[;\n]|[\s\S]\r)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

function writeCell(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const safe = cell.replaceAll(FORMULA, "'");
  return /[",;\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Returns rows as a CSV file (RFC 4180) in UTF-8. Text that a spreadsheet would take for a formula begins with an
 * apostrophe; numbers stay numbers. The byte order mark makes Excel read it as UTF-8; other programs skip it.
 */
export const writeCsv = (rows: readonly (readonly CsvCell[])[]): Buffer =>
  Buffer.from(`\uFEFF${rows.map((row) => `${row.map(writeCell).join(",")}\r\n`).join("")}`);
