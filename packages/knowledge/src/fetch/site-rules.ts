import { ServiceError } from "@svc/contracts";
import { USER_AGENT_NAME } from "./create-page-fetcher.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";
import { comparablePath, parsePathRule } from "./path-rule.ts";
import type { PathRule } from "./path-rule.ts";
import type { WorkSlices } from "./work-slices.ts";

/** What a site asks of crawlers (RFC 9309). */
export interface SiteRules {
  /** Whether a page of this site may be fetched because a sitemap names it. Throws as `WorkSlices.pause` does. */
  mayFetch(page: URL): Promise<boolean>;
  /** Sitemaps that the site names, as it writes them. */
  sitemaps: string[];
}

/** What has to be read of a robots.txt at least, and is read of it at most (RFC 9309, section 2.5). */
const MAX_BYTES = 500 * 1024;
/** Longer lines hold no rule that anybody wrote. */
const LINE_MAX_CHARS = 1_000;
/** Comparing so many simple rules, or reading so many lines, takes no time to speak of. */
const CHEAP_COUNT = 250;

/** Names that mean us: our own, and the one of everybody. Anybody else's rules are not kept. */
const EVERYBODY = "*";

interface RobotsFile {
  /** By whom they are meant for; a name is there as soon as the file says it. */
  rules: Map<string, PathRule[]>;
  sitemaps: string[];
}

/** The name and value of a line; null for one that has none. */
function splitLine(line: string): { name: string; value: string } | null {
  const text = line.replace(/#.*/s, "");
  const colon = text.indexOf(":");
  if (colon === -1 || line.length > LINE_MAX_CHARS) return null;
  return { name: text.slice(0, colon).trim().toLowerCase(), value: text.slice(colon + 1).trim() };
}

/** The product token of a `User-agent` line: sites may write a version after it. */
const agentOf = (value: string) => value.toLowerCase().replace(/\/.*/s, "").trim();

/** Reads a robots.txt (RFC 9309, section 2.2) as far as it is about us. */
async function readRobots(text: string, work: WorkSlices): Promise<RobotsFile> {
  const file: RobotsFile = { rules: new Map(), sitemaps: [] };
  let group: PathRule[][] = [];
  let isNaming = false;

  function beginGroup(value: string): void {
    if (!isNaming) group = [];
    isNaming = true;
    const name = agentOf(value);
    if (name !== USER_AGENT_NAME && name !== EVERYBODY) return;
    const rules = file.rules.get(name) ?? [];
    file.rules.set(name, rules);
    if (!group.includes(rules)) group.push(rules);
  }

  function addRule(value: string, isAllowed: boolean): void {
    if (value === "" || group.length === 0) return;
    const rule = parsePathRule(value, isAllowed);
    for (const rules of group) rules.push(rule);
  }

  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (index % CHEAP_COUNT === 0 && work.isDue()) await work.pause();
    const field = splitLine(line);
    if (field === null) continue;
    const { name, value } = field;
    // A sitemap belongs to no group and interrupts none (section 2.2.4).
    if (name === "sitemap") file.sitemaps.push(value);
    else if (name === "user-agent") beginGroup(value);
    else {
      isNaming = false;
      if (name === "allow" || name === "disallow") addRule(value, name === "allow");
    }
  }
  return file;
}

/** The rule that decides comes first: the longest, and of two that are as long the one that allows (section 2.2.2). */
const byPrecedence = (one: PathRule, other: PathRule) =>
  other.length - one.length || Number(other.isAllowed) - Number(one.isAllowed);

async function readRules(text: string, work: WorkSlices): Promise<SiteRules> {
  const robots = await readRobots(text, work);
  const rules = (robots.rules.get(USER_AGENT_NAME) ?? robots.rules.get(EVERYBODY) ?? []).toSorted(byPrecedence);
  return {
    sitemaps: robots.sitemaps,
    // Another scheme and "www." make no other site here, so the rules are asked for the path alone.
    async mayFetch(page) {
      const path = comparablePath(page);
      for (const [index, rule] of rules.entries()) {
        if ((rule.isCostly || index % CHEAP_COUNT === 0) && work.isDue()) await work.pause();
        if (rule.matches(path)) return rule.isAllowed;
      }
      return true;
    },
  };
}

/**
 * Fetches the rules of a site. One that has no robots.txt allows everything (RFC 9309, section 2.3.1.3); when it cannot
 * be asked now, this throws `unavailable`, since it might forbid everything (section 2.3.1.4).
 */
export async function fetchSiteRules(
  fetcher: PageFetcher,
  origin: string,
  { work, signal }: { work: WorkSlices; signal: AbortSignal | undefined },
): Promise<SiteRules> {
  const robots = await work.wait(fetchRobots(fetcher, origin, signal));
  return readRules(new TextDecoder().decode(robots), work);
}

async function fetchRobots(fetcher: PageFetcher, origin: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
  try {
    const { bytes } = await fetcher.fetch(`${origin}/robots.txt`, signal);
    return bytes.subarray(0, MAX_BYTES);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === "unavailable") throw error;
    return new Uint8Array();
  }
}
