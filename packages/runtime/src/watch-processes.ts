import { hostname } from "node:os";
import type { Log } from "@svc/log";
import { SILENT_MS, newId } from "@svc/store";
import type { Store } from "@svc/store";
import { describeVanished } from "./describe-vanished.ts";
import { readOwnMemory } from "./read-memory.ts";
import { findMemoryLimit } from "./watch-memory.ts";

const BEAT_MS = 5_000;
/** A stop does not wait longer for a database that is away: the process is then told of as one that has vanished. */
const END_WAIT_MS = 1_000;

/** The part of the store that knows which processes run. */
type Processes = Pick<Store["processes"], "beat" | "end" | "takeVanished">;

/**
 * Notes in the store that this process runs, every five seconds, and tells in the log of those that have ended without a
 * stop: killed, for their memory or otherwise, or crashed. Whoever was cut off from the store itself just now tells of nobody,
 * since the others were cut off too, for all it knows. Call the answer when the stop begins: it says that this process stops
 * in order, or lets it be told of where it stops because it has crashed.
 */
export function watchProcesses(
  app: string,
  processes: Processes,
  log: Log,
): (options?: { hasCrashed?: boolean }) => Promise<void> {
  const id = newId();
  const host = hostname();
  const memoryLimitBytes = findMemoryLimit();
  let isEnded = false;
  /** Since when each beat has been heard. By the clock of the machine, which also tells that it has slept. */
  let heardSince: number | null = null;
  let heardAt = 0;

  async function beat(): Promise<void> {
    const begunAt = Date.now();
    try {
      const memoryBytes = readOwnMemory();
      await processes.beat({ id, app, host, pid: process.pid, memoryBytes, memoryLimitBytes });
      const now = Date.now();
      const isGap = now - heardAt > 2 * BEAT_MS || now - begunAt > BEAT_MS || now < heardAt;
      if (heardSince === null || isGap) heardSince = now;
      heardAt = now;
      if (isEnded || now - heardSince < SILENT_MS) return;
      for (const gone of await processes.takeVanished(app)) {
        log.warn({ vanished: gone }, describeVanished(gone));
      }
    } catch (error) {
      heardSince = null;
      log.debug({ error }, "the store was not told that this process runs");
    }
  }

  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = beat();
  const beatLater = () => {
    if (isEnded) return;
    timer = setTimeout(() => {
      beating = beat();
      void beating.finally(beatLater);
    }, BEAT_MS);
    timer.unref();
  };
  void beating.finally(beatLater);

  async function end(): Promise<void> {
    // A beat on its way would bring the row back.
    await beating;
    try {
      await processes.end(id);
    } catch (error) {
      log.debug({ error }, "the store was not told that this process stops");
    }
  }

  return async ({ hasCrashed = false } = {}) => {
    isEnded = true;
    clearTimeout(timer);
    if (hasCrashed) return;
    let deadline: NodeJS.Timeout | undefined;
    await Promise.race([
      end(),
      new Promise<void>((resolve) => {
        deadline = setTimeout(resolve, END_WAIT_MS);
      }),
    ]);
    clearTimeout(deadline);
  };
}
