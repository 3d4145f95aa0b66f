import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { PageFetcher } from "@svc/knowledge";
import { errorCode } from "@svc/primitives";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { safeLine } from "../safe-text.ts";
import { findSiteSources } from "./find-site-sources.ts";
import { documentKeyOf, findFolderSources, isWebAddress } from "./find-sources.ts";
import type { FoundSources } from "./find-sources.ts";
import { faultOfPath } from "./read-fault.ts";
import { pageIdOf, scopeOfFolder, scopeOfSitemap } from "./source-scope.ts";
import type { SourceScope } from "./source-scope.ts";

/** A folder or site as it is now. */
export interface SourceState {
  found: FoundSources;
  /** Tells by its key whether a document comes from it. */
  isOfSource: SourceScope;
  /**
   * Whether a document that was not found is still there all the same: a file that was left out for its name, its ending
   * or as a link, or may not be looked at, and a page that robots.txt forbids.
   */
  isStillThere: (key: string) => Promise<boolean>;
  /** Why nothing may be removed although it was not found: the source was not seen in full. Null when it was. */
  notRemoved: string | null;
}

/** Codes of Node for a path that is not there. */
const NOT_THERE: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR"]);

/** Whether there is a file, or there may be one. */
async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    return !NOT_THERE.has(errorCode(error));
  }
}

const usage = (message: string) => new CliError("usage", EXIT.usage, message);

/** Nothing was found where documents should be: more likely a fault than the wish to have none. */
function nothingFound(source: string, why: string): CliError {
  const text = `No documents found in ${safeLine(source, 200)}${why}. Nothing was changed or removed.`;
  return new CliError("nothing_found", EXIT.failed, text);
}

async function lookAtFolder(cli: Cli, source: string): Promise<SourceState> {
  const folderKey = documentKeyOf(cli.folder, source);
  if (folderKey === "") {
    throw usage(
      "Run this command from the parent folder: documents are identified by their path, which must contain the folder's name.",
    );
  }
  const entry = await stat(resolve(cli.folder, source)).catch((error: unknown) => {
    throw nothingFound(source, `: ${faultOfPath(error).message}`);
  });
  if (!entry.isDirectory())
    throw usage("Only a folder or a site can be synchronized. To add a single file, use kb add.");
  const found = await findFolderSources(cli.folder, source);
  if (found.sources.length === 0) throw nothingFound(source, "");
  const notRemoved = found.failed.length === 0 ? null : "parts of the folder could not be read";
  const isStillThere = (key: string) => isFile(resolve(cli.folder, key));
  return { found, isOfSource: scopeOfFolder(folderKey), isStillThere, notRemoved };
}

async function lookAtSite(
  cli: Cli,
  source: string,
  { fetcher, ...options }: { fetcher: PageFetcher; maxPages: number; signal: AbortSignal },
): Promise<SourceState> {
  const { isCut, forbidden, ...found } = await findSiteSources(cli, fetcher, source, options);
  if (found.sources.length === 0) throw nothingFound(source, found.failed.map(({ error }) => `: ${error}`).join(""));
  const reasons = [
    ...(isCut ? ["there may be more pages than the maximum"] : []),
    ...(found.failed.length > 0 ? ["a part of the sitemap could not be read"] : []),
  ];
  const pages = found.sources.map(({ key }) => key);
  const left = new Set(forbidden.map(pageIdOf));
  const isStillThere = (key: string) => Promise.resolve(left.has(pageIdOf(key)));
  return { found, isOfSource: scopeOfSitemap(source, pages), isStillThere, notRemoved: reasons[0] ?? null };
}

/**
 * Looks at a folder, or at a site by its sitemap. Throws CliError where nothing is found, so that an empty folder or a
 * site that is away empties no knowledge base, and `usage` for what is neither.
 */
export function lookAtSource(
  cli: Cli,
  source: string,
  options: { fetcher: PageFetcher; maxPages: number; signal: AbortSignal },
): Promise<SourceState> {
  return isWebAddress(source) ? lookAtSite(cli, source, options) : lookAtFolder(cli, source);
}
