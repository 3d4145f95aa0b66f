import { join } from "node:path";
import { errorCode } from "@svc/primitives";
import { clusterDirOf, markOfPassword, readPassword } from "./cluster.ts";
import { connectionUrl } from "./connection-url.ts";
import { EmbeddedPostgresError } from "./errors.ts";
import { acceptsConnections } from "./local-port.ts";
import { waitForReady } from "./postmaster-file.ts";
import { readState } from "./remembered-state.ts";

/** A Postgres that somebody else owns; the URL contains the password. */
export type FoundPostgres = { url: string; pid: number; port: number };

const DEFAULT_DATABASE = "svc";
const START_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 2000;

/**
 * Finds the Postgres that runs on this data folder, for a program that wants to join it without owning it, or null
 * when none runs. One that is just starting is waited for, at most ten seconds. The process is verified to be a
 * Postgres on this very folder, and its port to let clients sign in.
 *
 * Throws EmbeddedPostgresError `folder_unusable` when this user may not read the folder's password, `password_wrong` when
 * it was changed after the start.
 */
export async function findRunningPostgres(dataDir: string, database = DEFAULT_DATABASE): Promise<FoundPostgres | null> {
  try {
    const postmaster = await waitForReady(clusterDirOf(dataDir), START_TIMEOUT_MS);
    if (postmaster?.port === undefined || postmaster.port === null || !postmaster.isReady) return null;
    const { port, identity } = postmaster;
    const password = await readPassword(dataDir);
    const { passwordMark } = await readState(dataDir);
    if (password !== null && passwordMark !== null && markOfPassword(password) !== passwordMark) {
      throw new EmbeddedPostgresError(
        "password_wrong",
        `${join(dataDir, "postgres-password")} does not contain the password of the running PostgreSQL. Restart the product to set a new one.`,
      );
    }
    if (password === null || !(await acceptsConnections(port, PROBE_TIMEOUT_MS))) return null;
    return { url: connectionUrl(password, port, database), pid: identity.pid, port };
  } catch (error) {
    if (errorCode(error) !== "EACCES") throw error;
    throw new EmbeddedPostgresError(
      "folder_unusable",
      `The data folder ${dataDir} belongs to another user. Run this as the user that started the product, or as root.`,
      { cause: error },
    );
  }
}
