import {
  checkClusterVersion,
  createCluster,
  ensureDatabase,
  ensureRole,
  giveDatabaseToRole,
  newPassword,
  writePassword,
} from "./cluster.ts";
import type { ServerOnFolder } from "./launch-on-port.ts";
import { claimCluster } from "./postgres-account.ts";
import { clearStalePostmasterFile } from "./postmaster-file.ts";

/** What a start found in the data folder, and the database that it wants. */
export type FoundCluster = {
  isNew: boolean;
  hasDatabase: boolean;
  /** Null: lost, or not the one that an earlier start set. */
  password: string | null;
  /** Whether an earlier start has set this password for a role that is no superuser. */
  isRoleReady: boolean;
  database: string;
  /** Databases that earlier starts created. */
  knownDatabases: readonly string[];
};

/**
 * Creates or repairs everything that must be right before the server starts, which must not be running: the cluster,
 * its owner, what a crash left behind, the product's role and the database. Resolves to the role's password.
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
    await createCluster(dataDir, binaries, account);
  } else {
    await checkClusterVersion(dataDir, binaries);
    await claimCluster(clusterDir, account);
    await clearStalePostmasterFile(clusterDir);
  }
  if (!found.isNew && found.password === null) {
    log.warn({ dataDir }, "The PostgreSQL password was missing or damaged; a new one is set");
  }
  if (!found.isRoleReady) {
    // Written down only when it is valid: after a crash in between, the next start sets another one.
    await ensureRole(dataDir, binaries, account, password);
    await writePassword(dataDir, password);
  }
  if (!found.hasDatabase) await ensureDatabase(dataDir, binaries, account, found.database);
  if (!found.isNew && !found.isRoleReady) {
    for (const database of new Set([...found.knownDatabases, found.database]))
      await giveDatabaseToRole(dataDir, binaries, account, database);
  }
  return password;
}
