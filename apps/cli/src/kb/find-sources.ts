import { stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { faultOfPath } from "./read-fault.ts";
import { walkFolder } from "./walk-folder.ts";

/** Something that becomes a document: `name` is what the person called it, `key` what the document is known as. */
export type Source =
  | { kind: "file"; name: string; key: string; path: string }
  | { kind: "page"; name: string; key: string; url: string };

/** What words on the command line, or a sitemap, lead to. */
export interface FoundSources {
  /** Each key once. */
  sources: Source[];
  /** What was named or lies in a folder, and cannot be looked at. */
  failed: { file: string; error: string }[];
  /** How many files of folders were left out because of their ending. */
  skipped: Record<string, number>;
}

/** The name under which a file is known: its path from the folder, with forward slashes; its full path if it lies outside. */
export function documentKeyOf(folder: string, file: string): string {
  const path = resolve(folder, file);
  const inside = relative(folder, path);
  const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return (isOutside ? path : inside).split(sep).join("/");
}

/** Whether a word of the command line is an address and not a path. */
export const isWebAddress = (word: string): boolean => /^https?:\/\//i.test(word);

/** The name under which a page is known: its address without a fragment. Null for what is no address. */
export function pageKeyOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  url.hash = "";
  return url.href;
}

/** A page as a source. Throws CliError `usage` for what is no address. */
export function pageSource(address: string): Source {
  const key = pageKeyOf(address);
  if (key === null) throw new CliError("usage", EXIT.usage, "it is no valid URL; check it for typing errors");
  return { kind: "page", name: address, key, url: key };
}

/** Finds everything that a folder holds, as sources. Throws CliError when it cannot be read. */
export async function findFolderSources(folder: string, word: string): Promise<FoundSources> {
  const { files, skipped, unread } = await walkFolder(resolve(folder, word));
  return {
    sources: files.map((path) => {
      const key = documentKeyOf(folder, path);
      return { kind: "file", name: key, key, path };
    }),
    failed: unread.map(({ path, error }) => ({ file: documentKeyOf(folder, path), error })),
    skipped: Object.fromEntries(skipped),
  };
}

async function findOne(folder: string, word: string): Promise<FoundSources> {
  if (isWebAddress(word)) return { sources: [pageSource(word)], failed: [], skipped: {} };
  const path = resolve(folder, word);
  if ((await stat(path)).isDirectory()) return findFolderSources(folder, word);
  return { sources: [{ kind: "file", name: word, key: documentKeyOf(folder, path), path }], failed: [], skipped: {} };
}

/** Finds what words name: files, folders with all that is in them, and addresses. A word that leads nowhere is a failure. */
export async function findSources(folder: string, words: readonly string[]): Promise<FoundSources> {
  const sources = new Map<string, Source>();
  const failed: FoundSources["failed"] = [];
  const skipped: Record<string, number> = {};
  for (const word of words) {
    try {
      const found = await findOne(folder, word);
      for (const source of found.sources) if (!sources.has(source.key)) sources.set(source.key, source);
      failed.push(...found.failed);
      for (const [ending, count] of Object.entries(found.skipped)) skipped[ending] = (skipped[ending] ?? 0) + count;
    } catch (error) {
      failed.push({ file: word, error: faultOfPath(error).message });
    }
  }
  return { sources: [...sources.values()], failed, skipped };
}
