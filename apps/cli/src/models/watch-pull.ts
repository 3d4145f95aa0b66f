import type { PullProgress } from "@svc/client";
import type { ModelPullProgress } from "@svc/contracts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import { percentOf, renderProgress } from "./render-progress.ts";
import { renderSize } from "./render-size.ts";

/** Without a terminal there is a line for each so many percent. */
const STEP_PERCENT = 10;

/** One line of a log: what is new of it since the last one, or null. */
function createLines(): (progress: ModelPullProgress) => string | null {
  let last = "";
  return (progress) => {
    const percent = percentOf(progress);
    const { status, totalBytes } = progress;
    const isDownload = percent !== null && percent < 100 && totalBytes !== null;
    const step = isDownload ? Math.floor(percent / STEP_PERCENT) * STEP_PERCENT : null;
    const line = step === null ? safeLine(status) : `${step} % of ${renderSize(totalBytes ?? 0)}`;
    if (line === last) return null;
    last = line;
    return line;
  };
}

/**
 * Shows how far a pull is, until it ends: a bar on a terminal, lines elsewhere, nothing with `--json`. Answers the last
 * that was said of it. Rejects as the news do.
 */
export async function watchPull(terminal: Terminal, news: AsyncIterable<PullProgress>): Promise<PullProgress | null> {
  const nextLine = createLines();
  let last: PullProgress | null = null;
  try {
    for await (const progress of news) {
      last = progress;
      if (terminal.isWatched) terminal.status(renderProgress(progress));
      else if (!terminal.isJson) {
        const line = nextLine(progress);
        if (line !== null) terminal.note(line);
      }
    }
  } finally {
    terminal.status(null);
  }
  return last;
}
