import { isUnavailable, sqlStateOf } from "./db.ts";
import type { Db } from "./db.ts";
import { setTimeout as sleep } from "node:timers/promises";

const TRIES = 4;
const DEADLOCK = "40P01";

/**
 * Makes a transaction, and again up to three times when another one and it have waited for each other: for work that
 * locks rows of many tables, which not everybody locks in one order.
 */
export async function retryOnDeadlock<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (sqlStateOf(error) !== DEADLOCK || tries >= TRIES) throw error;
    }
  }
}

const RETRY_MS = 500;

/**
 * Resolves with what `write` resolves with; repeats it twice a second while the store is unavailable and `mayRetry`
 * returns true. For the result of work that was done: if it is not written, the lease expires and the work is done
 * again. Rejects with any other error at once.
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
