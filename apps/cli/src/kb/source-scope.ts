import { siteOf } from "@svc/knowledge";
import { isWebAddress } from "./find-sources.ts";

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
  return (key) => isWebAddress(key) && URL.canParse(key) && isBelow(new URL(key), folder);
}
