import { setImmediate as nextTurn } from "node:timers/promises";
import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { FETCH_MAX_BYTES } from "./create-page-fetcher.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";
import { unpackGzipFile } from "./decode-body.ts";
import { readSitemap } from "./read-sitemap.ts";
import type { Sitemap } from "./read-sitemap.ts";
import { fetchSiteRules } from "./site-rules.ts";
import type { SiteRules } from "./site-rules.ts";

/** How a site is looked through. */
export interface FindSitePagesOptions {
  /** At most `KB_LIMITS.pagesMaxCount`, by default `pagesDefaultCount`. The first ones of the sitemap are taken. */
  maxPages?: number;
  signal?: AbortSignal;
  /**
   * Told of one of several sitemaps that cannot be read, whose pages are then left out. Without it such a sitemap is
   * thrown as a fault of the whole, and so is always one that may be there at the next try (`unavailable`).
   */
  onBadSitemap?: (url: string, error: ServiceError) => void;
}

/** Sitemaps of an index that are read; together they may name 5 million pages. */
const MAX_SITEMAPS = 100;

/** Comparing pages with the rules of a hostile site may take long; this long it may. */
const RULES_BUDGET_MS = 30_000;
/** Pages that are compared between two looks at everything else that the process has to do. */
const SLICE_PAGES = 50;

const invalid = (detail: string, code = "no_sitemap") =>
  new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code, detail }] });

function parseWebUrl(text: string, base?: string): URL | null {
  if (!URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  url.hash = "";
  url.username = "";
  url.password = "";
  return url;
}

/** The site that a URL belongs to: with and without "www.", by http and https, it is the same one. */
export function siteOf(url: URL): string {
  const host = url.hostname.replace(/^www\./, "").replace(/\.+$/, "");
  return url.port === "" ? host : `${host}:${url.port}`;
}

const isRootUrl = (url: URL) => url.pathname === "/" && url.search === "";

/** The sitemaps to begin with: the one that is named, or those of the site whose root is named. */
function firstSitemaps(url: URL, rules: SiteRules): string[] {
  if (!isRootUrl(url)) return [url.href];
  const named = rules.sitemaps.flatMap((text) => parseWebUrl(text, url.href)?.href ?? []);
  return named.length > 0 ? [...new Set(named)].slice(0, MAX_SITEMAPS) : [`${url.origin}/sitemap.xml`];
}

/**
 * The pages of one site as its sitemaps name them: the sitemap at this URL, which may be packed, be text or be an index
 * of others (one level, 100 sitemaps); at the root of a site those that its robots.txt names, else `/sitemap.xml`.
 * Addresses of other sites are left out, and pages that robots.txt forbids to us or to everybody (RFC 9309). Each page
 * comes once and without a fragment, in the order of the sitemaps.
 * Throws ServiceError as the fetcher does: nobody gets part of a site and takes it for the whole, unless
 * `onBadSitemap` is there to be told.
 */
export async function findSitePages(
  fetcher: PageFetcher,
  sitemapUrl: string,
  options: FindSitePagesOptions = {},
): Promise<string[]> {
  const { maxPages = KB_LIMITS.pagesDefaultCount, signal, onBadSitemap } = options;
  if (!Number.isInteger(maxPages) || maxPages < 1 || maxPages > KB_LIMITS.pagesMaxCount) {
    throw invalid(`The number of pages must be from 1 to ${KB_LIMITS.pagesMaxCount}.`, "invalid_number");
  }
  const start = parseWebUrl(sitemapUrl.trim());
  if (start === null) throw invalid("The URL of a sitemap such as https://example.com/sitemap.xml is needed.");
  const site = siteOf(start);
  const rules = await fetchSiteRules(fetcher, start.origin, signal);
  const pages = new Map<string, string>();
  let rulesMs = 0;

  async function read(url: string): Promise<Sitemap> {
    const { bytes } = await fetcher.fetch(url, signal);
    return readSitemap(await unpackGzipFile(bytes, FETCH_MAX_BYTES), signal);
  }

  async function addPages(addresses: readonly string[], base: string): Promise<void> {
    for (const [index, address] of addresses.entries()) {
      if (pages.size >= maxPages) return;
      if (index % SLICE_PAGES === 0) {
        await nextTurn();
        signal?.throwIfAborted();
      }
      const page = parseWebUrl(address, base);
      if (page === null || siteOf(page) !== site) continue;
      const key = `${site}${page.pathname}${page.search}`;
      if (pages.has(key)) continue;
      const startedAt = performance.now();
      if (rules.mayFetch(page)) pages.set(key, page.href);
      rulesMs += performance.now() - startedAt;
      if (rulesMs > RULES_BUDGET_MS)
        throw invalid("The robots.txt of this site takes too long to follow.", "bad_robots");
    }
  }

  /** Reads a sitemap that another one, or robots.txt, names among several. */
  async function readOneOf(url: string, isOnly: boolean): Promise<Sitemap> {
    try {
      return await read(url);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const named = new ServiceError(error.code, `The sitemap ${url} cannot be read: ${error.message}`, {
        ...(error.errors === undefined ? {} : { errors: error.errors }),
        headers: { ...error.headers },
        cause: error,
      });
      if (isOnly || onBadSitemap === undefined || error.code === "unavailable") throw named;
      onBadSitemap(url, named);
      return { pages: [], sitemaps: [] };
    }
  }

  const children: string[] = [];
  const firsts = firstSitemaps(start, rules);
  for (const url of firsts) {
    if (pages.size >= maxPages) break;
    const found = await readOneOf(url, firsts.length === 1);
    await addPages(found.pages, url);
    children.push(...found.sitemaps.flatMap((address) => parseWebUrl(address, url)?.href ?? []));
  }
  for (const url of [...new Set(children)].slice(0, MAX_SITEMAPS)) {
    if (pages.size >= maxPages) break;
    const found = await readOneOf(url, false);
    await addPages(found.pages, url);
  }
  return [...pages.values()];
}
