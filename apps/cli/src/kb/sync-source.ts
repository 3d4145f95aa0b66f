import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ServiceError, parseUrl } from "@svc/contracts";
import type { DocumentItem } from "@svc/contracts";
import { createPageFetcher, siteOf } from "@svc/knowledge";
import type { PageFetcher } from "@svc/knowledge";
import { errorCode } from "@svc/primitives";
import { createFetchGuard } from "@svc/runtime";
import { bindOperations, findKb, listAllDocuments } from "../as-administrator.ts";
import type { BoundOperations, OperationContext } from "../as-administrator.ts";
import { EXIT, failure, untilAborted, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { addFound } from "./add-sources.ts";
import { documentKeyOf, errorOfPath, findFolderSources, findSiteSources, isWebAddress } from "./find-sources.ts";
import type { FoundSources } from "./find-sources.ts";
import {
  joinLines,
  renderAdded,
  renderLinksOut,
  renderNames,
  renderSkipped,
  renderSummary,
  summarize,
} from "./render-kb.ts";
import type { AddedFile } from "./render-kb.ts";
import { confirm } from "../read-input.ts";
import { safeLine } from "../terminal.ts";
import { localPrincipal, withResources } from "../with-resources.ts";

/** Returns the URL of a key; null for any other key. */
const parsePage = (key: string): URL | null => (isWebAddress(key) ? parseUrl(key) : null);

/**
 * Returns the page of a URL: a site may be written with and without "www.", with http and https. Returns any other
 * key unchanged.
 */
export function pageIdOf(key: string): string {
  const url = parsePage(key);
  return url === null ? key : `${siteOf(url)}${url.pathname}${url.search}`;
}

/** Decides by its key whether a document comes from a source. */
type SourceScope = (key: string) => boolean;

/** Matches everything in the folder with this key. The key must not be empty, which would match everything. */
export function scopeOfFolder(folderKey: string): SourceScope {
  const prefix = folderKey.endsWith("/") ? folderKey : `${folderKey}/`;
  return (key) => key.startsWith(prefix);
}

/** Returns the folder of a URL, with its final slash. */
const folderOf = ({ pathname }: URL) => pathname.slice(0, pathname.lastIndexOf("/") + 1);

/**
 * Matches the pages that a sitemap is responsible for: those in its own folder and below (sitemaps.org, "Sitemap file
 * location"), or its whole site if it lists a page elsewhere, as sitemaps in robots.txt may.
 */
export function scopeOfSitemap(sitemap: string, pages: readonly string[]): SourceScope {
  const start = new URL(sitemap);
  const site = siteOf(start);
  const isBelow = (page: URL, folder: string) => siteOf(page) === site && page.pathname.startsWith(folder);
  const own = folderOf(start);
  const folder = pages.every((page) => isBelow(new URL(page), own)) ? own : "/";
  return (key) => {
    const page = parsePage(key);
    return page !== null && isBelow(page, folder);
  };
}

/** The current state of a folder or site. */
interface SourceState {
  found: FoundSources;
  /** Decides by its key whether a document comes from this source. */
  isOfSource: SourceScope;
  /**
   * Returns true if a document that was not found may still exist: a file that was skipped for its name, its
   * extension or as a link, or that cannot be read, a page that robots.txt forbids, and one without a link to it.
   */
  isStillThere: (key: string) => Promise<boolean>;
  /** Why missing documents must not be removed: the source could not be read completely. Null if it could. */
  notRemoved: string | null;
}

/** Codes of Node for a path that does not exist. */
const NOT_THERE: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR"]);

/** Returns true if a file exists or may exist. */
async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    return !NOT_THERE.has(errorCode(error));
  }
}

/** Returns the error of a source without documents, which is probably a mistake. */
function nothingFound(source: string, why: string): Error {
  const text = `No documents found in ${safeLine(source, 200)}${why}. Nothing was changed or removed.`;
  return failure("nothing_found", text);
}

async function readFolderState(cli: Cli, source: string): Promise<SourceState> {
  const folderKey = documentKeyOf(cli.folder, source);
  if (folderKey === "") {
    throw usageError(
      "Run this command from the parent folder: documents are identified by their path, which must contain the folder's name.",
    );
  }
  const entry = await stat(resolve(cli.folder, source)).catch((error: unknown) => {
    throw nothingFound(source, `: ${errorOfPath(error).message}`);
  });
  if (!entry.isDirectory())
    throw usageError("Only a folder or a site can be synchronized. To add a single file, use kb add.");
  const found = await findFolderSources(cli.folder, source);
  if (found.sources.length === 0) throw nothingFound(source, "");
  const notRemoved = found.failed.length === 0 ? null : "parts of the folder could not be read";
  const isStillThere = (key: string) => isFile(resolve(cli.folder, key));
  return { found, isOfSource: scopeOfFolder(folderKey), isStillThere, notRemoved };
}

