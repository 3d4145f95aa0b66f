import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import type { AddProgress } from "./add-sources.ts";

const BAR_CHARS = 20;
const KIB = 1024;

/** A size as people read it. */
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
 * Shows how far an adding is: a bar in one line where a person watches, else a line for each file, so that a log says
 * what happened when. `close` takes the bar away.
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
