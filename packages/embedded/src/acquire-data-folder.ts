import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { uptime } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode, errorMessage } from "@svc/primitives";
import {
  DataFolderInUseError,
  EmbeddedPostgresError,
  identifyProcess,
  isStillRunning,
  nullIfMissing,
} from "./run-tool.ts";

/** The ownership of a data folder; `release` may be called twice. */
export type DataFolderLock = {
  /** The folder's real path. */
  readonly dataDir: string;
  release(): Promise<void>;
};

type LockRecord = { pid: number; startMark: string | null; token: string; acquiredAt: string };

const LOCK_FILE = "instance.lock";
const GUARD_POLL_MS = 20;

/**
 * Makes this process the only owner of the data folder, which is created (mode 0700) if it does not exist. The lock is
 * the file `instance.lock` with the owner's pid and start time: after the owner has ended in any way, SIGKILL and a
 * reboot included, the next process can acquire it, and a process that reuses the pid is not mistaken for the owner.
 *
 * Throws DataFolderInUseError while another owner runs (also in this process), and EmbeddedPostgresError
 * `folder_unusable` if this user may not write there. Processes that cannot see each other (two containers with one
 * volume) are not excluded.
 */
export async function acquireDataFolder(dataDir: string): Promise<DataFolderLock> {
  const folder = await openFolder(dataDir);
  const lockFile = join(folder, LOCK_FILE);
  const mine: LockRecord = {
    pid: process.pid,
    startMark: (await identifyProcess(process.pid))?.startMark ?? null,
    token: randomUUID(),
    acquiredAt: new Date().toISOString(),
  };
  while (!(await createLock(lockFile, mine))) {
    const found = await nullIfMissing(readFile(lockFile, "utf8"));
    if (found === null) continue;
    const holder = await findLiveHolder(found);
    if (holder !== null) throw new DataFolderInUseError(folder, holder.pid);
    await removeStaleLock(lockFile, found, mine);
  }
  return {
    dataDir: folder,
    async release() {
      const current = await nullIfMissing(readFile(lockFile, "utf8"));
      if (current === JSON.stringify(mine)) await rm(lockFile, { force: true });
    },
  };
}

async function openFolder(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    return await realpath(dataDir);
  } catch (error) {
    throw folderUnusable(dataDir, error);
  }
}

function folderUnusable(dataDir: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "folder_unusable",
    `The data folder ${dataDir} cannot be used (${errorMessage(cause)}). ` +
      `Run as its owner, or choose another folder with SVC_DATA_DIR.`,
    { cause },
  );
}

/** Creates the lock with its content atomically. Returns false if a lock exists. */
async function createLock(lockFile: string, mine: LockRecord): Promise<boolean> {
  const draft = `${lockFile}.${mine.token}`;
  try {
    await writeFile(draft, JSON.stringify(mine), { mode: 0o644 });
  } catch (error) {
    throw folderUnusable(dirname(lockFile), error);
  }
  try {
    await link(draft, lockFile);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw folderUnusable(dirname(lockFile), error);
  } finally {
    await rm(draft, { force: true });
  }
}

async function findLiveHolder(content: string): Promise<LockRecord | null> {
  const record = parseLock(content);
  // An unreadable lock was truncated by a crash of the machine: its owner has ended.
  if (record === null || !(await isStillRunning(record))) return null;
  if (record.startMark !== null) return record;
  // Without start times (macOS, Windows), a lock from before the last boot has a pid that was reused.
  const bootedAtMs = Date.now() - uptime() * 1000;
  return Date.parse(record.acquiredAt) < bootedAtMs ? null : record;
}

function parseLock(content: string): LockRecord | null {
  try {
    const value: unknown = JSON.parse(content);
    return isLockRecord(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isLockRecord(value: unknown): value is LockRecord {
  if (typeof value !== "object" || value === null) return false;
  const { pid, startMark, acquiredAt } = value as Partial<Record<keyof LockRecord, unknown>>;
  return (
    Number.isInteger(pid) &&
    Number(pid) > 0 &&
    (startMark === null || typeof startMark === "string") &&
    typeof acquiredAt === "string"
  );
}

/**
 * Removes the lock of an owner that has ended. Two processes may find the same stale lock: if both removed it, the
 * slower one could remove the new lock of the faster one. So a second lock guards the removal, under which the content
 * is compared again.
 */
async function removeStaleLock(lockFile: string, stale: string, mine: LockRecord): Promise<void> {
  const guardFile = `${lockFile}.takeover`;
  if (!(await createLock(guardFile, mine))) {
    const guard = await nullIfMissing(readFile(guardFile, "utf8"));
    if (guard !== null && (await findLiveHolder(guard)) === null) await rm(guardFile, { force: true });
    await delay(GUARD_POLL_MS);
    return;
  }
  try {
    const current = await nullIfMissing(readFile(lockFile, "utf8"));
    if (current === stale) await rm(lockFile, { force: true });
  } finally {
    await rm(guardFile, { force: true });
  }
}
