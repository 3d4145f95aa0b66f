import type { Nodes, Table } from "mdast";
import { toString } from "mdast-util-to-string";
import stringWidth from "string-width";

/** What a phone shows of a line of equally wide letters without breaking it. */
const WIDTH_LIMIT = 48;

const COLUMN_GAP = " | ";
const RULE_GAP = "-+-";

type Align = NonNullable<Table["align"]>[number];

/**
 * A table as columns of equally wide letters, with a rule under its header; wide characters count twice. Null for one
 * that is too wide, or has in it what such a text cannot have.
 */
export function layOutTable(table: Table): string | null {
  if (needsLines(table)) return null;
  const rows = table.children.map((row) => row.children.map((cell) => toString(cell).replaceAll(/\s+/g, " ").trim()));
  const columnCount = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columnCount }, (_, column) =>
    Math.max(1, ...rows.map((row) => stringWidth(row[column] ?? ""))),
  );
  const width = widths.reduce((sum, each) => sum + each, 0) + COLUMN_GAP.length * (columnCount - 1);
  if (columnCount === 0 || width > WIDTH_LIMIT) return null;
  const lines = rows.map((row) =>
    widths
      .map((columnWidth, column) => pad(row[column] ?? "", columnWidth, table.align?.[column] ?? null))
      .join(COLUMN_GAP)
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((columnWidth) => "-".repeat(columnWidth)).join(RULE_GAP));
  return lines.join("\n");
}

/** Where links lead, and where a cell breaks its line, only shows row by row. */
const NOT_IN_COLUMNS = new Set(["link", "linkReference", "image", "imageReference", "html"]);

function needsLines(node: Nodes): boolean {
  return NOT_IN_COLUMNS.has(node.type) || ("children" in node && node.children.some(needsLines));
}

function pad(text: string, width: number, align: Align): string {
  const room = width - stringWidth(text);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(room - before);
}
