import { createHash, randomBytes } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, open, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedPostgresError } from "./errors.ts";
import type { PostgresBinaries } from "./find-binaries.ts";
import { nullIfMissing } from "./null-if-missing.ts";
import type { PostgresAccount } from "./postgres-account.ts";
import { clusterArgument, singleUserArguments } from "./postgres-settings.ts";
import { runTool } from "./run-tool.ts";

/** The product's role: owns its databases, may create more of them, and is no superuser. */
export const ROLE = "svc";

/**
 * The superuser of the cluster. It has no password that anybody knows: it is used in single-user mode alone, by the user who
 * owns the files.
 */
const SUPERUSER = "postgres";

/** What gives older clusters the two roles; safe to repeat. */
const SQL_DIR = new URL("../sql/", import.meta.url);

const PASSWORD_FILE = "postgres-password";
const STAGING_PREFIX = "postgres.new-";

/** The C.UTF-8 of the C library serves LC_CTYPE; macOS and Windows have other names or none for it. */
const LOCALE_ARGUMENTS: Partial<Record<NodeJS.Platform, string[]>> = {
  linux: ["--locale=C.UTF-8"],
  darwin: ["--locale=C", "--lc-ctype=UTF-8"],
};

/** Where the cluster of a data folder lies. */
export function clusterDirOf(dataDir: string): string {
  return join(dataDir, "postgres");
}

/** Whether the data folder has a cluster that was completely made. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  return (await nullIfMissing(stat(join(clusterDirOf(dataDir), "PG_VERSION")))) !== null;
}

/**
 * Creates the cluster: UTF-8, scram-sha-256 for every connection. It is created beside its place and
 * renamed when it is complete, so that a crash in the middle leaves nothing that looks like a database.
 *
 * Sorting follows Postgres' own C.UTF-8 rather than the C library's: it is faster, and an index stays right when the
 * system is upgraded.
 *
 * Throws EmbeddedPostgresError `tool_failed` with the words of initdb.
 */
export async function createCluster(
  dataDir: string,
  binaries: PostgresBinaries,
  account: PostgresAccount,
): Promise<void> {
  await removeStaging(dataDir);
  const staging = await mkdtemp(join(dataDir, STAGING_PREFIX));
  try {
    const draft = join(staging, "cluster");
    const passwordFile = join(staging, "password");
    await mkdir(draft, { mode: 0o700 });
    // initdb requires a password; nobody keeps this one.
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
 * Throws EmbeddedPostgresError `version_mismatch` when the cluster was made by another major release, which the
 * given binaries cannot read.
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

/** Creates the database when the cluster does not have it. The server must not be running. */
export async function ensureDatabase(
  dataDir: string,
  binaries: PostgresBinaries,
  account: PostgresAccount,
  database: string,
): Promise<void> {
  const { code, output } = await runSingleUser(
    dataDir,
    binaries,
    account,
    `CREATE DATABASE "${database}" OWNER ${ROLE};\n`,
  );
  if (code !== 0 && !output.includes(`database "${database}" already exists`)) {
    throw toolFailed("CREATE DATABASE", code, output);
  }
}

/**
 * Creates the product's role where there is none, makes it a role without superuser rights where an earlier version
 * made it one, and sets its password. The server must not be running.
 */
export async function ensureRole(
  dataDir: string,
  binaries: PostgresBinaries,
  account: PostgresAccount,
  password: string,
): Promise<void> {
  const literal = password.replaceAll("'", "''");
  const separate = await readFile(new URL("separate-roles.sql", SQL_DIR), "utf8");
  const setUp = `${separate}\nALTER ROLE ${ROLE} CREATEDB PASSWORD '${literal}';\n`;
  const { code, output } = await runSingleUser(dataDir, binaries, account, setUp);
  if (code !== 0) throw toolFailed("ALTER ROLE", code, output);
}

/** Gives a database that the superuser owns to the product's role. The server must not be running. */
export async function giveDatabaseToRole(
  dataDir: string,
  binaries: PostgresBinaries,
  account: PostgresAccount,
  database: string,
): Promise<void> {
  const own = await readFile(new URL("own-objects.sql", SQL_DIR), "utf8");
  const { code, output } = await runSingleUser(dataDir, binaries, account, own, database);
  if (code !== 0) throw toolFailed("ALTER DATABASE", code, output);
}

/** Reads the role's password, or null when there is none yet. */
export async function readPassword(dataDir: string): Promise<string | null> {
  const password = await nullIfMissing(readFile(join(dataDir, PASSWORD_FILE), "utf8"));
  return password === null || password.trim() === "" ? null : password.trim();
}

/** Recognises a password without revealing it: its SHA-256, which is enough for 192 random bits. */
export function markOfPassword(password: string): string {
  return createHash("sha256").update(password).digest("hex");
}

/** Makes a password of 192 random bits that needs no quoting in a URL. */
export function newPassword(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * Keeps the password in `postgres-password`, for its owner's eyes only (mode 0600). A start as root in a folder of
 * somebody else gives the file to that user, who owns the database as well.
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

/** Takes the password file away from everybody but its owner, should a copy or a restore have opened it. */
export async function protectPassword(dataDir: string): Promise<void> {
  if (process.platform !== "win32") await chmod(join(dataDir, PASSWORD_FILE), 0o600);
}

async function removeStaging(dataDir: string): Promise<void> {
  const left = (await readdir(dataDir)).filter((name) => name.startsWith(STAGING_PREFIX));
  for (const name of left) await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 });
}

/** Runs SQL, statements apart by blank lines, in Postgres' single-user mode: neither a server nor a password is needed. */
async function runSingleUser(
  dataDir: string,
  binaries: PostgresBinaries,
  account: PostgresAccount,
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
