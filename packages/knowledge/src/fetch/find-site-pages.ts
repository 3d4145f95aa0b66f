import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { FETCH_MAX_BYTES } from "./create-page-fetcher.ts";
import { unpackGzipFile } from "./decode-body.ts";
import { followLinks } from "./follow-links.ts";
import { readSitemap } from "./read-sitemap.ts";
import type { Sitemap } from "./read-sitemap.ts";
import { fetchSiteRules } from "./site-rules.ts";
import { addPages, invalidSite, leaveOut, parseWebUrl, siteOf } from "./site-search.ts";
import type { FindSitePagesOptions, Search } from "./site-search.ts";
import { createWorkSlices } from "./work-slices.ts";

/** Maximum number of sitemaps of an index; together they may list 5 million pages. */
const MAX_SITEMAPS = 100;

/** Time limit of the work without the fetches, because a hostile site may be slow to read and compare. */
const WORK_BUDGET_MS = 20_000;

/**
 * Time in which links are followed: enough for 360 pages at two per second, which name many more. Shorter than the time
 * limit of an import, which includes the sitemaps and the last page.
 */
const FOLLOW_MS = 3 * 60_000;

/** Names of files that are sitemaps and never pages. */
const SITEMAP_FILE = /\.(?:xml|txt|gz)$/i;

const isRootUrl = (url: URL) => url.pathname === "/" && url.search === "";

const notWhole = (url: string, why: string) => {
  const detail = `The sitemap ${url} was not read completely: ${why}.`;
  return new ServiceError("invalid_request", detail, {
    errors: [{ pointer: "/url", code: "incomplete_sitemap", detail }],
  });
};

/**
 * Returns the pages of one site. The URL is a sitemap, which may be compressed, plain text or an index of others (one
 * level, 100 sitemaps); or the root of a site, for the sitemaps in its robots.txt, else `/sitemap.xml`; or any other
 * page. Without a sitemap that lists pages of the site, links are followed from the URL, to pages in its folder and
 * below (`followLinks`). URLs of other sites, URLs that are too long for a document, and pages that robots.txt disallows
 * for us or for all robots (RFC 9309) are left out. Each page occurs once and without a fragment, in the order of the
 * sitemaps or links. Even a hostile site cannot block the event loop for long. Throws ServiceError like the fetcher: a
 * part of a site is never taken for the whole, unless `onIncomplete` is given.
 */
export async function findSitePages(
  { fetcher, reader }: Pick<Search, "fetcher" | "reader">,
  siteUrl: string,
  options: FindSitePagesOptions = {},
): Promise<string[]> {
  const { maxPages = KB_LIMITS.pagesDefaultCount, signal, followMs = FOLLOW_MS } = options;
  if (!Number.isInteger(maxPages) || maxPages < 1 || maxPages > KB_LIMITS.pagesMaxCount) {
    throw invalidSite(`The number of pages must be from 1 to ${KB_LIMITS.pagesMaxCount}.`, "invalid_number");
  }
  const start = parseWebUrl(siteUrl.trim());
  if (start === null) throw invalidSite("The URL must be that of a website or sitemap, such as https://example.com.");
  const site = siteOf(start);
  const work = createWorkSlices(WORK_BUDGET_MS, signal);
  const rules = await fetchSiteRules(fetcher, start.origin, { work, signal });
  const pages = new Map<string, string>();
  const search: Search = { fetcher, reader, work, rules, site, pages, dropped: new Set(), maxPages, options };
  const canFollow = isRootUrl(start) || !SITEMAP_FILE.test(start.pathname);
  try {
    await readSitemaps(search, start);
  } catch (error) {
    const isPage = error instanceof ServiceError && error.errors?.[0]?.code === "no_sitemap";
    if (!isPage || !canFollow) throw error;
  }
  if (pages.size === 0 && canFollow) {
    options.onLinks?.();
    await followLinks(search, start, followMs);
  }
  return [...pages.values()];
}

/** Adds the pages of the sitemap at a URL, or of the sitemaps of a site if the URL is its root. */
async function readSitemaps(search: Search, start: URL): Promise<void> {
  const isRoot = isRootUrl(start);
  const named = isRoot ? await takeSitemaps(search, search.rules.sitemaps, `${start.origin}/robots.txt`) : [start.href];
  const firsts = named.length > 0 ? named : [`${start.origin}/sitemap.xml`];
  const seen = new Set(firsts);
  const indexes = await addSitemaps(search, firsts, named.length === 0 ? "skip" : isRoot ? "report" : "throw");
  const children = await takeSitemaps(
    search,
    [...indexes.values()].flat().filter((url) => !seen.has(url)),
    start.href,
  );
  for (const url of children) seen.add(url);
  for (const [url, further] of await addSitemaps(search, children, "report")) {
    if (further.some((address) => !seen.has(address)))
      leaveOut(search, url, notWhole(url, "it is an index within an index"));
  }
}

async function read({ fetcher, work, options: { signal } }: Search, url: string): Promise<Sitemap> {
  const bytes = await work.wait(
    fetcher.fetch(url, signal).then((fetched) => unpackGzipFile(fetched.bytes, FETCH_MAX_BYTES)),
  );
  return readSitemap(bytes, work);
}

/** What happens if a sitemap cannot be read. */
type BadSitemap = "throw" | "report" | "skip";

/** Reads a sitemap; null if it cannot be read. Throws if it is unavailable. */
async function readOneOf(search: Search, url: string, onBad: BadSitemap): Promise<Sitemap | null> {
  try {
    return await read(search, url);
  } catch (error) {
    if (!(error instanceof ServiceError) || onBad === "throw") throw error;
    const named = new ServiceError(error.code, `The sitemap ${url} cannot be read: ${error.message}`, {
      ...(error.errors === undefined ? {} : { errors: error.errors }),
      headers: { ...error.headers },
      cause: error,
    });
    if (error.code === "unavailable") throw named;
    if (onBad === "report") leaveOut(search, url, named);
    return null;
  }
}

/** Reads sitemaps and their pages; returns the further sitemaps that each lists. */
async function addSitemaps(search: Search, urls: readonly string[], onBad: BadSitemap): Promise<Map<string, string[]>> {
  const further = new Map<string, string[]>();
  for (const url of urls) {
    if (search.pages.size >= search.maxPages) break;
    const found = await readOneOf(search, url, onBad);
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
