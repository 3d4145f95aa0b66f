import { readFileSync } from "node:fs";

const STATUS_FILE = "/proc/self/status";
const KB = 1_024;

/**
 * Bytes that the system cannot take back from a process, by the text of its status on Linux; null where it says nothing of
 * them. The files that it has mapped, such as its program, are in its resident set too, and do not count towards the limit
 * of its container.
 */
export function parseOwnMemory(status: string): number | null {
  const [, kb] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
  return kb === undefined ? null : Number(kb) * KB;
}

/** What this process uses of what its container may; where the system does not tell, its resident set. */
export function readOwnMemory(): number {
  // Elsewhere than on Linux there is no such file.
  const own = process.platform === "linux" ? parseOwnMemory(readFileSync(STATUS_FILE, "utf8")) : null;
  return own ?? process.memoryUsage.rss();
}
