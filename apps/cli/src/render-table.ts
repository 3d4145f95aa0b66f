import Table from "cli-table3";
import type { Cli } from "./cli.ts";
import { safeText, safeLine } from "./safe-text.ts";
import type { ReplyItem, Source } from "@svc/contracts";
import type { Paint } from "./terminal.ts";

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

/** Facts with their names, the values below each other. Values of several lines keep their column. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[], indent = ""): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts
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

/** A span of time in the largest unit that it is at least twice of, as in "5 minutes". */
export function renderAge(spanMs: number): string {
  const unit = UNITS.find(({ ms }) => spanMs >= 2 * ms) ?? { ms: 1_000, name: "second" };
  const count = Math.round(spanMs / unit.ms);
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}

/** Returns the lines below a page of a list that show how to get the next one; empty for the last page. */
export const nextPage = ({ self }: Cli, command: string, cursor: string | null): string =>
  cursor === null ? "" : `\n\nNext page:  ${self} ${command} --cursor ${cursor}`;

/** A time (RFC 3339) to the second. */
export const toSecond = (time: string) => `${time.slice(0, 19)}Z`;

/** A time (RFC 3339) to the minute, for people. */
export const toMinute = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;

const KIB = 1024;
/** A quote is there to find the place, which its beginning does; the document has the rest. */
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

/** Where an answer is from, each place with the beginning of its quote. Texts of strangers are made harmless. */
export function renderSources(sources: readonly Source[], paint: Paint): string {
  return `Sources\n${sources.map((source, index) => renderSource(source, index, paint)).join("\n")}`;
}

/** Replies as a person reads them: the texts, then where they are from. Texts of strangers are made harmless. */
export function renderReplies(replies: readonly ReplyItem[], paint: Paint): string {
  const texts = replies.map((item) => renderItem(item, paint)).join("\n\n");
  const sources = replies.flatMap((item) => (item.type === "message" ? (item.sources ?? []) : []));
  return sources.length === 0 ? texts : `${texts}\n\n${renderSources(sources, paint)}`;
}
