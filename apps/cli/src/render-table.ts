import Table from "cli-table3";
import { safeText } from "./safe-text.ts";

const BORDERS = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/**
 * A table for a person: a head and rows without lines, the last column wrapped to the width of the terminal. Cells
 * must be safe for a terminal already; they may be coloured.
 */
export function renderTable(head: string[], rows: string[][], width: number): string {
  const last = head.length - 1;
  const widthOf = (column: number) =>
    Math.max(
      ...[head, ...rows].flatMap((row) =>
        // Colours take no room.
        safeText(row[column] ?? "")
          .split("\n")
          .map((line) => Array.from(line).length),
      ),
    );
  const others = head.slice(0, last).reduce((sum, _, column) => sum + widthOf(column) + BORDERS.middle.length, 0);
  const table = new Table({
    head,
    chars: BORDERS,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
    colWidths: [...Array.from({ length: last }, () => null), Math.max(MIN_LAST_WIDTH, width - others)],
    wordWrap: true,
  });
  table.push(...rows);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Narrower than this, text is not readable any more: then the terminal breaks the lines. */
const MIN_LAST_WIDTH = 24;
