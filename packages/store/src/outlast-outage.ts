import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "./db.ts";

const RETRY_MS = 500;

/**
 * Resolves with what `write` resolves with; repeats it twice a second while the store is unavailable and `mayRetry` returns
 * true. For the result of work that was done: if it is not written, the lease expires and the work is done again. Rejects
 * with any other error at once.
 */
export async function outlastOutage<Result>(write: () => Promise<Result>, mayRetry: () => boolean): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error) || !mayRetry()) throw error;
      await sleep(RETRY_MS);
    }
  }
}
