import { ServiceError } from "@svc/contracts";
import robotsModule from "robots-parser";
import { USER_AGENT_NAME } from "./create-page-fetcher.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";

/** The module is the function itself; its types take it for a module with a default export. */
const parseRobots = robotsModule as unknown as typeof robotsModule.default;

/** What a site asks of crawlers (RFC 9309). */
export interface SiteRules {
  /** Whether a page of this site may be fetched because a sitemap names it. */
  mayFetch(page: URL): boolean;
  /** Sitemaps that the site names, as it writes them. */
  sitemaps: string[];
}

/** What has to be read of a robots.txt at least, and is read of it at most (RFC 9309, section 2.5). */
const MAX_BYTES = 500 * 1024;
/** Longer lines hold no rule that anybody wrote, but can hold one that takes for ever to compare. */
const LINE_MAX_CHARS = 1_000;

function readRules(origin: string, text: string): SiteRules {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.length <= LINE_MAX_CHARS);
  const robots = parseRobots(`${origin}/robots.txt`, lines.join("\n"));
  return {
    // Another scheme and "www." make no other site here, so the rules are asked for the path alone.
    mayFetch: ({ pathname, search }) => robots.isAllowed(`${origin}${pathname}${search}`, USER_AGENT_NAME) !== false,
    sitemaps: robots.getSitemaps(),
  };
}

/**
 * Fetches the rules of a site. One that has no robots.txt allows everything (RFC 9309, section 2.3.1.3); when it cannot
 * be asked now, this throws `unavailable`, since it might forbid everything (section 2.3.1.4).
 */
export async function fetchSiteRules(fetcher: PageFetcher, origin: string, signal?: AbortSignal): Promise<SiteRules> {
  try {
    const { bytes } = await fetcher.fetch(`${origin}/robots.txt`, signal);
    return readRules(origin, new TextDecoder().decode(bytes.subarray(0, MAX_BYTES)));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === "unavailable") throw error;
    return readRules(origin, "");
  }
}
