import type { Db } from "../db.ts";
import type { Sealer } from "./sealer.ts";

const CHECK_TEXT = "svc secret key check";

/** True when this sealer has the secret key with which the check of an installation was sealed. */
export function opensSecretKeyCheck(sealer: Sealer, sealed: string): boolean {
  return sealer.open({ sealed }) === CHECK_TEXT;
}

/** Number of the advisory lock that an initialisation holds; nothing else of ours takes it. */
const INITIALIZE_LOCK = 7_305_416;

/** The one row about this installation. */
export function installationTable(db: Db) {
  return {
    /**
     * Compares the secret key of this process with the one that sealed this store's secrets; the first process to ask
     * sets it. False: another key, with which nothing sealed could be opened.
     */
    async checkSecretKey(sealer: Sealer): Promise<boolean> {
      await db.query("UPDATE installation SET secret_key_check = $1 WHERE secret_key_check IS NULL", [
        sealer.seal(CHECK_TEXT).sealed,
      ]);
      const rows = await db.query<{ secret_key_check: string }>("SELECT secret_key_check FROM installation");
      const sealed = rows[0]?.secret_key_check;
      return sealed !== undefined && opensSecretKeyCheck(sealer, sealed);
    },

    /**
     * Runs `work` while no other process initialises this store; waits up to 30 s for one that does. Locks: one
     * advisory lock, which ends with the connection, so that a crash leaves nothing locked.
     */
    exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
      return db.transaction(async (tx) => {
        await tx.query("SELECT pg_advisory_xact_lock($1)", [INITIALIZE_LOCK]);
        // On a busy machine the work, in which this connection does nothing, takes longer than transactions may be idle.
        await tx.query("SET LOCAL idle_in_transaction_session_timeout = '5min'");
        return work();
      });
    },

    /** True once the first initialisation has been finished. */
    async isInitialized(): Promise<boolean> {
      const rows = await db.query<{ done: boolean }>("SELECT initialized_at IS NOT NULL AS done FROM installation");
      return rows[0]?.done ?? false;
    },

    /** True once somebody was shown the first administrator's key. */
    async isAdminKeyShown(): Promise<boolean> {
      const rows = await db.query<{ done: boolean }>("SELECT admin_key_shown_at IS NOT NULL AS done FROM installation");
      return rows[0]?.done ?? false;
    },

    /** Notes that somebody was shown the first administrator's key. */
    async markAdminKeyShown(): Promise<void> {
      await db.query("UPDATE installation SET admin_key_shown_at = now() WHERE admin_key_shown_at IS NULL");
    },

    /** Notes that the first initialisation is finished: what it made is not made again when somebody deletes it. */
    async markInitialized(): Promise<void> {
      await db.query("UPDATE installation SET initialized_at = now() WHERE initialized_at IS NULL");
    },
  };
}
