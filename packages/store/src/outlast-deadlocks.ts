import { sqlStateOf } from "./db.ts";
import type { Db } from "./db.ts";

const TRIES = 4;
const DEADLOCK = "40P01";

/**
 * Makes a transaction, and again up to three times when another one and it have waited for each other: for work that locks
 * rows of many tables, which not everybody locks in one order.
 */
export async function outlastDeadlocks<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (sqlStateOf(error) !== DEADLOCK || tries >= TRIES) throw error;
    }
  }
}
