import { setImmediate as nextTurn } from "node:timers/promises";
import { ServiceError } from "@svc/contracts";

/** Work on what strangers wrote, done in slices, so that however long it takes, everything else has its turn. */
export interface WorkSlices {
  /** Whether as much was done in one piece as the rest of the process can wait for. */
  isDue(): boolean;
  /**
   * Lets everything else have its turn. Throws ServiceError `invalid_request` when the whole has taken too long, and
   * the reason of the signal.
   */
  pause(): Promise<void>;
  /** Waits for what is done elsewhere, which does not count. Throws the reason of the signal. */
  wait<Result>(work: Promise<Result>): Promise<Result>;
}

/** A pause of this length is not noticeable, and turns are too few to take longer than the work. */
const SLICE_MS = 10;

/** Makes the slices of one piece of work, which may take `budgetMs` altogether. */
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
