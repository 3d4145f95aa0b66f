import { chmod, chown, lchown, readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedPostgresError } from "./errors.ts";
import { nullIfMissing } from "./null-if-missing.ts";

/** The user that Postgres runs as; null stands for the user of this process. */
export type PostgresAccount = { uid: number; gid: number } | null;

/** Users that exist on common systems and own nothing that matters, in the order of preference. */
const FALLBACK_USERS = ["postgres", "nobody"] as const;

/**
 * Chooses the user for Postgres, which refuses to run as root. An ordinary user runs it as himself. For root it is
 * the owner of the cluster, so that the choice stays the same on every start; else the owner of the data folder, so
 * that a start with sudo leaves a folder that its owner can go on with; else `postgres` or `nobody`.
 *
 * Throws EmbeddedPostgresError `account_missing` when root has no other user to turn to, `folder_unusable` when an
 * ordinary user meets a cluster of somebody else.
 */
export async function choosePostgresAccount(dataDir: string, clusterDir: string): Promise<PostgresAccount> {
  const ownUid = process.getuid?.();
  const cluster = await nullIfMissing(stat(clusterDir));
  if (ownUid !== 0) {
    if (ownUid !== undefined && cluster !== null && cluster.uid !== ownUid) {
      throw new EmbeddedPostgresError(
        "folder_unusable",
        `The database in ${clusterDir} belongs to the user with ID ${cluster.uid}, not to yours (${ownUid}). ` +
          `Start as that user or as root, or choose another folder with SVC_DATA_DIR.`,
      );
    }
    return null;
  }
  if (cluster !== null && cluster.uid !== 0) return { uid: cluster.uid, gid: cluster.gid };

  const users = await readUsers();
  const folder = await stat(dataDir);
  const isFolderOwnerKnown = folder.uid !== 0 && users.some((user) => user.uid === folder.uid);
  if (isFolderOwnerKnown) return { uid: folder.uid, gid: folder.gid };
  for (const name of FALLBACK_USERS) {
    const user = users.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (user !== undefined) return { uid: user.uid, gid: user.gid };
  }
  throw new EmbeddedPostgresError(
    "account_missing",
    `PostgreSQL cannot run as root, and this system has neither a user "postgres" nor "nobody". ` +
      `Start as an ordinary user, add one of these users, or set DATABASE_URL to your own PostgreSQL.`,
  );
}

/**
 * Gives the cluster to the account when root brought it here (a backup that was copied back), and takes away rights
 * of others, both of which Postgres insists on. Does nothing when all is well.
 */
export async function claimCluster(clusterDir: string, account: PostgresAccount): Promise<void> {
  const { uid, mode } = await stat(clusterDir);
  if (account !== null && uid === 0) {
    for (const entry of await readdir(clusterDir, { recursive: true })) {
      await lchown(join(clusterDir, entry), account.uid, account.gid);
    }
    await chown(clusterDir, account.uid, account.gid);
  }
  if (process.platform !== "win32" && (mode & 0o077) !== 0) await chmod(clusterDir, 0o700);
}

async function readUsers(): Promise<{ name: string; uid: number; gid: number }[]> {
  const passwd = (await nullIfMissing(readFile("/etc/passwd", "utf8"))) ?? "";
  return passwd.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    return name !== undefined && uid !== undefined && gid !== undefined
      ? [{ name, uid: Number(uid), gid: Number(gid) }]
      : [];
  });
}
