import {
  checkClusterVersion,
  createCluster,
  ensureDatabase,
  newPassword,
  resetPassword,
  writePassword,
} from "./cluster.ts";
import type { ServerOnFolder } from "./launch-on-port.ts";
import { claimCluster } from "./postgres-account.ts";
import { clearStalePostmasterFile } from "./postmaster-file.ts";

/** What a start found in the data folder, and the database that it wants. */
export type FoundCluster = { isNew: boolean; hasDatabase: boolean; password: string | null; database: string };

/**
 * Makes or mends all that must be right before the server starts, which must not be running: the cluster, its owner,
 * what a crash left behind, the role's password and the database. Resolves to the password.
 *
 * Throws EmbeddedPostgresError `version_mismatch` or `tool_failed`.
 */
export async function prepareCluster(
  dataDir: string,
  { clusterDir, binaries, account, log }: ServerOnFolder,
  found: FoundCluster,
  onProgress: (text: string) => void,
): Promise<string> {
  const password = found.password ?? newPassword();
  if (found.isNew) {
    onProgress("Creating the database (first start)");
    await writePassword(dataDir, password);
    await createCluster(dataDir, binaries, account, password);
  } else {
    await checkClusterVersion(dataDir, binaries);
    await claimCluster(clusterDir, account);
    await clearStalePostmasterFile(clusterDir);
  }
  if (!found.isNew && found.password === null) {
    log.warn({ dataDir }, "The password of Postgres was lost; a new one is set");
    // Written down only when it counts: a crash in between leaves no password, and the next start sets one again.
    await resetPassword(dataDir, binaries, account, password);
    await writePassword(dataDir, password);
  }
  if (!found.hasDatabase) await ensureDatabase(dataDir, binaries, account, found.database);
  return password;
}
