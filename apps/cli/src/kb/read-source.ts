import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { KB_LIMITS, ServiceError } from "@svc/contracts";
import type { FileToIngest, PageFetcher } from "@svc/knowledge";
import type { Source } from "./find-sources.ts";
import { badFile, faultOfPath } from "./read-fault.ts";

const MB = 1024 * 1024;

async function readBytes(path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw badFile("is not a regular file");
    if (found.size > KB_LIMITS.fileMaxBytes) {
      const size = `${Math.ceil(found.size / MB)} MB; the maximum is ${KB_LIMITS.fileMaxBytes / MB} MB`;
      throw badFile(`has ${size}. Split it into several files`);
    }
    return await readFile(path);
  } catch (error) {
    throw faultOfPath(error);
  }
}

/** What a page would be called as a file: the end of its path, else its host. */
function nameOfPage(address: string): string {
  const { pathname, hostname } = new URL(address);
  return pathname.split("/").findLast((part) => part !== "") ?? hostname;
}

/**
 * Reads a file or fetches a page, whole. Throws CliError with the reason why it cannot be read, and the reason of the
 * signal when a fetch is given up.
 */
export async function readSource(source: Source, fetcher: PageFetcher, signal: AbortSignal): Promise<FileToIngest> {
  if (source.kind === "file") {
    return { key: source.key, name: basename(source.path), bytes: await readBytes(source.path) };
  }
  try {
    const { url, bytes, mime } = await fetcher.fetch(source.url, signal);
    return { key: source.key, name: nameOfPage(url), bytes, url, ...(mime === null ? {} : { mime }) };
  } catch (error) {
    // Whatever keeps a page from being fetched concerns that page alone, also where it may pass.
    throw error instanceof ServiceError ? badFile(error.message, error) : error;
  }
}
