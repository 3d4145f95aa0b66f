import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { extname, isAbsolute, join, relative, sep } from "node:path";
import { faultOfPath } from "./read-fault.ts";

/** Endings of the files of a folder that are taken; a file that is named by itself may have any. */
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

/** Folders of other people's code. */
const FOREIGN_FOLDERS: ReadonlySet<string> = new Set(["node_modules"]);

/** Something in a folder that could not be looked at. */
export interface UnreadPath {
  path: string;
  error: string;
}

/** What a folder holds. */
export interface FolderContent {
  /** Paths of the files that can be read, each beginning with the folder's. */
  files: string[];
  /** Of the files that were left out: how many have each ending, in lower case with its dot; empty for none. */
  skipped: Map<string, number>;
  unread: UnreadPath[];
  /** Links that were left out, since what they lead to lies outside of the folder. */
  linksOut: string[];
}

/** Whether a path lies in a folder, or is it; both without links. */
function isInside(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/**
 * Looks through a folder and those in it, by name. Left out are hidden files and folders (which `.git` is),
 * `node_modules`, and files with an ending that is not read. Links are followed where they stay in the folder: whoever
 * put one there need not have the right to read what this user may. Each folder is looked at once, so that links in a
 * circle end, and by its own path rather than that of a link, so that a new link changes no other path. Throws CliError
 * when the folder itself cannot be read.
 */
export async function walkFolder(folder: string): Promise<FolderContent> {
  const content: FolderContent = { files: [], skipped: new Map(), unread: [], linksOut: [] };
  const seen = new Set<string>();
  const linkedFolders: string[] = [];

  async function look(path: string, name: string, root: string): Promise<void> {
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
    for (const name of names) await note(join(path, name), (inside) => look(inside, name, root));
  }

  async function note(path: string, work: (path: string) => Promise<void>): Promise<void> {
    try {
      await work(path);
    } catch (error) {
      content.unread.push({ path, error: faultOfPath(error).message });
    }
  }

  try {
    const root = await realpath(folder);
    await walk(folder, root);
    // Each may hold further links, which then stand at the end.
    for (const linked of linkedFolders) await note(linked, (path) => walk(path, root));
  } catch (error) {
    throw faultOfPath(error);
  }
  return content;
}
