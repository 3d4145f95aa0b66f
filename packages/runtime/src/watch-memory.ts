import type { Log } from "@svc/log";
import { readOwnMemory } from "./read-memory.ts";

const LOOK_MS = 5_000;
/** From this share of its limit on a process is warned of, and again once it has been below the lower one. */
const HIGH = 0.85;
const CALM = 0.7;
const MB = 1_000_000;
/** What systems without a limit answer is beyond any machine. */
const NO_LIMIT_BYTES = 2 ** 50;

const isLimit = (bytes: number) => bytes > 0 && bytes <= NO_LIMIT_BYTES;

/** What this process may use at most, as its container says; null where nothing limits it. */
export function findMemoryLimit(): number | null {
  const bytes = process.constrainedMemory();
  return isLimit(bytes) ? bytes : null;
}

/** Says in words that a process nears the limit of its container; null while it does not, or where there is none. */
export function findMemoryFault(usedBytes: number, limitBytes: number): string | null {
  if (!isLimit(limitBytes) || usedBytes < limitBytes * HIGH) return null;
  const used = Math.round(usedBytes / MB);
  const limit = Math.round(limitBytes / MB);
  return `This process uses ${used} of ${limit} MB. Above the limit, the system kills it (exit code 137) and its unfinished work is repeated. Raise the limit, or run more replicas.`;
}

/** Warns in the log, each time anew, before a process is killed for its memory. Answers what ends the watch. */
export function watchMemory(log: Log): () => void {
  let isWarned = false;
  const timer = setInterval(() => {
    const limit = process.constrainedMemory();
    const used = readOwnMemory();
    const fault = findMemoryFault(used, limit);
    if (fault !== null && !isWarned) log.warn({}, fault);
    if (fault !== null) isWarned = true;
    else if (used < limit * CALM) isWarned = false;
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
