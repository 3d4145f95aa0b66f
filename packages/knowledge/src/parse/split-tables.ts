/** The row below the header of a table. */
const DELIMITER = /^(?=[^\n]*\|)(?=[^\n]*-)[|:\- \t]+$/;
const FENCE = /^[ \t]*(?:`{3,}|~{3,})/;

/** Tables up to this length are not split: a passage can hold them (see `chunkDocument`). */
const MAX_WHOLE_CHARS = 8_000;

/** Length of the tables that a longer one is split into: that of a passage. */
const TARGET_CHARS = 1_200;

/** Maximum length of a header, which would otherwise be most of each table. */
const MAX_HEADER_CHARS = 500;

/**
 * Splits each table of a Markdown text that is too long for a passage into tables with the same header, so that each
 * row has its column names.
 */
export function splitTables(markdown: string): string {
  if (markdown.length <= MAX_WHOLE_CHARS) return markdown;
  const lines = markdown.split("\n");
  const written: string[] = [];
  let isCode = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (FENCE.test(line)) isCode = !isCode;
    const delimiter = lines[at + 1] ?? "";
    const isTable = !isCode && line.includes("|") && DELIMITER.test(delimiter);
    if (!isTable) {
      written.push(line);
      continue;
    }
    const end = endOfTable(lines, at + 2);
    const header = [line, delimiter];
    written.push(...splitTable(header, lines.slice(at + 2, end)));
    at = end - 1;
  }
  return written.join("\n");
}

function endOfTable(lines: readonly string[], from: number): number {
  let end = from;
  while (lines[end]?.includes("|") === true) end += 1;
  return end;
}

function splitTable(header: readonly string[], rows: readonly string[]): string[] {
  const lengthOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);
  const own = lengthOf(header);
  if (own > MAX_HEADER_CHARS || own + lengthOf(rows) <= MAX_WHOLE_CHARS) return [...header, ...rows];
  const written = [...header];
  let length = own;
  for (const [at, row] of rows.entries()) {
    if (at > 0 && length + row.length > TARGET_CHARS) {
      written.push("", ...header);
      length = own;
    }
    written.push(row);
    length += row.length + 1;
  }
  return written;
}