async function readSiteState(
  cli: Cli,
  source: string,
  { fetcher, ...options }: { fetcher: PageFetcher; maxPages: number; signal: AbortSignal },
): Promise<SourceState> {
  const { isCut, isByLinks, forbidden, ...found } = await findSiteSources(cli, fetcher, source, options);
  if (found.sources.length === 0) throw nothingFound(source, found.failed.map(({ error }) => `: ${error}`).join(""));
  const reasons = [
    ...(isCut ? ["there may be more pages than the maximum"] : []),
    ...(found.failed.length > 0 ? ["a part of the site could not be read"] : []),
  ];
  const pages = found.sources.map(({ key }) => key);
  const left = new Set(forbidden.map(pageIdOf));
  const { isPageGone } = await import("@svc/knowledge");
  /** Links are no list of all pages: a page to which none leads stays as long as the site has it. */
  const isServed = async (key: string) => {
    try {
      await fetcher.fetch(key, options.signal);
      return true;
    } catch (error) {
      options.signal.throwIfAborted();
      return !isPageGone(error);
    }
  };
  const isStillThere = async (key: string) => left.has(pageIdOf(key)) || (isByLinks && (await isServed(key)));
  return { found, isOfSource: scopeOfSitemap(source, pages), isStillThere, notRemoved: reasons[0] ?? null };
}

/**
 * Reads a folder, or a site by its sitemap or its links. Throws CliError if it is empty, so that an empty folder or an unreachable
 * site empties no knowledge base, and `usage` if it is neither.
 */
function readSourceState(
  cli: Cli,
  source: string,
  options: { fetcher: PageFetcher; maxPages: number; signal: AbortSignal },
): Promise<SourceState> {
  return isWebAddress(source) ? readSiteState(cli, source, options) : readFolderState(cli, source);
}

/** A document that was removed. */
interface RemovedDocument {
  documentId: string;
  key: string;
}

/** Removes documents, one after the other. A document that another operator has just removed is not in the result. */
export async function removeDocuments(
  { deleteDocument }: BoundOperations,
  documents: Iterable<DocumentItem>,
): Promise<RemovedDocument[]> {
  const removed: RemovedDocument[] = [];
  for (const { id, kbId, key } of documents) {
    try {
      await deleteDocument(kbId, id);
      removed.push({ documentId: id, key });
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
    }
  }
  return removed;
}

/** Options of `kb sync`. */
interface SyncOptions {
  kb: string;
  project: string;
  maxPages: number;
  dryRun: true | undefined;
  /** Removes any number of documents without confirmation. */
  yes: true | undefined;
}

/** Plan of a synchronization. */
interface Plan {
  source: string;
  state: SourceState;
  /** Current documents of the knowledge base; empty if it does not exist yet. */
  present: DocumentItem[];
  /** Those that come from the source. */
  ofSource: DocumentItem[];
  /** Those that the source no longer has. */
  gone: DocumentItem[];
  /** Keys of those that were skipped but still exist. */
  stay: string[];
  /** Why `gone` is not removed; null if it is removed, or empty. */
  kept: string | null;
}

/** Number of documents that may be removed without confirmation; above it, half of the source's documents. */
const UNCONFIRMED_COUNT = 10;

async function listPresent(operations: BoundOperations, kb: string): Promise<DocumentItem[]> {
  const found = await findKb(operations, kb);
  return found === null ? [] : listAllDocuments(operations, found.id);
}

async function makePlan(source: string, state: SourceState, present: DocumentItem[]): Promise<Plan> {
  const { found, isOfSource, isStillThere, notRemoved } = state;
  const keys = new Set(found.sources.map(({ key }) => key));
  const ofSource = present.filter(({ key }) => isOfSource(key));
  const gone: DocumentItem[] = [];
  const stay: string[] = [];
  for (const document of ofSource.filter(({ key }) => !keys.has(key))) {
    if (await isStillThere(document.key)) stay.push(document.key);
    else gone.push(document);
  }
  const isKept = notRemoved !== null && gone.length > 0;
  const kept = isKept ? `Nothing was removed, because ${notRemoved}: ${gone.length} kept.` : null;
  return { source, state, present, ofSource, gone, stay, kept };
}

/** Returns the question to confirm; null if none is needed. A source with few documents left may be broken. */
function questionOf({ kb }: SyncOptions, { source, ofSource, gone, kept }: Plan): string | null {
  if (kept !== null || gone.length <= UNCONFIRMED_COUNT || gone.length * 2 <= ofSource.length) return null;
  const known = `the ${ofSource.length} documents of ${safeLine(source, 200)} in "${safeLine(kb, 80)}"`;
  return `${gone.length} of ${known} no longer exist. Remove ${gone.length} documents?`;
}

