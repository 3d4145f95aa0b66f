import { readdir, realpath, stat } from "node:fs/promises";
import { extname, join } from "node:path";
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
}

/**
 * Looks through a folder and those in it, by name. Left out are hidden files and folders (which `.git` is),
 * `node_modules`, and files with an ending that is not read. Links are followed, each folder is looked at once, so that
 * links in a circle end. Throws CliError when the folder itself cannot be read.
 */
export async function walkFolder(folder: string): Promise<FolderContent> {
  const content: FolderContent = { files: [], skipped: new Map(), unread: [] };
  const seen = new Set<string>();

  async function look(path: string, name: string): Promise<void> {
    const found = await stat(path);
    if (found.isDirectory()) {
      if (!FOREIGN_FOLDERS.has(name)) await walk(path);
      return;
    }
    const ending = extname(name).toLowerCase();
    if (found.isFile() && ENDINGS.has(ending)) content.files.push(path);
    else content.skipped.set(ending, (content.skipped.get(ending) ?? 0) + 1);
  }

  async function walk(path: string): Promise<void> {
    const real = await realpath(path);
    if (seen.has(real)) return;
    seen.add(real);
    const names = (await readdir(path)).filter((name) => !name.startsWith(".")).toSorted();
    for (const name of names) {
      const inside = join(path, name);
      try {
        await look(inside, name);
      } catch (error) {
        content.unread.push({ path: inside, error: faultOfPath(error).message });
      }
    }
  }

  try {
    await walk(folder);
  } catch (error) {
    throw faultOfPath(error);
  }
  return content;
}
