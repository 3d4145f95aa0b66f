import { KB_LIMITS, ServiceError, parseUrl } from "@svc/contracts";
import { FETCH_MAX_BYTES } from "./create-page-fetcher.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";
import { unpackGzipFile } from "./decode-body.ts";
import { readSitemap } from "./read-sitemap.ts";
import type { Sitemap } from "./read-sitemap.ts";
import { fetchSiteRules } from "./site-rules.ts";
import type { SiteRules } from "./site-rules.ts";
import { createWorkSlices } from "./work-slices.ts";
import type { WorkSlices } from "./work-slices.ts";

/** Options for finding the pages of a site. */
export interface FindSitePagesOptions {
  /** At most `KB_LIMITS.pagesMaxCount`, by default `pagesDefaultCount`. The first ones of the sitemap are used. */
  maxPages?: number;
  signal?: AbortSignal;
  /**
   * Called for each sitemap that was not read completely: one of several that cannot be read, one that is truncated or
   * has too many entries, and those nested too deeply or too many. If it is never called, the result is complete, up to
   * `maxPages`. Without it, such a sitemap makes the whole call throw, as does always one with a temporary error
   * (`unavailable`).
   */
  onBadSitemap?: (url: string, error: ServiceError) => void;
  /** Called for each page that is skipped because robots.txt disallows it. */
  onForbidden?: (url: string) => void;
}

/** Maximum number of sitemaps of an index; together they may list 5 million pages. */
const MAX_SITEMAPS = 100;

/** Time limit of the work without the fetches, because a hostile site may be slow to read and compare. */
const WORK_BUDGET_MS = 20_000;

const invalid = (detail: string, code = "no_sitemap") =>
  new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code, detail }] });

function parseWebUrl(text: string, base?: string): URL | null {
  const url = parseUrl(text, base);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  url.hash = "";
  url.username = "";
  url.password = "";
  return url;
}

/** Returns the site of a URL: it is the same with and without "www.", by http and https. */
export function siteOf(url: URL): string {
  const host = url.hostname.replace(/^www\./, "").replace(/\.+$/, "");
  return url.port === "" ? host : `${host}:${url.port}`;
}

const isRootUrl = (url: URL) => url.pathname === "/" && url.search === "";

const isUsable = ({ href }: URL) => href.length <= KB_LIMITS.urlMaxChars;

const notWhole = (url: string, why: string) => {
  const detail = `The sitemap ${url} was not read completely: ${why}.`;
  return new ServiceError("invalid_request", detail, {
    errors: [{ pointer: "/url", code: "incomplete_sitemap", detail }],
  });
};

/**
 * Returns the pages of one site from its sitemaps: the sitemap at this URL, which may be compressed, plain text or an
 * index of others (one level, 100 sitemaps); at the root of a site those in its robots.txt, else `/sitemap.xml`. URLs
 * of other sites, URLs that are too long for a document, and pages that robots.txt disallows for us or for all robots
 * (RFC 9309) are left out. Each page occurs once and without a fragment, in the order of the sitemaps. Even a hostile
 * site cannot block the event loop for long. Throws ServiceError like the fetcher: a part of a site is never taken for
 * the whole, unless `onBadSitemap` is given.
 */
export async function findSitePages(
  fetcher: PageFetcher,
  sitemapUrl: string,
  options: FindSitePagesOptions = {},
): Promise<string[]> {
  const { maxPages = KB_LIMITS.pagesDefaultCount, signal } = options;
  if (!Number.isInteger(maxPages) || maxPages < 1 || maxPages > KB_LIMITS.pagesMaxCount) {
    throw invalid(`The number of pages must be from 1 to ${KB_LIMITS.pagesMaxCount}.`, "invalid_number");
  }
  const start = parseWebUrl(sitemapUrl.trim());
  if (start === null) throw invalid("The URL must be that of a sitemap, such as https://example.com/sitemap.xml.");
  const site = siteOf(start);
  const work = createWorkSlices(WORK_BUDGET_MS, signal);
  const rules = await fetchSiteRules(fetcher, start.origin, { work, signal });
  const pages = new Map<string, string>();
  const search: Search = { fetcher, work, rules, site, pages, maxPages, options };

  const named = isRootUrl(start)
    ? await takeSitemaps(search, rules.sitemaps, `${start.origin}/robots.txt`)
    : [start.href];
  const firsts = named.length > 0 ? named : [`${start.origin}/sitemap.xml`];
  const seen = new Set(firsts);
  const indexes = await addSitemaps(search, firsts, firsts.length === 1);
  const children = await takeSitemaps(
    search,
    [...indexes.values()].flat().filter((url) => !seen.has(url)),
    start.href,
  );
  for (const url of children) seen.add(url);
  for (const [url, further] of await addSitemaps(search, children, false)) {
    if (further.some((address) => !seen.has(address)))
      leaveOut(search, url, notWhole(url, "it is an index within an index"));
  }
  return [...pages.values()];
}

