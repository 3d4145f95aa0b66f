import { stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { parseUrl } from "@svc/contracts";
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
  /** Links of folders that were left out, since they lead out of them. */
  linksOut: string[];
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
  const url = parseUrl(address);
  if (url === null) return null;
  url.hash = "";
  return url.href;
}

/** A page as a source. Throws CliError `usage` for what is no address. */
export function pageSource(address: string): Source {
  const key = pageKeyOf(address);
  if (key === null) throw new CliError("usage", EXIT.usage, "is not a valid URL; check it for typos");
  return { kind: "page", name: address, key, url: key };
}

/** Finds everything that a folder holds, as sources. Throws CliError when it cannot be read. */
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

/** Puts what several places hold together, each key once. */
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

/** Finds what words name: files, folders with all that is in them, and addresses. A word that leads nowhere is a failure. */
export async function findSources(folder: string, words: readonly string[]): Promise<FoundSources> {
  const parts: FoundSources[] = [];
  for (const word of words) {
    try {
      parts.push(await findOne(folder, word));
    } catch (error) {
      const failed = [{ file: word, error: faultOfPath(error).message }];
      parts.push({ sources: [], failed, skipped: {}, linksOut: [] });
    }
  }
  return joinFound(parts);
}
