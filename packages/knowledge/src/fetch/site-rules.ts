import { ServiceError } from "@svc/contracts";
import { USER_AGENT_NAME } from "./create-page-fetcher.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";
import type { WorkSlices } from "./work-slices.ts";

/** A line of a robots.txt that allows or forbids paths (RFC 9309, section 2.2.2). */
interface PathRule {
  isAllowed: boolean;
  /** Length of the pattern: of the rules that match, the longest decides. */
  length: number;
  /**
   * Whether a path, with its query, is one that this rule speaks of. Takes time in proportion to both lengths at worst.
   */
  matches(path: string): boolean;
  /** Whether comparing may take long. */
  isCostly: boolean;
}

/** Hexadecimal digits of an escape are the same in upper and lower case (RFC 3986, section 6.2.2.1). */
const upperEscapes = (text: string) => text.replace(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());

/** A path as rules compare it. */
export const comparablePath = ({ pathname, search }: URL): string => upperEscapes(`${pathname}${search}`);

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
/** Number of simple rules to compare, or of lines to read, that takes negligible time. */
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

/** Compares from left to right with no way back: each part between two stars is found where it comes first. */
function matchParts(path: string, { start, parts, end }: { start: string; parts: string[]; end: string }): boolean {
  if (!path.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - end.length >= at && path.endsWith(end);
}

/** Reads a pattern: `*` is any text, `$` at its end is the end of the path, and without it a path may go on. */
export function parsePathRule(text: string, isAllowed: boolean): PathRule {
  const pattern = upperEscapes(encodeURI(text.toWellFormed()).replace(/%25/g, "%"));
  const isAnchored = pattern.endsWith("$");
  const [start = "", ...parts] = (isAnchored ? pattern.slice(0, -1) : pattern).split("*");
  const isCostly = parts.length > 0;
  const base = { isAllowed, length: pattern.length, isCostly };
  if (!isCostly) return { ...base, matches: (path) => (isAnchored ? path === start : path.startsWith(start)) };
  const end = isAnchored ? (parts.pop() ?? "") : "";
  const between = parts.filter((part) => part !== "");
  return { ...base, matches: (path) => matchParts(path, { start, parts: between, end }) };
}
