import { execFile } from "node:child_process";
import { constants, open, readFile, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { errorCode } from "@svc/primitives";
import { clusterDirOf, connectionUrl, markOfPassword, readPassword, readState } from "./cluster.ts";
import { EmbeddedPostgresError, identifyProcess, nullIfMissing } from "./run-tool.ts";
import type { ProcessIdentity } from "./run-tool.ts";
import { acceptsConnections } from "./launch-on-port.ts";

/** A running server that was verified to serve this cluster. */
type Postmaster = {
  identity: ProcessIdentity;
  /** The port on 127.0.0.1, or null until the server has written it. */
  port: number | null;
  isReady: boolean;
};

/** Lines of postmaster.pid, counted from 0, as Postgres' pidfile.h defines them. */
const PID_LINE = 0;
const PORT_LINE = 3;
const STATUS_LINE = 7;

const POLL_MS = 50;

/**
 * Finds the server that runs on this cluster, or null. The pid in `postmaster.pid` is no proof, since the file survives
 * a crash and pids are reused: the process must be a postgres whose working directory is the cluster.
 */
async function findPostmaster(clusterDir: string): Promise<Postmaster | null> {
  const lines = await readLines(clusterDir);
  if (lines === null) return null;
  const pid = parsePid(lines);
  const identity = pid === null ? null : await identifyProcess(pid);
  if (identity === null || !(await isPostgresOn(identity.pid, clusterDir))) return null;
  const port = Number(lines[PORT_LINE]?.trim());
  return {
    identity,
    port: Number.isInteger(port) && port > 0 ? port : null,
    isReady: lines[STATUS_LINE]?.trim() === "ready",
  };
}

/** Polls until the server on this cluster is ready or has ended, or the timeout has passed; returns its last state. */
export async function waitForReady(clusterDir: string, timeoutMs: number): Promise<Postmaster | null> {
  const deadline = performance.now() + timeoutMs;
  let seen = await findPostmaster(clusterDir);
  while (seen !== null && !seen.isReady && performance.now() < deadline) {
    await delay(POLL_MS);
    seen = await findPostmaster(clusterDir);
  }
  return seen;
}

/**
 * Allows a start after a crash if `postmaster.pid` or the lock of the Unix socket contains a pid that another process has
 * now, which Postgres would mistake for a running server. Call it only if `findPostmaster` found none.
 *
 * The lock is removed. The file is not, since its last lines let Postgres detect whether backends of a killed server still use the
 * shared memory. Instead our own pid is entered: Postgres never mistakes its parent for another server, and does that
 * check. Windows has neither this exception nor these lines, so the file is removed there.
 */
export async function clearStalePostmasterFile(clusterDir: string): Promise<void> {
  const locks = (await readdir(clusterDir)).filter((name) => /^\.s\.PGSQL\.\d+\.lock$/.test(name));
  for (const name of locks) await rm(join(clusterDir, name), { force: true });
  const file = join(clusterDir, "postmaster.pid");
  const lines = await readLines(clusterDir);
  if (lines === null) return;
  const pid = parsePid(lines);
  // Postgres itself handles a file whose process has ended.
  if (pid !== null && (await identifyProcess(pid)) === null) return;
  if (process.platform === "win32") {
    await rm(file, { force: true });
    return;
  }
  // The cluster belongs to a user with fewer rights than root: a link in place of the file must not be followed.
  const handle = await open(file, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
  try {
    await handle.writeFile([String(process.pid), ...lines.slice(PID_LINE + 1)].join("\n"));
  } finally {
    await handle.close();
  }
}

/**
 * Returns the command line of the last start, as Postgres recorded it: the program and each argument in double quotes.
 */
export async function readLastCommand(clusterDir: string): Promise<string | null> {
  const text = await nullIfMissing(readFile(join(clusterDir, "postmaster.opts"), "utf8"));
  return text === null ? null : text.trim();
}

/** Formats a command line as `readLastCommand` returns it. */
export function formatCommand(program: string, args: string[]): string {
  return [program, ...args.map((argument) => `"${argument}"`)].join(" ");
}

async function readLines(clusterDir: string): Promise<string[] | null> {
  const text = await nullIfMissing(readFile(join(clusterDir, "postmaster.pid"), "utf8"));
  return text === null ? null : text.split("\n");
}

/** Postgres without a server (single-user mode) writes its pid as a negative number. */
function parsePid(lines: string[]): number | null {
  const pid = Math.abs(Number(lines[PID_LINE]?.trim()));
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

async function isPostgresOn(pid: number, clusterDir: string): Promise<boolean> {
  const check = PLATFORM_CHECKS[process.platform] ?? commandNamesCluster;
  try {
    return await check(pid, clusterDir);
  } catch (error) {
    // The process has just ended, or belongs to a user whose processes this one may not inspect.
    if (["ENOENT", "ESRCH", "EACCES"].includes(errorCode(error) ?? "")) return false;
    throw error;
  }
}

const PLATFORM_CHECKS: Partial<Record<NodeJS.Platform, (pid: number, clusterDir: string) => Promise<boolean>>> = {
  linux: worksInCluster,
  win32: isNamedPostgres,
};

async function worksInCluster(pid: number, clusterDir: string): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/comm`, "utf8");
  if (command.trim() !== "postgres") return false;
  // Following the link leads to the folder itself, even if it was renamed.
  const [workingDir, cluster] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(clusterDir)]);
  return workingDir.dev === cluster.dev && workingDir.ino === cluster.ino;
}

async function commandNamesCluster(pid: number, clusterDir: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "command=", "-p", String(pid)]);
  return stdout.includes("postgres") && stdout.includes(clusterDir);
}

async function isNamedPostgres(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)("tasklist", ["/FI", `PID eq ${pid}`, "/FO", "CSV", "/NH"]);
  return stdout.toLowerCase().includes("postgres.exe");
}

/** A Postgres that another process owns; the URL contains the password. */
type FoundPostgres = { url: string; pid: number; port: number };

const DEFAULT_DATABASE = "svc";
const START_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 2000;

/**
 * Finds the Postgres that runs on this data folder, for a program that uses it without owning it; null if none runs.
 * Waits at most ten seconds for one that is starting. Verifies that the process is a Postgres on this folder, and that
 * its port accepts sign-ins.
 *
 * Throws EmbeddedPostgresError `folder_unusable` if this user may not read the folder's password, `password_wrong` if
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
    return { url: connectionUrl(dataDir, password, port, database), pid: identity.pid, port };
  } catch (error) {
    if (errorCode(error) !== "EACCES") throw error;
    throw new EmbeddedPostgresError(
      "folder_unusable",
      `The data folder ${dataDir} belongs to another user. Run this as the user that started the product, or as root.`,
      { cause: error },
    );
  }
}
