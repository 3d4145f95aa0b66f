import { ServiceError } from "@svc/contracts";
import { addPages, dropPage, invalidSite, leaveOut, pageKey, parseWebUrl } from "./site-search.ts";
import type { Search } from "./site-search.ts";

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
export async function followLinks(search: Search, start: URL, followMs: number): Promise<void> {
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
        const detail = `Not all links of ${start.href} were followed, because ${why}.`;
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
