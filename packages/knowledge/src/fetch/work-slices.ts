import { setImmediate as nextTurn } from "node:timers/promises";
import { ServiceError } from "@svc/contracts";

/** Splits long work on untrusted data into slices, so that it does not block the event loop. */
export interface WorkSlices {
  /** Returns whether the current slice has reached its time limit. */
  isDue(): boolean;
  /**
   * Yields to the event loop. Throws ServiceError `invalid_request` if the whole work has taken too long, and the
   * signal's reason.
   */
  pause(): Promise<void>;
  /** Waits for other work, whose time does not count. Throws the signal's reason. */
  wait<Result>(work: Promise<Result>): Promise<Result>;
}

/** Short enough not to be noticeable, and long enough that yielding costs little. */
const SLICE_MS = 10;

/** Creates the slices of a task, which may take `budgetMs` in total. */
export function createWorkSlices(budgetMs: number, signal: AbortSignal | undefined): WorkSlices {
  let spentMs = 0;
  let startedAt = performance.now();

  async function wait<Result>(work: Promise<Result>): Promise<Result> {
    spentMs += performance.now() - startedAt;
    try {
      const result = await work;
      signal?.throwIfAborted();
      return result;
    } finally {
      startedAt = performance.now();
    }
  }

  return {
    isDue: () => performance.now() - startedAt > SLICE_MS,
    async pause() {
      await wait(nextTurn());
      if (spentMs <= budgetMs) return;
      const detail = "The sitemaps and the robots.txt of this site take too long to read. Add its pages individually.";
      throw new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code: "too_complex", detail }] });
    },
    wait,
  };
}
