import { siteOf } from "@svc/knowledge";
import { parseUrl } from "@svc/contracts";
import { isWebAddress } from "./find-sources.ts";

/** The address that a key is; null for any other key. */
const parsePage = (key: string): URL | null => (isWebAddress(key) ? parseUrl(key) : null);

/**
 * The page that an address means: one site may be named with and without "www.", by http and https. Any other key as it
 * is.
 */
export function pageIdOf(key: string): string {
  const url = parsePage(key);
  return url === null ? key : `${siteOf(url)}${url.pathname}${url.search}`;
}

/** Tells by its key whether a document comes from a source. */
export type SourceScope = (key: string) => boolean;

/** All that lies in a folder, which has this key. Never all there is: the key must not be empty. */
export function scopeOfFolder(folderKey: string): SourceScope {
  const prefix = folderKey.endsWith("/") ? folderKey : `${folderKey}/`;
  return (key) => key.startsWith(prefix);
}

/** The folder that an address lies in, with its final slash. */
const folderOf = ({ pathname }: URL) => pathname.slice(0, pathname.lastIndexOf("/") + 1);

/**
 * The pages that a sitemap speaks for: those in its own folder and below (sitemaps.org, "Sitemap file location"); all of
 * its site when it names a page elsewhere, as sitemaps do that robots.txt names.
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
