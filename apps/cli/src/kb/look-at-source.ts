import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { PageFetcher } from "@svc/knowledge";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { safeLine } from "../safe-text.ts";
import { findSiteSources } from "./find-site-sources.ts";
import { documentKeyOf, findFolderSources, isWebAddress } from "./find-sources.ts";
import type { FoundSources } from "./find-sources.ts";
import { faultOfPath } from "./read-fault.ts";
import { scopeOfFolder, scopeOfSitemap } from "./source-scope.ts";
import type { SourceScope } from "./source-scope.ts";

/** A folder or site as it is now. */
export interface SourceState {
  found: FoundSources;
  /** Tells by its key whether a document comes from it. */
  isOfSource: SourceScope;
  /** Why nothing may be removed although it was not found: the source was not seen in full. Null when it was. */
  notRemoved: string | null;
}

const usage = (message: string) => new CliError("usage", EXIT.usage, message);

/** Nothing was found where documents should be: more likely a fault than the wish to have none. */
function nothingFound(source: string, why: string): CliError {
  const text = `There is nothing to read in ${safeLine(source, 200)}${why}. Nothing was changed or removed.`;
  return new CliError("nothing_found", EXIT.failed, text);
}

async function lookAtFolder(cli: Cli, source: string): Promise<SourceState> {
  const folderKey = documentKeyOf(cli.folder, source);
  if (folderKey === "") {
    throw usage(
      "Name the folder from the one above it: documents are known by their path, which has to hold its name.",
    );
  }
  const entry = await stat(resolve(cli.folder, source)).catch((error: unknown) => {
    throw nothingFound(source, `: ${faultOfPath(error).message}`);
  });
  if (!entry.isDirectory()) throw usage("Only a folder or a site can be kept in step; add a single file with kb add.");
  const found = await findFolderSources(cli.folder, source);
  if (found.sources.length === 0) throw nothingFound(source, "");
  const notRemoved = found.failed.length === 0 ? null : "parts of the folder could not be looked at";
  return { found, isOfSource: scopeOfFolder(folderKey), notRemoved };
}

async function lookAtSite(
  cli: Cli,
  source: string,
  { fetcher, ...options }: { fetcher: PageFetcher; maxPages: number; signal: AbortSignal },
): Promise<SourceState> {
  const { isCut, ...found } = await findSiteSources(cli, fetcher, source, options);
  if (found.sources.length === 0) throw nothingFound(source, found.failed.map(({ error }) => `: ${error}`).join(""));
  const reasons = [
    ...(isCut ? ["there may be more pages than were taken"] : []),
    ...(found.failed.length > 0 ? ["a part of the sitemap could not be read"] : []),
  ];
  const pages = found.sources.map(({ key }) => key);
  return { found, isOfSource: scopeOfSitemap(source, pages), notRemoved: reasons[0] ?? null };
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
