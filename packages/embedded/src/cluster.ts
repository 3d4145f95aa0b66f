import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { EmbeddedPostgresError, nullIfMissing, runTool } from "./run-tool.ts";
import type { PostgresAccount } from "./run-tool.ts";
import type { PostgresBinaries } from "./find-binaries.ts";

/** State saved by earlier starts. It only saves time: it is determined again if it is missing. */
type RememberedState = {
  port: number | null;
  databases: readonly string[];
  /** Hash of the password of the product's role (`markOfPassword`); null if no start of this version has set one. */
  passwordMark: string | null;
};

const NOTHING: RememberedState = { port: null, databases: [], passwordMark: null };

const STATE_FILE = "postgres.json";

/** Reads the saved state; a missing or damaged file counts as empty. */
export async function readState(dataDir: string): Promise<RememberedState> {
  const text = await nullIfMissing(readFile(join(dataDir, STATE_FILE), "utf8"));
  if (text === null) return NOTHING;
  try {
    const value: unknown = JSON.parse(text);
    const { port, databases, passwordMark } = (typeof value === "object" && value !== null ? value : {}) as Record<
      string,
      unknown
    >;
    return {
      port: typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536 ? port : null,
      databases: Array.isArray(databases) ? databases.filter((name) => typeof name === "string") : [],
      passwordMark: typeof passwordMark === "string" ? passwordMark : null,
    };
  } catch (error) {
    if (error instanceof SyntaxError) return NOTHING;
    throw error;
  }
}

/** Saves the state for the next start, atomically. */
export async function writeState(dataDir: string, state: RememberedState): Promise<void> {
  const file = join(dataDir, STATE_FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(state)}\n`);
  await rename(`${file}.new`, file);
}

/** The path of a Unix socket is limited to 107 bytes on Linux, and to 103 on macOS. */
const MAX_SOCKET_BYTES = 103;

/**
 * Returns the URL of a database of the running embedded Postgres. It contains the password: never log it. Clients that
 * know the parameter `host` connect over the Unix socket in the cluster's folder, if there is one: a statement then costs
 * them a fifth less CPU than over TCP.
 */
export function connectionUrl(dataDir: string, password: string, port: number, database: string): string {
  const folder = clusterDirOf(dataDir);
  const socket = join(folder, `.s.PGSQL.${port}`);
  const hasSocket = Buffer.byteLength(socket) <= MAX_SOCKET_BYTES && existsSync(socket);
  const url = `postgres://${ROLE}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  return hasSocket ? `${url}?host=${encodeURIComponent(folder)}` : url;
}

/** Returns whether a folder can have a Unix socket; some file systems cannot, such as those shared with another machine. */
export async function canHaveSocket(folder: string): Promise<boolean> {
  if (process.platform === "win32") return false;
  const server = createServer();
  try {
    await once(server.listen(join(folder, `.socket-${process.pid}`)), "listening");
    return true;
  } catch {
    // PostgreSQL would refuse to start. Whatever the reason is, it is reached over TCP then.
    return false;
  } finally {
    server.close();
  }
}

/** Port, size and socket of a server; all other settings have one good value for a local database. */
type ServerOptions = {
  port: number;
  maxConnections: number;
  hasSocket: boolean;
  settings: Readonly<Record<string, string>>;
};

/**
 * Small but durable: fsync and full_page_writes stay on. There are no replicas, so WAL is minimal; parallel workers,
 * JIT and I/O workers cost more processes than a small database gains.
 */
const DEFAULT_SETTINGS = {
  shared_buffers: "32MB",
  max_wal_size: "256MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  max_parallel_workers: "0",
  io_method: "sync",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  // Callers get the errors of their statements; in the log they would show personal data.
  log_min_messages: "log",
  log_min_error_statement: "panic",
} as const;

/** Settings that this package relies on and that cannot be overridden: loopback, and a log that can be parsed. */
const FIXED_SETTINGS = {
  listen_addresses: "127.0.0.1",
  logging_collector: "off",
  log_destination: "stderr",
  log_line_prefix: "",
  lc_messages: "C",
} as const;

/**
 * Path of the cluster as Postgres gets it; the cluster is its working directory. On Linux it is named through /proc:
 * the server's user then needs no permission for the parent folders (a home of mode 700), since a working directory is
 * inherited open. Elsewhere it is the path itself.
 */
