import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ServiceError, parseUrl } from "@svc/contracts";
import type { PageFetcher } from "@svc/knowledge";
import { errorCode } from "@svc/primitives";
import { CliError, failure, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { safeLine } from "../terminal.ts";

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "is a link that leads to itself",
};

/** Returns the error of a file that cannot become a document, with the reason as half a sentence. */
export const badFile = (message: string, cause?: unknown): CliError => failure("bad_file", message, { cause });

/** Returns why a path cannot be read, as a CliError. Rethrows errors that are not about the path. */
export function errorOfPath(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const code = errorCode(error);
  const reason = code === undefined ? undefined : READ_ERRORS[code];
  if (reason === undefined) throw error;
  return badFile(reason, error);
}

/** Extensions of the files of a folder that are added; a file named by itself may have any. */
const ENDINGS: ReadonlySet<string> = new Set([
  ".md",
  ".markdown",
  ".mdx",
  ".mkd",
  ".txt",
  ".text",
  ".html",
  ".htm",
  ".xhtml",
  ".pdf",
  ".docx",
  ".xlsx",
  ".csv",
  ".tsv",
]);

/** Folders of third-party code. */
const FOREIGN_FOLDERS: ReadonlySet<string> = new Set(["node_modules"]);

/** An entry of a folder that could not be read. */
interface UnreadPath {
  path: string;
  error: string;
}

/** Contents of a folder. */
interface FolderContent {
  /** Paths of the readable files, each beginning with the folder's. */
  files: string[];
  /** Number of skipped files by extension, in lower case with its dot; empty for none. */
  skipped: Map<string, number>;
  unread: UnreadPath[];
  /** Skipped links whose targets are outside of the folder. */
  linksOut: string[];
}

