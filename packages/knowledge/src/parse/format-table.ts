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

/** A larger grid is too sparse for a table: each row becomes a line of its values. */
const MAX_CELLS = 5_000_000;

/**
 * A longer table is split into several with the same header, so that a passage of its rows includes the column names.
 */
const MAX_TABLE_CHARS = 4_000;

/**
 * Formats rows of plain or marked-up cells as a table of GitHub Flavored Markdown (section 4.10); the first row is the
 * header. A row is a list of cells, or a map from columns to cells if most are empty. Empty rows and columns are
 * dropped, line breaks in cells become spaces and pipes are escaped. A long table becomes several with the same header.
 * Returns the empty string if all cells are empty.
 */
export function formatTable(rows: readonly (readonly string[] | ReadonlyMap<number, string>)[]): string {
  const cleaned = rows.map(cleanRow).filter((row) => row.size > 0);
  const columns = [...new Set(cleaned.flatMap((row) => [...row.keys()]))].sort((one, other) => one - other);
  if (columns.length * cleaned.length > MAX_CELLS) {
    return cleaned.map((row) => [...row.values()].join("; ")).join("\n");
  }
  const lines = cleaned.map((row) => `| ${columns.map((column) => row.get(column) ?? "").join(" | ")} |`);
  const [header, ...rest] = lines;
  if (header === undefined) return "";
  const top = `${header}\n|${" --- |".repeat(columns.length)}`;
  return splitRows(rest, MAX_TABLE_CHARS - top.length)
    .map((part) => [top, ...part].join("\n"))
    .join("\n\n");
}

/**
 * Splits rows into groups of at most the given number of characters, or of one row; at least one group, which may be
 * empty.
 */
function splitRows(rows: readonly string[], maxChars: number): string[][] {
  const parts: string[][] = [[]];
  let chars = 0;
  for (const row of rows) {
    if (chars > 0 && chars + row.length > Math.max(maxChars, MAX_TABLE_CHARS / 2)) {
      parts.push([]);
      chars = 0;
    }
    parts.at(-1)?.push(row);
    chars += row.length + 1;
  }
  return parts;
}

function cleanRow(row: readonly string[] | ReadonlyMap<number, string>): Map<number, string> {
  const cells = new Map<number, string>();
  for (const [column, cell] of row.entries()) {
    const cleaned = cleanCell(cell);
    if (cleaned !== "") cells.set(column, cleaned);
  }
  return cells;
}

function cleanCell(cell: string): string {
  const line = cell.replace(/\s+/g, " ").trim();
  // A pipe ends a cell even in code; one that is already escaped is unchanged.
  return line.replace(/(?<!\\)(\\*)\|/g, (_, slashes: string) => `${slashes}${slashes.length % 2 === 0 ? "\\" : ""}|`);
}

/**
 * Escapes plain text for Markdown with as few backslashes as possible, because passages are searched and quoted
 * verbatim: `max_connections` should stay one word (CommonMark 0.31, section 2.4). A text that begins with a space
 * follows other text, where no list or quote can begin.
 */
export function escapeMarkdown(text: string): string {
  return escapeInline(text)
    .replace(/^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|={2,}\s*$|--[- \t]*$|~{3,})/gm, "\\")
    .replace(/^(\d{1,9})([.)](?=\s|$))/gm, "$1\\$2");
}

/** A URL of a text: Markdown shows it as it is written, with a backslash as a part of it (GFM, section 6.9). */
export const WEB_ADDRESS = /https?:\/\/[a-z\d][^\s<]*/gi;

/** Escapes text that follows other text on its line, as in a heading or a cell, where no list or quote can begin. */
export function escapeInline(text: string): string {
  return text
    .replace(/\\(?=[!-/:-@[-`{-~])/g, "\\\\")
    .replace(/`/g, "\\`")
    .replace(/(?<!\s)\*|\*(?!\s|$)/g, "\\*")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/(?<=\S)~|~(?=https?:)/gi, "\\~")
    .replace(/\[(?=[^\]\n]{0,200}\](?:\(|\[|:))/g, "\\[")
    .replace(/<(?=[a-z/!?])/gi, "\\<")
    .replace(/&(?=#?\w{1,32};)/g, "\\&")
    .replace(WEB_ADDRESS, (url) => url.replace(/\\([\\`*_~[&])/g, "$1"));
}

/** Removes escapes that only the beginning of a line needs, for text that is moved after other text. */
export function unescapeStart(markdown: string): string {
  return markdown.replace(/^(\d{1,9})\\(?=[.)])|^\\(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|=|-)/, "$1");
}
