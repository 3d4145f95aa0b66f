import type { ModelPullProgress } from "@svc/contracts";
import { safeLine } from "../safe-text.ts";
import { renderSize } from "./render-size.ts";

const BAR_CHARS = 24;
const STATUS_CHARS = 40;

/** How far a pull is, in whole percent that are never rounded up to the end; null before that is known. */
export function percentOf({ completedBytes, totalBytes }: ModelPullProgress): number | null {
  if (totalBytes === null) return null;
  return totalBytes === 0 ? 100 : Math.floor((100 * Math.min(completedBytes, totalBytes)) / totalBytes);
}

/** How far a pull is, in one line with a bar. */
export function renderProgress(progress: ModelPullProgress): string {
  const { status, completedBytes, totalBytes } = progress;
  const percent = percentOf(progress);
  const words = safeLine(status, STATUS_CHARS);
  if (percent === null || totalBytes === null) return words;
  const full = Math.floor((BAR_CHARS * percent) / 100);
  const bar = `[${"#".repeat(full)}${".".repeat(BAR_CHARS - full)}]`;
  return `${bar} ${String(percent).padStart(3)} %  ${renderSize(completedBytes)} of ${renderSize(totalBytes)}  ${words}`;
}
