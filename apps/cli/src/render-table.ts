import Table from "cli-table3";
import type { Cli } from "./cli.ts";
import { safeLine, safeText } from "./terminal.ts";
import type { Paint } from "./terminal.ts";
import type { ReplyItem, Source } from "@svc/contracts";

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
 * Returns a table: a head and rows without lines, the last column wrapped to the width of the terminal. Cells must
 * already be safe for a terminal; they may be colored.
 */
export function renderTable(head: string[], rows: string[][], width: number): string {
  const last = head.length - 1;
  const widthOf = (column: number) =>
    Math.max(
      ...[head, ...rows].flatMap((row) =>
        // Color codes have no width.
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

/** Minimum width of the last column: below it, text is unreadable, and the terminal wraps the lines instead. */
const MIN_LAST_WIDTH = 24;

/** A fact with its name; null or false if it does not apply. */
type Fact = readonly [name: string, value: string | null | false];

/** Returns the facts that apply with their names, aligned. Multi-line values keep their column. */
export function renderFacts(facts: readonly Fact[], indent = ""): string {
  const shown = facts.flatMap(([name, value]) => (value === null || value === false ? [] : [[name, value] as const]));
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => {
      const [first = "", ...others] = value.split("\n");
      const margin = indent + " ".repeat(width + 2);
      return [`${indent}${name.padEnd(width)}  ${first}`, ...others.map((line) => margin + line)].join("\n");
    })
    .join("\n");
}

const UNITS = [
  { ms: 86_400_000, name: "day" },
  { ms: 3_600_000, name: "hour" },
  { ms: 60_000, name: "minute" },
  { ms: 1_000, name: "second" },
] as const;

/** Returns a duration in the largest unit of which it has at least two, as in "5 minutes". */
export function renderAge(spanMs: number): string {
  const unit = UNITS.find(({ ms }) => spanMs >= 2 * ms) ?? { ms: 1_000, name: "second" };
  const count = Math.round(spanMs / unit.ms);
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}

/** Returns the lines below a page of a list that show how to get the next one; empty for the last page. */
export const nextPage = ({ self }: Cli, command: string, cursor: string | null): string =>
  cursor === null ? "" : `\n\nNext page:  ${self} ${command} --cursor ${cursor}`;

/** Returns a time (RFC 3339) to the second. */
export const toSecond = (time: string) => `${time.slice(0, 19)}Z`;

/** Returns a time (RFC 3339) to the minute. */
export const toMinute = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;

const KIB = 1024;
/** A quote identifies a passage, for which its beginning is enough; the document has the rest. */
const QUOTE_CHARS = 240;

function sizeOfBase64(base64: string): string {
  const sizeBytes = Math.floor((base64.replaceAll("=", "").length * 3) / 4);
  return sizeBytes < KIB ? `${sizeBytes} bytes` : `${Math.round(sizeBytes / KIB)} KB`;
}

const AUTHORS = { agent: "", operator: "From an operator: ", system: "" } as const;

function renderItem(item: ReplyItem, paint: Paint): string {
  if (item.type === "message") return `${AUTHORS[item.author]}${safeText(item.text)}`;
  return paint.dim(`[file ${safeLine(item.filename)}, ${safeLine(item.mime)}, ${sizeOfBase64(item.base64)}]`);
}

function renderSource(source: Source, index: number, paint: Paint): string {
  const address = source.url === undefined ? "" : ` ${safeLine(source.url)}`;
  const quote = `“${safeLine(source.excerpt ?? source.quote, QUOTE_CHARS)}”`;
  return `  ${index + 1}. ${paint.bold(safeLine(source.title))}${address}\n     ${paint.dim(quote)}`;
}

/** Returns the sources of an answer, each with the beginning of its quote. External texts are escaped. */
export function renderSources(sources: readonly Source[], paint: Paint): string {
  return `Sources\n${sources.map((source, index) => renderSource(source, index, paint)).join("\n")}`;
}

/** Returns replies as text with their sources. External texts are escaped. */
export function renderReplies(replies: readonly ReplyItem[], paint: Paint): string {
  const texts = replies.map((item) => renderItem(item, paint)).join("\n\n");
  const sources = replies.flatMap((item) => (item.type === "message" ? (item.sources ?? []) : []));
  return sources.length === 0 ? texts : `${texts}\n\n${renderSources(sources, paint)}`;
}
