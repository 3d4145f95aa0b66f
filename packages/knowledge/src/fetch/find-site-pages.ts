import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { FETCH_MAX_BYTES, unpackGzipFile } from "./create-page-fetcher.ts";
import { readSitemap } from "./read-sitemap.ts";
import type { Sitemap } from "./read-sitemap.ts";
import {
  addPages,
  createWorkSlices,
  dropPage,
  fetchSiteRules,
  invalidSite,
  leaveOut,
  pageKey,
  parseWebUrl,
  siteOf,
} from "./site-search.ts";
import type { FindSitePagesOptions, Search } from "./site-search.ts";

/** Maximum number of links from the first page to another one: what is further away is an archive or a calendar. */
const MAX_DEPTH = 10;
/** Maximum number of pages that differ in their query only, such as the days of a calendar or the filters of a list. */
const MAX_QUERIES = 100;
/** Number of unavailable pages in a row after which no more are fetched: the site limits our requests, or is down. */
const MAX_UNAVAILABLE = 5;

/** Files that no knowledge base can read. */
const UNREADABLE_FILE =
  /\.(?:7z|apk|atom|avi|avif|bmp|bz2|css|dmg|doc|eot|epub|exe|gif|gz|heic|ico|ics|iso|jar|jpe?g|js|json|m4[av]|map|mjs|mov|mp[34]|mpe?g|msi|odp|ods|odt|ogg|otf|png|pptx?|ps|rar|rss|rtf|svg|tar|tgz|tiff?|ttf|vcf|wav|webm|webp|woff2?|xls|xml|xz|zip)$/i;
/** Documents that are read later only, because they have no links. */
const DOCUMENT_FILE = /\.(?:csv|docx|md|pdf|tsv|txt|xlsx)$/i;

/** Returns the folder of a URL, with its final slash. */
const folderOf = ({ pathname }: URL) => pathname.slice(0, pathname.lastIndexOf("/") + 1);

/**
 * Adds the pages of a site that links lead to, breadth first from `start`, in its folder and below: HTML pages, and
 * links to documents. Pages that cannot be read are left out; those that are unavailable stay, and are reported as
 * incomplete. Ends at `maxPages`, at 10 links from the start, or after `followMs`; pages that were found and not
 * fetched by then stay. Links and pages marked `nofollow` are not followed. Throws the error of the first page.
 */
async function followLinks(search: Search, start: URL, followMs: number): Promise<void> {
  const { pages, work, maxPages } = search;
  const accepts = createLinkFilter(folderOf(start));
  const endsAt = performance.now() + followMs;
  const [first] = await addPages(search, [start.href], start.href);
  if (first === undefined) {
    const detail = "The robots.txt of this site does not allow svc-fetch to read it. Allow it there, or upload files.";
    throw invalidSite(detail, "disallowed");
  }
  const read = await readLinks(search, first, accepts);
  let level = await addPages(search, read.links, read.url, accepts);
  let unavailable = 0;
  for (let depth = 1; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const next: URL[] = [];
    for (const page of inOrder(level)) {
      if (pages.size >= maxPages) return;
      if (performance.now() > endsAt || unavailable >= MAX_UNAVAILABLE) {
        const why = unavailable >= MAX_UNAVAILABLE ? "it does not respond" : "the time limit was reached";
        const detail = `Not all links of ${start.href} were followed, because ${why}. Import missing sections by their own URLs.`;
        leaveOut(search, start.href, invalidSite(detail, "incomplete_site"));
        return;
      }
      if (work.isDue()) await work.pause();
      const found = await tryLinks(search, page, accepts);
      unavailable = found === null ? unavailable + 1 : 0;
      if (found !== null) next.push(...(await addPages(search, found.links, found.url, accepts)));
    }
    level = next;
  }
}

/** Returns the pages to fetch, those with a query last, because they are often variants of others. */
const inOrder = (level: readonly URL[]) =>
  level
    .filter(({ pathname }) => !DOCUMENT_FILE.test(pathname))
    .toSorted((one, other) => Number(one.search !== "") - Number(other.search !== ""));

/** Returns a function that decides whether a link of the site leads to a page or document to read. */
function createLinkFilter(folder: string): (page: URL) => boolean {
  const queries = new Map<string, number>();
  return ({ pathname, search }) => {
    if (!pathname.startsWith(folder) || UNREADABLE_FILE.test(pathname)) return false;
    if (search === "") return true;
    const count = queries.get(pathname) ?? 0;
    queries.set(pathname, count + 1);
    return count < MAX_QUERIES;
  };
}

/** Links of a page, and its URL after redirects. */
interface PageLinks {
  url: string;
  links: readonly string[];
}

/** Fetches a page and returns its links; drops the page if it is one that is known. Throws if it cannot be read. */
async function readLinks(search: Search, page: URL, accepts: (page: URL) => boolean): Promise<PageLinks> {
  const { fetcher, reader, work, pages, options } = search;
  const { url, bytes, mime } = await work.wait(fetcher.fetch(page.href, options.signal));
  const key = pageKey(page);
  const target = parseWebUrl(url);
  if (target !== null && pageKey(target) === key) pages.set(key, url);
  else {
    // The page is the one that the redirect leads to, if that belongs to the site.
    dropPage(search, key);
    if ((await addPages(search, [url], url, accepts)).length === 0) {
      if (pages.size > 0) return { url, links: [] };
      throw invalidSite(`The URL redirects to ${url}. Use that URL.`, "redirected");
    }
  }
  const file = { name: new URL(url).pathname, bytes, url, ...(mime === null ? {} : { mime }) };
  try {
    const { links = [] } = await work.wait(reader.read(file, options.signal));
    return { url, links };
  } catch (error) {
    if (target !== null) dropPage(search, pageKey(target));
    throw error;
  }
}

/** Returns the links of a page that is not the first one; null if it is unavailable. */
async function tryLinks(search: Search, page: URL, accepts: (page: URL) => boolean): Promise<PageLinks | null> {
  try {
    return await readLinks(search, page, accepts);
  } catch (error) {
    search.options.signal?.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === "unavailable") {
      leaveOut(search, page.href, error);
      return null;
    }
    dropPage(search, pageKey(page));
    return { url: page.href, links: [] };
  }
}

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