/** Returns true if a path is a folder or inside it. Both paths must be free of links. */
function isInside(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/**
 * Walks a folder and its subfolders, by name. Skips hidden files and folders (such as `.git`), `node_modules`, and
 * files with other extensions. Follows links that stay in the folder: the person who created a link may not be
 * allowed to read what this user can read. Each folder is read once, so that link cycles end, and under its own path
 * rather than that of a link, so that a new link changes no other path. Throws CliError if the folder itself cannot
 * be read.
 */
export async function walkFolder(folder: string): Promise<FolderContent> {
  const content: FolderContent = { files: [], skipped: new Map(), unread: [], linksOut: [] };
  const seen = new Set<string>();
  const linkedFolders: string[] = [];

  async function visit(path: string, name: string, root: string): Promise<void> {
    const isLink = (await lstat(path)).isSymbolicLink();
    if (isLink && !isInside(await realpath(path), root)) {
      content.linksOut.push(path);
      return;
    }
    const found = await stat(path);
    if (found.isDirectory()) {
      if (FOREIGN_FOLDERS.has(name)) return;
      if (isLink) linkedFolders.push(path);
      else await walk(path, root);
      return;
    }
    const ending = extname(name).toLowerCase();
    if (found.isFile() && ENDINGS.has(ending)) content.files.push(path);
    else content.skipped.set(ending, (content.skipped.get(ending) ?? 0) + 1);
  }

  async function walk(path: string, root: string): Promise<void> {
    const real = await realpath(path);
    if (seen.has(real)) return;
    seen.add(real);
    const names = (await readdir(path)).filter((name) => !name.startsWith(".")).toSorted();
    for (const name of names) await note(join(path, name), (inside) => visit(inside, name, root));
  }

  async function note(path: string, work: (path: string) => Promise<void>): Promise<void> {
    try {
      await work(path);
    } catch (error) {
      content.unread.push({ path, error: errorOfPath(error).message });
    }
  }

  try {
    const root = await realpath(folder);
    await walk(folder, root);
    // Each may have further links, which are appended.
    for (const linked of linkedFolders) await note(linked, (path) => walk(path, root));
  } catch (error) {
    throw errorOfPath(error);
  }
  return content;
}

/** A source of a document: `name` is the user's name for it, `key` that of the document. */
export type Source =
  | { kind: "file"; name: string; key: string; path: string }
  | { kind: "page"; name: string; key: string; url: string };

/** Sources named by arguments of the command line or by a sitemap. */
export interface FoundSources {
  /** Unique by key. */
  sources: Source[];
  /** Named paths and entries of folders that cannot be read. */
  failed: { file: string; error: string }[];
  /** Number of files that were skipped because of their extension. */
  skipped: Record<string, number>;
  /** Skipped links of folders, which point outside of them. */
  linksOut: string[];
}

/**
 * Returns the key of a file: its path relative to the folder, with forward slashes; its full path if it is outside.
 */
export function documentKeyOf(folder: string, file: string): string {
  const path = resolve(folder, file);
  const inside = relative(folder, path);
  const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return (isOutside ? path : inside).split(sep).join("/");
}

/** Returns true if an argument is a URL and not a path. */
export const isWebAddress = (word: string): boolean => /^https?:\/\//i.test(word);

/** Returns the key of a page: its URL without a fragment. Null if it is not a URL. */
export function pageKeyOf(address: string): string | null {
  const url = parseUrl(address);
  if (url === null) return null;
  url.hash = "";
  return url.href;
}

/** Returns a page as a source. Throws CliError `usage` if it is not a URL. */
function pageSource(address: string): Source {
  const key = pageKeyOf(address);
  if (key === null) throw usageError("is not a valid URL; check it for typos");
  return { kind: "page", name: address, key, url: key };
}

/** Returns the contents of a folder as sources. Throws CliError if it cannot be read. */
export async function findFolderSources(folder: string, word: string): Promise<FoundSources> {
  const { files, skipped, unread, linksOut } = await walkFolder(resolve(folder, word));
  return {
    sources: files.map((path) => {
      const key = documentKeyOf(folder, path);
      return { kind: "file", name: key, key, path };
    }),
    failed: unread.map(({ path, error }) => ({ file: documentKeyOf(folder, path), error })),
    skipped: Object.fromEntries(skipped),
    linksOut: linksOut.map((path) => documentKeyOf(folder, path)),
  };
}

const justOne = (source: Source): FoundSources => ({ sources: [source], failed: [], skipped: {}, linksOut: [] });

async function findOne(folder: string, word: string): Promise<FoundSources> {
  if (isWebAddress(word)) return justOne(pageSource(word));
  const path = resolve(folder, word);
  if ((await stat(path)).isDirectory()) return findFolderSources(folder, word);
  return justOne({ kind: "file", name: word, key: documentKeyOf(folder, path), path });
}

/** Merges sources, unique by key. */
export function joinFound(parts: readonly FoundSources[]): FoundSources {
  const sources = new Map<string, Source>();
  const skipped: Record<string, number> = {};
  for (const part of parts) {
    for (const source of part.sources) if (!sources.has(source.key)) sources.set(source.key, source);
    for (const [ending, count] of Object.entries(part.skipped)) skipped[ending] = (skipped[ending] ?? 0) + count;
  }
  return {
    sources: [...sources.values()],
    failed: parts.flatMap(({ failed }) => failed),
    skipped,
    linksOut: parts.flatMap(({ linksOut }) => linksOut),
  };
}

/**
 * Returns the sources that arguments name: files, folders with their contents, and URLs. An argument that does not
 * exist is a failure.
 */
export async function findSources(folder: string, words: readonly string[]): Promise<FoundSources> {
  const parts: FoundSources[] = [];
  for (const word of words) {
    try {
      parts.push(await findOne(folder, word));
    } catch (error) {
      const failed = [{ file: word, error: errorOfPath(error).message }];
      parts.push({ sources: [], failed, skipped: {}, linksOut: [] });
    }
  }
  return joinFound(parts);
}

/** Pages of a site. */
interface FoundPages extends FoundSources {
  /** True if there may be more pages than requested. */
  isCut: boolean;
  /** True if links were followed, because there is no sitemap. */
  isByLinks: boolean;
  /** Pages that the site names and robots.txt forbids. */
  forbidden: string[];
}

/**
 * Returns the pages of a site, by its sitemap or its links. Each part that cannot be read is a separate failure.
 * Rejects with the reason of the signal.
 */
export async function findSiteSources(
  cli: Cli,
  fetcher: PageFetcher,
  sitemap: string,
  { maxPages, signal }: { maxPages: number; signal: AbortSignal },
): Promise<FoundPages> {
  const failed: FoundPages["failed"] = [];
  const forbidden: string[] = [];
  let isByLinks = false;
  const fail = (file: string, { message }: ServiceError) => failed.push({ file, error: message });
  const { createFileReader, findSitePages } = await import("@svc/knowledge");
  const reader = createFileReader();
  cli.terminal.note(`Finding the pages of ${safeLine(sitemap, 200)} …`);
  try {
    const pages = await findSitePages({ fetcher, reader }, sitemap, {
      maxPages,
      signal,
      onIncomplete: fail,
      onForbidden: (page) => forbidden.push(page),
      onLinks: () => {
        isByLinks = true;
      },
    });
    const isCut = pages.length >= maxPages;
    if (isCut) cli.terminal.note(`Only the first ${maxPages} pages are added; raise --max-pages to add more.`);
    return { sources: pages.map(pageSource), failed, skipped: {}, linksOut: [], isCut, isByLinks, forbidden };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    fail(sitemap, error);
    return { sources: [], failed, skipped: {}, linksOut: [], isCut: false, isByLinks, forbidden };
  } finally {
    await reader.close();
  }
}
