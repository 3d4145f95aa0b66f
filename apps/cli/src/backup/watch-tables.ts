import type { Cli } from "../cli.ts";
import { safeLine } from "../safe-text.ts";

const formatCount = (count: number) => count.toLocaleString("en");

/** Says on standard error what was copied: a line for each table that has rows. */
export function watchTables({ terminal }: Cli): (name: string, rows: number) => void {
  return (name, rows) => {
    if (rows > 0) terminal.note(`  ${safeLine(name, 80).padEnd(24)} ${formatCount(rows).padStart(12)}`);
  };
}

/** So many rows of so many tables, in words. */
export function describeRows({ rows, tables }: { rows: number; tables: number }): string {
  return `${formatCount(rows)} ${rows === 1 ? "row" : "rows"} of ${tables} tables`;
}
