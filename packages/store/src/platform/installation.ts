import type { Db } from "../db.ts";
import type { Sealer } from "./sealer.ts";
import { statements } from "../sql.ts";

const sql = statements("platform/installation");

const CHECK_TEXT = "svc secret key check";

/** True when this sealer has the secret key with which the check of an installation was sealed. */
export function opensSecretKeyCheck(sealer: Sealer, sealed: string): boolean {
  return sealer.open({ sealed }) === CHECK_TEXT;
}

/** Number of the advisory lock that an initialisation holds; nothing else of ours takes it. */
const INITIALIZE_LOCK = 7_305_416;

/**
 * Compares the secret key of this process with the one that sealed this store's secrets; the first process to ask
 * sets it. False: another key, with which nothing sealed could be opened.
 */
export async function checkSecretKey(db: Db, sealer: Sealer): Promise<boolean> {
  await sql.checkSecretKey.run(db, { sealed: sealer.seal(CHECK_TEXT).sealed });
  const row = await sql.findInstallation.one<{ secretKeyCheck: string }>(db);
  const sealed = row?.secretKeyCheck;
  return sealed !== undefined && opensSecretKeyCheck(sealer, sealed);
}

/**
 * Runs `work` while no other process initialises this store; waits up to 30 s for one that does. Locks: one
 * advisory lock, which ends with the connection, so that a crash leaves nothing locked.
 */
export function exclusively<Result>(db: Db, work: () => Promise<Result>): Promise<Result> {
  return db.transaction(async (tx) => {
    await sql.exclusively.run(tx, { initializeLock: INITIALIZE_LOCK });

    await sql.runRow.run(tx);
    return work();
  });
}

/** True once the first initialisation has been finished. */
export async function isInitialized(db: Db): Promise<boolean> {
  const row = await sql.isInitialized.one<{ done: boolean }>(db);
  return row?.done ?? false;
}

/** True once somebody was shown the first administrator's key. */
export async function isAdminKeyShown(db: Db): Promise<boolean> {
  const row = await sql.isAdminKeyShown.one<{ done: boolean }>(db);
  return row?.done ?? false;
}

/** Notes that somebody was shown the first administrator's key. */
export async function markAdminKeyShown(db: Db): Promise<void> {
  await sql.markAdminKeyShown.run(db);
}

/** Notes that the first initialisation is finished: what it made is not made again when somebody deletes it. */
export async function markInitialized(db: Db): Promise<void> {
  await sql.markInitialized.run(db);
}