/** Returns in a line the documents that still exist although the source skipped them; null if there are none. */
function renderStay(stay: readonly string[]): string | null {
  if (stay.length === 0) return null;
  return `Skipped and kept unchanged: ${renderNames(stay)}.`;
}

/** Shows the plan. Whether a file has changed is unknown before it is read. */
function showPlan({ terminal }: Cli, options: SyncOptions, plan: Plan): void {
  const { kb, project, yes = false } = options;
  const known = new Set(plan.present.map(({ key }) => key));
  const { sources, failed, linksOut } = plan.state.found;
  const fresh = sources.flatMap(({ key }) => (known.has(key) ? [] : [key]));
  const gone = plan.state.notRemoved === null ? plan.gone.map(({ key }) => key) : [];
  const compared = sources.length - fresh.length;
  const { source, kept, stay } = plan;
  const asks = !yes && questionOf(options, plan) !== null;
  terminal.show(
    { ok: true, isDryRun: true, project, kb, source, new: fresh, compared, gone, asks, kept, stay, failed, linksOut },
    () =>
      joinLines([
        ...failed.map(({ file, error }) => `failed        ${safeLine(file)}: ${safeLine(error)}`),
        ...fresh.map((key) => `would add     ${safeLine(key)}`),
        ...gone.map((key) => `would remove  ${safeLine(key)}`),
        renderLinksOut(linksOut),
        renderStay(stay),
        kept,
        `Nothing was changed: ${fresh.length} to add, ${compared} to compare, ${gone.length} to remove.`,
        asks ? "This is more than half, so removing them requires confirmation or --yes." : null,
      ]),
  );
}

/** Returns the documents that may be removed. A page whose URL has changed stays until it was read at the new one. */
function findRemovable({ gone, kept }: Plan, files: readonly AddedFile[]): DocumentItem[] {
  if (kept !== null) return [];
  const failed = new Set(files.flatMap(({ file, status }) => (status === "failed" ? [pageIdOf(file)] : [])));
  return gone.filter(({ key }) => !failed.has(pageIdOf(key)));
}

async function applyPlan(
  cli: Cli,
  context: OperationContext,
  { kb, project }: SyncOptions,
  work: { plan: Plan; fetcher: PageFetcher; signal: AbortSignal },
): Promise<void> {
  const { plan, fetcher, signal } = work;
  const { source, state, kept, stay } = plan;
  const { found } = state;
  const files = await addFound(cli, context, { kb, found, fetcher, signal });
  const isInterrupted = signal.aborted;
  const removable = isInterrupted ? [] : findRemovable(plan, files);
  const removed = await removeDocuments(await bindOperations(context), removable);
  const summary = { ...summarize(files), removed: removed.length };
  const isComplete = summary.failed === 0 && !isInterrupted && kept === null;
  if (!isComplete) cli.setExitCode(isInterrupted ? EXIT.interrupted : EXIT.failed);
  const { skipped, linksOut } = found;
  const outcome = { ok: isComplete, isDryRun: false, project, kb, source, summary, files, removed, kept, stay };
  cli.terminal.show({ ...outcome, skipped, linksOut, isInterrupted }, () =>
    joinLines([
      renderAdded(files, cli.terminal),
      ...removed.map(({ key }) => `removed  ${safeLine(key)}`),
      renderSummary(summary),
      renderSkipped(skipped),
      renderLinksOut(linksOut),
      renderStay(stay),
      kept,
      isInterrupted ? "Interrupted. Nothing was removed. Run the same command to resume." : null,
    ]),
  );
}

/** Asks for confirmation of the removals of a plan. Throws CliError `usage` if standard input is not a terminal. */
async function isAgreed(cli: Cli, options: SyncOptions, plan: Plan, signal: AbortSignal): Promise<boolean> {
  const question = options.yes === true ? null : questionOf(options, plan);
  return question === null || untilAborted(() => confirm(cli, question, "--yes"), signal);
}

/** `svc kb sync`: adds, replaces and removes documents so that a knowledge base matches a folder or site. */
export async function syncSource(cli: Cli, source: string, options: SyncOptions): Promise<void> {
  const { kb, project } = options;
  await withResources(cli, { endsItself: true }, async (resources, signal) => {
    const context = { principal: await localPrincipal(resources.store, project), resources };
    const fetcher = createPageFetcher({ guard: createFetchGuard(resources.config) });
    try {
      const state = await readSourceState(cli, source, { fetcher, maxPages: options.maxPages, signal });
      const plan = await makePlan(source, state, await listPresent(await bindOperations(context), kb));
      if (options.dryRun === true) showPlan(cli, options, plan);
      else if (await isAgreed(cli, options, plan, signal)) {
        await applyPlan(cli, context, options, { plan, fetcher, signal });
      } else {
        cli.terminal.show(
          { ok: false, isDryRun: false, project, kb, source, removed: [] },
          () => "Nothing was changed or removed.",
        );
      }
    } finally {
      await fetcher.close();
    }
  });
}