/** State of reading one site, with the pages found. */
interface Search {
  fetcher: PageFetcher;
  work: WorkSlices;
  rules: SiteRules;
  site: string;
  pages: Map<string, string>;
  maxPages: number;
  options: FindSitePagesOptions;
}

function leaveOut({ options: { onBadSitemap } }: Search, url: string, error: ServiceError): void {
  if (onBadSitemap === undefined) throw error;
  onBadSitemap(url, error);
}

async function read({ fetcher, work, options: { signal } }: Search, url: string): Promise<Sitemap> {
  const bytes = await work.wait(
    fetcher.fetch(url, signal).then((fetched) => unpackGzipFile(fetched.bytes, FETCH_MAX_BYTES)),
  );
  return readSitemap(bytes, work);
}

async function addPages(search: Search, addresses: readonly string[], base: string): Promise<void> {
  const { work, rules, site, pages, maxPages } = search;
  for (const address of addresses) {
    if (pages.size >= maxPages) return;
    if (work.isDue()) await work.pause();
    const page = parseWebUrl(address, base);
    if (page === null || siteOf(page) !== site || !isUsable(page)) continue;
    const key = `${site}${page.pathname}${page.search}`;
    if (pages.has(key)) continue;
    if (await rules.mayFetch(page)) pages.set(key, page.href);
    else search.options.onForbidden?.(page.href);
  }
}

/** Reads one of several sitemaps; null if it cannot be read. */
async function readOneOf(search: Search, url: string, isOnly: boolean): Promise<Sitemap | null> {
  try {
    return await read(search, url);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const named = new ServiceError(error.code, `The sitemap ${url} cannot be read: ${error.message}`, {
      ...(error.errors === undefined ? {} : { errors: error.errors }),
      headers: { ...error.headers },
      cause: error,
    });
    if (isOnly || error.code === "unavailable") throw named;
    leaveOut(search, url, named);
    return null;
  }
}

/** Reads sitemaps and their pages; returns the further sitemaps that each lists. */
async function addSitemaps(search: Search, urls: readonly string[], isOnly: boolean): Promise<Map<string, string[]>> {
  const further = new Map<string, string[]>();
  for (const url of urls) {
    if (search.pages.size >= search.maxPages) break;
    const found = await readOneOf(search, url, isOnly);
    if (found === null) continue;
    await addPages(search, found.pages, url);
    if (!found.isComplete) leaveOut(search, url, notWhole(url, "it is truncated, or lists more than 50,000 URLs"));
    further.set(url, await takeSitemaps(search, found.sitemaps, url));
  }
  return further;
}

/** Returns up to 100 distinct sitemaps that a file lists. */
async function takeSitemaps(search: Search, addresses: readonly string[], base: string): Promise<string[]> {
  const { work } = search;
  const taken = new Set<string>();
  for (const address of addresses) {
    if (work.isDue()) await work.pause();
    const url = parseWebUrl(address, base);
    if (url === null || taken.has(url.href)) continue;
    if (taken.size >= MAX_SITEMAPS) {
      leaveOut(search, base, notWhole(base, `it names more than ${MAX_SITEMAPS} sitemaps`));
      break;
    }
    taken.add(url.href);
  }
  return [...taken];
}
