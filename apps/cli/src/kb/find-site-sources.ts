import { ServiceError } from "@svc/contracts";
import { findSitePages } from "@svc/knowledge";
import type { PageFetcher } from "@svc/knowledge";
import type { Cli } from "../cli.ts";
import { safeLine } from "../safe-text.ts";
import { pageSource } from "./find-sources.ts";
import type { FoundSources } from "./find-sources.ts";

/** What sitemaps name, and whether that is all of it. */
export interface FoundPages extends FoundSources {
  /** True when there may be more pages than were wanted. */
  isCut: boolean;
  /** Pages that the sitemap names and robots.txt forbids. */
  forbidden: string[];
}

/**
 * Finds the pages that a sitemap names. A sitemap that cannot be read, or one of an index, is a failure of its own.
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
  const fail = (file: string, { message }: ServiceError) => failed.push({ file, error: message });
  cli.terminal.note(`Finding the pages of ${safeLine(sitemap, 200)} …`);
  try {
    const pages = await findSitePages(fetcher, sitemap, {
      maxPages,
      signal,
      onBadSitemap: fail,
      onForbidden: (page) => forbidden.push(page),
    });
    const isCut = pages.length >= maxPages;
    if (isCut) cli.terminal.note(`Only the first ${maxPages} pages are added; raise --max-pages to add more.`);
    return { sources: pages.map(pageSource), failed, skipped: {}, linksOut: [], isCut, forbidden };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    fail(sitemap, error);
    return { sources: [], failed, skipped: {}, linksOut: [], isCut: false, forbidden };
  }
}
