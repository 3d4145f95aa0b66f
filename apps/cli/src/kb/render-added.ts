import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import type { AddedFile } from "./add-sources.ts";

/** How many files had each outcome. */
export type AddedSummary = Record<AddedFile["status"], number>;

/** Up to so many files are all shown; of more, those that failed. */
const MAX_ROWS = 30;

const NAME_CHARS = 80;
const MAX_NAMES = 10;

/** Counts outcomes. */
export function summarize(files: readonly AddedFile[]): AddedSummary {
  const summary: AddedSummary = { added: 0, changed: 0, unchanged: 0, failed: 0 };
  for (const { status } of files) summary[status] += 1;
  return summary;
}

/** The outcomes in a line, as in "3 added, 1 failed"; what did not happen is left out. */
export function renderSummary(summary: Readonly<Record<string, number>>): string {
  const parts = Object.entries(summary).flatMap(([outcome, count]) => (count === 0 ? [] : [`${count} ${outcome}`]));
  return parts.length === 0 ? "Nothing to do." : `${parts.join(", ")}.`;
}

/** Files of folders that were left out, in a line; null when there are none. */
export function renderSkipped(skipped: Readonly<Record<string, number>>): string | null {
  const endings = Object.entries(skipped).toSorted(([, one], [, other]) => other - one);
  if (endings.length === 0) return null;
  const count = endings.reduce((sum, [, number]) => sum + number, 0);
  const named = endings.map(([ending, number]) => `${ending === "" ? "no extension" : safeLine(ending, 20)} ${number}`);
  return `Skipped ${count} unsupported ${count === 1 ? "file" : "files"}: ${named.join(", ")}.`;
}

/** Names in a line, the first ten of them. */
export function renderNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => safeLine(name, NAME_CHARS));
  return [...shown, ...(names.length > MAX_NAMES ? [`and ${names.length - MAX_NAMES} more`] : [])].join(", ");
}

/** Links of folders that were left out, in a line; null when there are none. */
export function renderLinksOut(links: readonly string[]): string | null {
  if (links.length === 0) return null;
  const subject = links.length === 1 ? "1 link that leads" : `${links.length} links that lead`;
  return `Skipped ${subject} out of the folder: ${renderNames(links)}.`;
}

/** The outcome for each file as a table; null when there is nothing to show. */
export function renderAdded(files: readonly AddedFile[], { paint, width }: Terminal): string | null {
  const shown = files.length > MAX_ROWS ? files.filter(({ status }) => status === "failed") : files;
  if (shown.length === 0) return null;
  const rows = shown.map((file) =>
    file.status === "failed"
      ? [safeLine(file.file, NAME_CHARS), "", `${paint.red("failed")}: ${safeLine(file.error)}`]
      : [safeLine(file.file, NAME_CHARS), String(file.chunks), file.status],
  );
  return renderTable(["FILE", "PASSAGES", "RESULT"], rows, width);
}
