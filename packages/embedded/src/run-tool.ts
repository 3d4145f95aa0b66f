import { spawn } from "node:child_process";
import { chmod, chown, lchown, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { errorCode } from "@svc/primitives";

/** The part of a logger that this package uses; a pino logger fits. */
export type PostgresLogger = {
  info(obj: object, msg: string): void;
  warn(obj: object, msg: string): void;
  error(obj: object, msg: string): void;
};

/**
 * Resolves as the given file operation does, or to null if the file or folder does not exist. Other errors are passed
 * on.
 */
export async function nullIfMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** What went wrong, for a caller that handles it; the message says what to do. */
type EmbeddedPostgresErrorCode =
  | "binaries_missing"
  | "binaries_unusable"
  | "account_missing"
  | "folder_unusable"
  | "version_mismatch"
  | "database_name_invalid"
  | "tool_failed"
  | "password_wrong"
  | "no_loopback"
  | "port_taken"
  | "folder_busy"
  | "start_failed"
  | "start_aborted"
  | "stop_failed";

/** Any failure of the embedded Postgres except a folder in use; `message` ends with what to do next. */
export class EmbeddedPostgresError extends Error {
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EmbeddedPostgresError";
    this.code = code;
  }
}

/** Another running process owns the data folder; `pid` is its id. */
export class DataFolderInUseError extends Error {
  readonly dataDir: string;
  readonly pid: number;

  constructor(dataDir: string, pid: number) {
    super(
      `The data folder ${dataDir} is in use by process ${pid}. ` +
        `Stop that process, or set SVC_DATA_DIR to another folder.`,
    );
    this.name = "DataFolderInUseError";
    this.dataDir = dataDir;
    this.pid = pid;
  }
}

/**
 * A running process; `startMark` distinguishes it from a later process with the same pid, null if the system does not
 * provide one.
 */
export type ProcessIdentity = { pid: number; startMark: string | null };

/** In proc(5), "starttime" is field 22 and "state" is field 3, the first one after the command in parentheses. */
const START_TIME_AFTER_STATE = 19;

/**
 * Returns the process that has this pid now, or null if there is none. A zombie counts as ended: it holds no resources,
 * and in a container it may never be reaped. On Linux the mark is the boot id with the start time in ticks; elsewhere
 * it is null.
 */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | null> {
  const presence = probePid(pid);
  if (presence === "gone") return null;
  if (process.platform !== "linux") return { pid, startMark: null };
  const stat = await readProcFile(`/proc/${pid}/stat`);
  // A /proc mounted with hidepid hides the processes of other users, which kill(2) still reports.
  if (stat === null) return presence === "foreign" ? { pid, startMark: null } : null;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return null;
  const bootId = await readProcFile("/proc/sys/kernel/random/boot_id");
  return { pid, startMark: `${bootId?.trim() ?? "unknown-boot"}:${fields[START_TIME_AFTER_STATE] ?? ""}` };
}

/** Returns true if the recorded process still runs; a later process with the same pid is another one. */
export async function isStillRunning(recorded: ProcessIdentity): Promise<boolean> {
  const current = await identifyProcess(recorded.pid);
  if (current === null) return false;
  if (current.startMark === null || recorded.startMark === null) return true;
  return current.startMark === recorded.startMark;
}

function probePid(pid: number): "ours" | "foreign" | "gone" {
  try {
    process.kill(pid, 0);
    return "ours";
  } catch (error) {
    if (errorCode(error) === "EPERM") return "foreign";
    if (errorCode(error) === "ESRCH") return "gone";
    throw error;
  }
}

async function readProcFile(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // A process may end between opening and reading its file, which returns ESRCH.
    if (["ENOENT", "ESRCH", "EACCES"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}

/** The user that Postgres runs as; null stands for the user of this process. */
export type PostgresAccount = { uid: number; gid: number } | null;

/** Users that exist on common systems and own nothing that matters, in the order of preference. */
const FALLBACK_USERS = ["postgres", "nobody"] as const;

/**
 * Chooses the user for Postgres, which refuses to run as root. An ordinary user runs it as themselves. For root it is
 * the owner of the cluster, so that every start chooses the same; else the owner of the data folder, so that a start
 * with sudo leaves a folder that its owner can use; else `postgres` or `nobody`.
 *
 * Throws EmbeddedPostgresError `account_missing` if root finds no other user, `folder_unusable` if an ordinary user
 * starts on another user's cluster.
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
 * Makes the account the owner of the cluster if root restored it (from a backup), and removes the permissions of
 * others, both of which Postgres requires. Has no effect if both are right.
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

/** Exit code of a program, and its output to stdout and stderr. */
type ToolResult = { code: number | null; output: string };

/** Folder and user of a Postgres program. */
type ToolOptions = { cwd: string; account: PostgresAccount; input?: string };

/**
 * Runs a Postgres program to its end. Rejects with the system's error if it cannot be started (ENOENT, EACCES, EPERM);
 * a failure of the program itself is in `code`.
 */
export async function runTool(program: string, args: string[], options: ToolOptions): Promise<ToolResult> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: postgresEnvironment(),
    stdio: ["pipe", "pipe", "pipe"],
    // In its own process group, so that Ctrl-C in the terminal does not stop it: the owner decides when to stop.
    detached: true,
    windowsHide: true,
    ...options.account,
  });
  // A program that ends before it has read its input breaks the pipe; its exit code shows the reason.
  child.stdin.on("error", () => child.stdin.destroy());
  child.stdin.end(options.input ?? "");
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, output: stdout + stderr };
}

/**
 * Environment of every Postgres program. Variables of the user's own Postgres (PGDATA, PGPORT) and a missing locale
 * would change or prevent the start, so only what the system itself needs is passed on.
 */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const passedOn = ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "windir"];
  const inherited = passedOn.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), LC_ALL: "C", TZ: "UTC" };
}