function clusterArgument(clusterDir: string): string {
  return process.platform === "linux" ? "/proc/self/cwd" : clusterDir;
}

/**
 * Returns the arguments of `postgres` for a server on this cluster. Later settings override earlier ones, as in
 * Postgres itself.
 */
export function serverArguments(
  clusterDir: string,
  { port, maxConnections, hasSocket, settings }: ServerOptions,
): string[] {
  const merged = {
    ...DEFAULT_SETTINGS,
    max_connections: String(maxConnections),
    ...settings,
    ...FIXED_SETTINGS,
    // The folder of the cluster, which only its owner may enter.
    unix_socket_directories: hasSocket ? "." : "",
    port: String(port),
  };
  return [
    "-D",
    clusterArgument(clusterDir),
    ...Object.entries(merged).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

/**
 * Returns the arguments of `postgres` for SQL on stdin without a server; a blank line ends a statement, and an error
 * ends the run.
 */
export function singleUserArguments(clusterDir: string, database: string): string[] {
  return [
    "--single",
    "-j",
    "-D",
    clusterArgument(clusterDir),
    "-c",
    "exit_on_error=on",
    "-c",
    "log_checkpoints=off",
    database,
  ];
}

/** The product's role: owns its databases, may create databases, and is not a superuser. */
export const ROLE = "svc";

/**
 * The superuser of the cluster. Its password is not known to anyone: it is used only in single-user mode, by the user
 * who owns the files.
 */
const SUPERUSER = "postgres";

/** SQL that separates the two roles of older clusters; safe to repeat. */
const SQL_DIR = new URL("../sql/", import.meta.url);

const PASSWORD_FILE = "postgres-password";
const STAGING_PREFIX = "postgres.new-";

/** LC_CTYPE uses the C.UTF-8 locale of the C library, which macOS and Windows name differently or lack. */
const LOCALE_ARGUMENTS: Partial<Record<NodeJS.Platform, string[]>> = {
  linux: ["--locale=C.UTF-8"],
  darwin: ["--locale=C", "--lc-ctype=UTF-8"],
};

/** A data folder, the programs of PostgreSQL, and the user that runs them. */
interface ClusterTools {
  dataDir: string;
  binaries: PostgresBinaries;
  account: PostgresAccount;
}

/** Returns the cluster folder of a data folder. */
export function clusterDirOf(dataDir: string): string {
  return join(dataDir, "postgres");
}

/** Returns true if the data folder has a cluster that was created completely. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  return (await nullIfMissing(stat(join(clusterDirOf(dataDir), "PG_VERSION")))) !== null;
}

/**
 * Creates the cluster: UTF-8, scram-sha-256 for every connection. It is created under a temporary name and renamed when
 * it is complete, so that a crash leaves nothing that looks like a database.
 *
 * It sorts by Postgres' own C.UTF-8 rather than the C library's: it is faster, and indexes remain valid after an
 * upgrade of the system.
 *
 * Throws EmbeddedPostgresError `tool_failed` with the output of initdb.
 */
export async function createCluster({ dataDir, binaries, account }: ClusterTools): Promise<void> {
  await removeStaging(dataDir);
  const staging = await mkdtemp(join(dataDir, STAGING_PREFIX));
  try {
    const draft = join(staging, "cluster");
    const passwordFile = join(staging, "password");
    await mkdir(draft, { mode: 0o700 });
    // initdb requires a password; this one is not stored.
    await writeFile(passwordFile, `${newPassword()}\n`, { mode: 0o600 });
    if (account !== null) {
      for (const path of [staging, draft, passwordFile]) await chown(path, account.uid, account.gid);
    }
    const { code, output } = await runTool(
      binaries.initdb,
      [
        "-D",
        clusterArgument(draft),
        `--username=${SUPERUSER}`,
        `--pwfile=${clusterArgument(draft)}/../password`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        ...(LOCALE_ARGUMENTS[process.platform] ?? ["--locale=C"]),
        "--no-instructions",
      ],
      { cwd: draft, account },
    );
    if (code !== 0) throw toolFailed("initdb", code, output);
    await rename(draft, clusterDirOf(dataDir));
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Throws EmbeddedPostgresError `version_mismatch` if the cluster was created by another major release, which the given
 * binaries cannot read.
 */
export async function checkClusterVersion(dataDir: string, binaries: PostgresBinaries): Promise<void> {
  const clusterDir = clusterDirOf(dataDir);
  const made = (await readFile(join(clusterDir, "PG_VERSION"), "utf8")).trim();
  const [major] = binaries.version.split(".");
  if (made === major) return;
  throw new EmbeddedPostgresError(
    "version_mismatch",
    `The database in ${clusterDir} was created by PostgreSQL ${made}, but this release includes PostgreSQL ${major}. ` +
      `Start the release that created it and migrate the data, or choose another folder with SVC_DATA_DIR.`,
  );
}

/** Creates the database if the cluster does not have it. The server must not be running. */
export async function ensureDatabase(tools: ClusterTools, database: string): Promise<void> {
  const { code, output } = await runSingleUser(tools, `CREATE DATABASE "${database}" OWNER ${ROLE};\n`);
  if (code !== 0 && !output.includes(`database "${database}" already exists`)) {
    throw toolFailed("CREATE DATABASE", code, output);
  }
}

/**
 * Creates the product's role if it does not exist, revokes its superuser rights if an earlier version granted them, and
 * sets its password. The server must not be running.
 */
export async function ensureRole(tools: ClusterTools, password: string): Promise<void> {
  const literal = password.replaceAll("'", "''");
  const separate = await readFile(new URL("separate-roles.sql", SQL_DIR), "utf8");
  const setUp = `${separate}\nALTER ROLE ${ROLE} CREATEDB PASSWORD '${literal}';\n`;
  const { code, output } = await runSingleUser(tools, setUp);
  if (code !== 0) throw toolFailed("ALTER ROLE", code, output);
}

/** Changes the owner of a database from the superuser to the product's role. The server must not be running. */
export async function changeDatabaseOwner(tools: ClusterTools, database: string): Promise<void> {
  const own = await readFile(new URL("own-objects.sql", SQL_DIR), "utf8");
  const { code, output } = await runSingleUser(tools, own, database);
  if (code !== 0) throw toolFailed("ALTER DATABASE", code, output);
}

/** Reads the role's password; null if there is none yet. */
export async function readPassword(dataDir: string): Promise<string | null> {
  const password = await nullIfMissing(readFile(join(dataDir, PASSWORD_FILE), "utf8"));
  return password === null || password.trim() === "" ? null : password.trim();
}

/** Returns the SHA-256 of a password, which identifies 192 random bits without revealing them. */
export function markOfPassword(password: string): string {
  return createHash("sha256").update(password).digest("hex");
}

/** Creates a password of 192 random bits that needs no quoting in a URL. */
export function newPassword(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * Saves the password in `postgres-password`, which only its owner can read (mode 0600). If root starts the product in
 * another user's folder, the file belongs to that user, who owns the database as well.
 */
export async function writePassword(dataDir: string, password: string): Promise<void> {
  const file = join(dataDir, PASSWORD_FILE);
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${password}\n`);
    const folder = await stat(dataDir);
    if (process.getuid?.() === 0) await handle.chown(folder.uid, folder.gid);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

/** Restricts the password file to its owner, in case a copy or a restore changed its mode. */
export async function protectPassword(dataDir: string): Promise<void> {
  if (process.platform !== "win32") await chmod(join(dataDir, PASSWORD_FILE), 0o600);
}

async function removeStaging(dataDir: string): Promise<void> {
  const left = (await readdir(dataDir)).filter((name) => name.startsWith(STAGING_PREFIX));
  for (const name of left) await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Runs SQL, with statements separated by blank lines, in Postgres' single-user mode, which needs neither a server nor a
 * password.
 */
async function runSingleUser(
  { dataDir, binaries, account }: ClusterTools,
  sql: string,
  database = "postgres",
): Promise<{ code: number | null; output: string }> {
  const cwd = clusterDirOf(dataDir);
  return runTool(binaries.postgres, singleUserArguments(cwd, database), { cwd, account, input: sql });
}

function toolFailed(what: string, code: number | null, output: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "tool_failed",
    `${what} failed (exit code ${code}). PostgreSQL says: ${output.trim()} ` +
      `Common causes are insufficient disk space and missing permissions for the data folder.`,
  );
}
