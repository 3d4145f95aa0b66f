import { execFile } from "node:child_process";
import { constants, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { errorCode } from "@svc/primitives";
import { clusterDirOf, connectionUrl, markOfPassword, readPassword, readState } from "./cluster.ts";
import { EmbeddedPostgresError, nullIfMissing } from "./errors.ts";
import { acceptsConnections } from "./launch-on-port.ts";
import { identifyProcess } from "./run-tool.ts";
import type { ProcessIdentity } from "./run-tool.ts";

/** A live server that was verified to serve this very cluster. */
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
 * Finds the server that runs on this cluster, or null. The pid in `postmaster.pid` alone proves nothing, for it stays
 * after a crash and pids are used again: the process must be a postgres that has the cluster as its working folder.
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

/** Looks until the server on this cluster is ready, gone, or the time is over; then tells the last that was seen. */
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
 * Clears the way for a start where `postmaster.pid` is left from a crash and its pid now belongs to another process,
 * which Postgres would take for a living server. To be called when `findPostmaster` found none.
 *
 * The file is not removed, since its last lines let Postgres find out whether backends of a killed server still use
 * the shared memory. Instead our own pid is entered: Postgres never takes its parent for another server, and goes on
 * with that check. Windows has no such exception and no such lines, so there the file is removed.
 */
export async function clearStalePostmasterFile(clusterDir: string): Promise<void> {
  const file = join(clusterDir, "postmaster.pid");
  const lines = await readLines(clusterDir);
  if (lines === null) return;
  const pid = parsePid(lines);
  // Postgres itself recovers from the file of a process that is gone.
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

/** The command line of the last start, as Postgres wrote it down: the program and each argument in double quotes. */
export async function readLastCommand(clusterDir: string): Promise<string | null> {
  const text = await nullIfMissing(readFile(join(clusterDir, "postmaster.opts"), "utf8"));
  return text === null ? null : text.trim();
}

/** Spells a command line in the way of `readLastCommand`. */
export function spellCommand(program: string, args: string[]): string {
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
    // The process ended in between, or it belongs to a user whose processes we may not look into; ours we may.
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
  // Following the link leads to the folder itself, whatever it is called by now.
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
