import { KB_LIMITS, ServiceError, parseUrl } from "@svc/contracts";
import type { FileReader } from "../parse/create-file-reader.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";
import type { SiteRules, WorkSlices } from "./site-rules.ts";

/** Options for finding the pages of a site. */
export interface FindSitePagesOptions {
  /** At most `KB_LIMITS.pagesMaxCount`, by default `pagesDefaultCount`. The first ones that are found are used. */
  maxPages?: number;
  signal?: AbortSignal;
  /**
   * Called for each sitemap that was not read completely: one of several that cannot be read, one that is truncated or
   * has too many entries, and those nested too deeply or too many; and for each page whose links were not followed
   * because it is unavailable or time is up. If it is never called, the result is complete, up to `maxPages` and the
   * depth of links. Without it, each of these makes the whole call throw, as does always a sitemap with a temporary
   * error (`unavailable`).
   */
  onIncomplete?: (url: string, error: ServiceError) => void;
  /** Called if links are followed, because there is no sitemap: pages to which no link leads are missing then. */
  onLinks?: () => void;
  /** Time in which links are followed, in milliseconds; the pages found until then are returned. Default: 3 minutes. */
  followMs?: number;
  /** Called for each page that is skipped because robots.txt disallows it. */
  onForbidden?: (url: string) => void;
}

/** Returns an error of the address of a site. */
export const invalidSite = (detail: string, code = "no_sitemap") =>
  new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code, detail }] });

/** Returns an http or https URL without fragment and user; null for any other text. */
export function parseWebUrl(text: string, base?: string): URL | null {
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

const isUsable = ({ href }: URL) => href.length <= KB_LIMITS.urlMaxChars;

/** State of reading one site, with the pages found. */
export interface Search {
  fetcher: PageFetcher;
  /** Reads pages to find their links. */
  reader: Pick<FileReader, "read">;
  work: WorkSlices;
  rules: SiteRules;
  site: string;
  /** URLs by their key (`pageKey`). */
  pages: Map<string, string>;
  /** Keys of pages that turned out not to exist, or to be others. */
  dropped: Set<string>;
  maxPages: number;
  options: FindSitePagesOptions;
}

/** Returns what identifies a page in its site. */
export const pageKey = (page: URL): string => `${siteOf(page)}${page.pathname}${page.search}`;

/** Reports that a part of the site is missing in the result. Throws the error if nobody listens. */
export function leaveOut({ options: { onIncomplete } }: Search, url: string, error: ServiceError): void {
  if (onIncomplete === undefined) throw error;
  onIncomplete(url, error);
}

/** Adds pages of the site that are new and may be fetched, and that `accepts` accepts. Returns the added ones. */
export async function addPages(
  search: Search,
  addresses: readonly string[],
  base: string,
  accepts: (page: URL) => boolean = () => true,
): Promise<URL[]> {
  const { work, rules, site, pages, dropped, maxPages } = search;
  const added: URL[] = [];
  for (const address of addresses) {
    if (pages.size >= maxPages) break;
    if (work.isDue()) await work.pause();
    const page = parseWebUrl(address, base);
    if (page === null || siteOf(page) !== site || !isUsable(page)) continue;
    const key = pageKey(page);
    if (pages.has(key) || dropped.has(key) || !accepts(page)) continue;
    if (await rules.mayFetch(page)) {
      pages.set(key, page.href);
      added.push(page);
    } else search.options.onForbidden?.(page.href);
  }
  return added;
}

/** Leaves out a page for good, also if it is found again. */
export function dropPage({ pages, dropped }: Search, key: string): void {
  pages.delete(key);
  dropped.add(key);
}
