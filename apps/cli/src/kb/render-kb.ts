import type { DocumentItem, KbItem } from "@svc/contracts";
import type { AddedDocument, SearchHit } from "@svc/knowledge";
import { renderTable, toSecond } from "../render-table.ts";
import { safeLine } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";

/** Result of adding a file or page; `file` is its name on the command line. */
export type AddedFile =
  | { file: string; status: AddedDocument["status"]; chunks: number; documentId: string; key: string }
  | { file: string; status: "failed"; error: string };

/** Number of files by status. */
type AddedSummary = Record<AddedFile["status"], number>;

/** Up to this number, all files are shown; otherwise only those that failed. */
const MAX_ROWS = 30;

const NAME_CHARS = 80;
const MAX_NAMES = 10;

/** Counts outcomes. */
export function summarize(files: readonly AddedFile[]): AddedSummary {
  const summary: AddedSummary = { added: 0, changed: 0, unchanged: 0, failed: 0 };
  for (const { status } of files) summary[status] += 1;
  return summary;
}

/** Returns the outcomes in a line, as in "3 added, 1 failed", without those that are zero. */
export function renderSummary(summary: Readonly<Record<string, number>>): string {
  const parts = Object.entries(summary).flatMap(([outcome, count]) => (count === 0 ? [] : [`${count} ${outcome}`]));
  return parts.length === 0 ? "Nothing to do." : `${parts.join(", ")}.`;
}

/** Returns the number of skipped files in a line; null if there are none. */
export function renderSkipped(skipped: Readonly<Record<string, number>>): string | null {
  const endings = Object.entries(skipped).toSorted(([, one], [, other]) => other - one);
  if (endings.length === 0) return null;
  const count = endings.reduce((sum, [, number]) => sum + number, 0);
  const named = endings.map(([ending, number]) => `${ending === "" ? "no extension" : safeLine(ending, 20)} ${number}`);
  return `Skipped ${count} unsupported ${count === 1 ? "file" : "files"}: ${named.join(", ")}.`;
}

/** Returns the first ten names in a line. */
export function renderNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => safeLine(name, NAME_CHARS));
  return [...shown, ...(names.length > MAX_NAMES ? [`and ${names.length - MAX_NAMES} more`] : [])].join(", ");
}

/** Returns skipped links in a line; null if there are none. */
export function renderLinksOut(links: readonly string[]): string | null {
  if (links.length === 0) return null;
  const subject = links.length === 1 ? "1 link that leads" : `${links.length} links that lead`;
  return `Skipped ${subject} out of the folder: ${renderNames(links)}.`;
}

/** Returns the outcome of each file as a table; null if there is nothing to show. */
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

const LIST_NAME_CHARS = 60;

function describeState({ queued, failed }: KbItem, { yellow, red, green }: Terminal["paint"]): string {
  const parts = [
    ...(queued > 0 ? [yellow(`${queued} waiting`)] : []),
    ...(failed > 0 ? [red(`${failed} failed`)] : []),
  ];
  return parts.length === 0 ? green("ready") : parts.join(", ");
}

/** Returns knowledge bases as a table. */
export function renderKbs(kbs: readonly KbItem[], { paint, width }: Terminal): string {
  const rows = kbs.map((kb) => [
    safeLine(kb.name, LIST_NAME_CHARS),
    String(kb.documents),
    String(kb.chunks),
    toSecond(kb.updatedAt),
    describeState(kb, paint),
  ]);
  return renderTable(["NAME", "DOCUMENTS", "PASSAGES", "UPDATED", "STATE"], rows, width);
}

/** Returns documents as a table: their key, their state, and their title or why they failed. */
export function renderDocuments(documents: readonly DocumentItem[], { paint, width }: Terminal): string {
  const { green, yellow, red } = paint;
  const statuses = { ready: green("ready"), queued: yellow("waiting"), failed: red("failed") } satisfies Record<
    DocumentItem["status"],
    string
  >;
  const rows = documents.map((document) => [
    safeLine(document.key, LIST_NAME_CHARS),
    statuses[document.status],
    String(document.chunks),
    toSecond(document.updatedAt),
    safeLine(document.error ?? document.title, document.error === null ? LIST_NAME_CHARS : undefined),
  ]);
  return renderTable(["DOCUMENT", "STATUS", "PASSAGES", "UPDATED", "TITLE"], rows, width);
}

/** A search result with the name of its knowledge base. */
type FoundPassage = Omit<SearchHit, "kbId"> & { kb: string };

/** Maximum length of the beginning of a passage, enough to identify it. */
const SNIPPET_CHARS = 300;
const LINE_CHARS = 200;

function renderHit(hit: FoundPassage, index: number, { paint }: Terminal): string {
  // The title of a document is usually its first heading.
  const headings = hit.headingPath[0] === hit.title ? hit.headingPath : [hit.title, ...hit.headingPath];
  const path = headings.map((part) => safeLine(part, LINE_CHARS)).join(" › ");
  const origin = [safeLine(hit.kb, LINE_CHARS), ...(hit.url === undefined ? [] : [safeLine(hit.url, LINE_CHARS)])];
  return [
    `${index + 1}. ${paint.bold(path)}`,
    `   score ${hit.score.toFixed(2)}, ${origin.join(", ")}`,
    `   ${safeLine(hit.text, SNIPPET_CHARS)}`,
  ].join("\n");
}

/** Returns passages as text, best first. External texts are escaped. */
export function renderHits(hits: readonly FoundPassage[], terminal: Terminal): string {
  return hits.length === 0
    ? "Nothing matches."
    : hits.map((hit, index) => renderHit(hit, index, terminal)).join("\n\n");
}

/** Returns the lines that are not null, joined. */
export const joinLines = (lines: readonly (string | null)[]) => lines.filter((line) => line !== null).join("\n");

/** Callbacks for the begin and end of each source. */
export interface AddProgress {
  begin(name: string): void;
  end(added: AddedFile, sizeBytes: number): void;
}

const BAR_CHARS = 20;
const KIB = 1024;

/** Returns a size with its unit. */
export function renderSize(sizeBytes: number): string {
  if (sizeBytes < KIB) return `${sizeBytes} bytes`;
  const kib = sizeBytes / KIB;
  return kib < KIB ? `${Math.round(kib)} KB` : `${(kib / KIB).toFixed(1)} MB`;
}

function renderBar(done: number, total: number): string {
  const filled = Math.floor((done / total) * BAR_CHARS);
  return `[${"#".repeat(filled)}${".".repeat(BAR_CHARS - filled)}]`;
}

/**
 * Shows the progress of adding files: a bar on a terminal, otherwise a line for each file. `close` removes the bar.
 */
export function watchProgress(terminal: Terminal, total: number): AddProgress & { close(): void } {
  let done = 0;
  let sumBytes = 0;
  return {
    begin(name) {
      const share = `${done + 1} of ${total}`;
      terminal.status(`${renderBar(done, total)} ${share}, ${renderSize(sumBytes)}  ${safeLine(name)}`);
    },
    end(added, sizeBytes) {
      done += 1;
      sumBytes += sizeBytes;
      if (terminal.isWatched) return;
      const outcome = added.status === "failed" ? `failed: ${safeLine(added.error)}` : added.status;
      terminal.note(`${done} of ${total}  ${safeLine(added.file)} (${renderSize(sizeBytes)})  ${outcome}`);
    },
    close: () => terminal.status(null),
  };
}
