/** A value of a cell; null for an empty one. */
export type CsvCell = string | number | boolean | null;

/** What a spreadsheet takes for the start of a formula, by OWASP ("CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/;

function writeCell(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Returns rows as a CSV file (RFC 4180) in UTF-8. Text that a spreadsheet would take for a formula begins with an
 * apostrophe; numbers stay numbers. The byte order mark makes Excel read it as UTF-8; other programs skip it.
 */
export const writeCsv = (rows: readonly (readonly CsvCell[])[]): Buffer =>
  Buffer.from(`\uFEFF${rows.map((row) => `${row.map(writeCell).join(",")}\r\n`).join("")}`);
