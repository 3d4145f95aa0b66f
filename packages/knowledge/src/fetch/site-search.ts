import { setImmediate as nextTurn } from "node:timers/promises";
import { KB_LIMITS, ServiceError, parseUrl } from "@svc/contracts";
import type { FileReader } from "../parse/create-file-reader.ts";
import { USER_AGENT_NAME } from "./create-page-fetcher.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";

/** Splits long work on untrusted data into slices, so that it does not block the event loop. */
export interface WorkSlices {
  /** Returns whether the current slice has reached its time limit. */
  isDue(): boolean;
  /**
   * Yields to the event loop. Throws ServiceError `invalid_request` if the whole work has taken too long, and the
   * signal's reason.
   */
  pause(): Promise<void>;
  /** Waits for other work, whose time does not count. Throws the signal's reason. */
  wait<Result>(work: Promise<Result>): Promise<Result>;
}

/** Short enough not to be noticeable, and long enough that yielding costs little. */
const SLICE_MS = 10;

/** Creates the slices of a task, which may take `budgetMs` in total. */
export function createWorkSlices(budgetMs: number, signal: AbortSignal | undefined): WorkSlices {
  let spentMs = 0;
  let startedAt = performance.now();

  async function wait<Result>(work: Promise<Result>): Promise<Result> {
    spentMs += performance.now() - startedAt;
    try {
      const result = await work;
      signal?.throwIfAborted();
      return result;
    } finally {
      startedAt = performance.now();
    }
  }

  return {
    isDue: () => performance.now() - startedAt > SLICE_MS,
    async pause() {
      await wait(nextTurn());
      if (spentMs <= budgetMs) return;
      const detail = "The sitemaps and the robots.txt of this site take too long to read. Add its pages individually.";
      throw new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code: "too_complex", detail }] });
    },
    wait,
  };
}

/** An allow or disallow line of a robots.txt (RFC 9309, section 2.2.2). */
interface PathRule {
  isAllowed: boolean;
  /** Length of the pattern: the longest matching rule wins. */
  length: number;
  /** Returns whether the rule applies to a path with its query. At worst takes time proportional to both lengths. */
  matches(path: string): boolean;
  /** Whether matching may be slow. */
  isCostly: boolean;
}

/** Converts escapes to upper case, since their hexadecimal digits are case-insensitive (RFC 3986, section 6.2.2.1). */
const upperEscapes = (text: string) => text.replace(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());

/** Returns a path normalized for comparison with rules. */
export const comparablePath = ({ pathname, search }: URL): string => upperEscapes(`${pathname}${search}`);

/** Rules of a site for crawlers (RFC 9309). */
interface SiteRules {
  /** Returns whether a page of this site in a sitemap may be fetched. Throws like `WorkSlices.pause`. */
  mayFetch(page: URL): Promise<boolean>;
  /** Sitemaps that the site lists, verbatim. */
  sitemaps: string[];
}

/** Number of bytes of a robots.txt that are read, the minimum of RFC 9309, section 2.5. */
const MAX_BYTES = 500 * 1024;
/** Maximum length of a line; no real rule is longer. */
const LINE_MAX_CHARS = 1_000;
/** Number of simple rules to compare, or of lines to read, that takes negligible time. */
const CHEAP_COUNT = 250;

/** User agent that applies to all crawlers. Rules for other crawlers are ignored. */
const EVERYBODY = "*";

interface RobotsFile {
  /** Rules by user agent; an agent is present as soon as the file lists it. */
  rules: Map<string, PathRule[]>;
  sitemaps: string[];
}

/** Returns the name and value of a line; null if it has none. */
function splitLine(line: string): { name: string; value: string } | null {
  const text = line.replace(/#.*/s, "");
  const colon = text.indexOf(":");
  if (colon === -1 || line.length > LINE_MAX_CHARS) return null;
  return { name: text.slice(0, colon).trim().toLowerCase(), value: text.slice(colon + 1).trim() };
}

/** Returns the product token of a `User-agent` line, which may have a version after it. */
const agentOf = (value: string) => value.toLowerCase().replace(/\/.*/s, "").trim();

/** Parses the parts of a robots.txt that apply to us (RFC 9309, section 2.2). */
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
    // A sitemap line belongs to no group and interrupts none (section 2.2.4).
    if (name === "sitemap") file.sitemaps.push(value);
    else if (name === "user-agent") beginGroup(value);
    else {
      isNaming = false;
      if (name === "allow" || name === "disallow") addRule(value, name === "allow");
    }
  }
  return file;
}

/** The deciding rule comes first: the longest, and of two of equal length the one that allows (section 2.2.2). */
const byPrecedence = (one: PathRule, other: PathRule) =>
  other.length - one.length || Number(other.isAllowed) - Number(one.isAllowed);

async function readRules(text: string, work: WorkSlices): Promise<SiteRules> {
  const robots = await readRobots(text, work);
  const rules = (robots.rules.get(USER_AGENT_NAME) ?? robots.rules.get(EVERYBODY) ?? []).toSorted(byPrecedence);
  return {
    sitemaps: robots.sitemaps,
    // Another scheme and "www." are the same site here, so rules are matched by path only.
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
 * Fetches the rules of a site. A site without robots.txt allows everything (RFC 9309, section 2.3.1.3); if the file is
 * temporarily unavailable, this throws `unavailable`, because it might disallow everything (section 2.3.1.4).
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

/**
 * Returns whether a pattern matches a path, from left to right without backtracking: each part between two stars
 * matches its first occurrence.
 */
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

/** Parses a pattern: `*` matches any text, a final `$` the end of the path; without it any suffix matches. */
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
