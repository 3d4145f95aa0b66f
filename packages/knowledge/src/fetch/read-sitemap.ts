import { setImmediate as nextTurn } from "node:timers/promises";
import { ServiceError } from "@svc/contracts";
import sax from "sax";

/** What a sitemap names, as it is written there; in the order of the file. */
export interface Sitemap {
  pages: string[];
  /** Further sitemaps, of an index. */
  sitemaps: string[];
}

/** Most that a sitemap may name (sitemaps.org, "Sitemap file location" and limits); what follows is not read. */
const MAX_ENTRIES = 50_000;
/** Longer ones are no addresses that anything else here would take. */
const ENTRY_MAX_CHARS = 2_000;
/** Deeper than any sitemap is; beyond it nothing is read. */
const MAX_DEPTH = 20;
/** Read between two looks at everything else that the process has to do. */
const SLICE_CHARS = 256 * 1024;

const noSitemap = (detail: string) =>
  new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code: "no_sitemap", detail }] });

function decode(bytes: Uint8Array): string {
  const encodings: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
    ["utf-16le", [0xff, 0xfe]],
    ["utf-16be", [0xfe, 0xff]],
  ];
  const found = encodings.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte));
  return new TextDecoder(found?.[0] ?? "utf-8").decode(bytes);
}

/** The name without the prefix of its namespace. */
const localName = (name: string) => name.slice(name.indexOf(":") + 1);

type Kind = keyof Sitemap;
const KIND_OF_ROOT: Readonly<Record<string, Kind>> = { urlset: "pages", sitemapindex: "sitemaps" };
/** The element whose `loc` counts: images and videos in a sitemap have a `loc` of their own. */
const PARENT_OF_LOC: Readonly<Record<Kind, string>> = { pages: "url", sitemaps: "sitemap" };

/**
 * Reads the XML of a sitemap as a stream. Entities that the file declares itself are never replaced, so that none can
 * grow; XML that is not well-formed is read as far as it makes sense.
 */
async function readXml(text: string, signal: AbortSignal | undefined): Promise<Sitemap> {
  const found: Sitemap = { pages: [], sitemaps: [] };
  const path: string[] = [];
  const state: { kind: Kind | undefined; isDone: boolean; entry: string | null } = {
    kind: undefined,
    isDone: false,
    entry: null,
  };
  const addText = (piece: string) => {
    if (state.entry !== null && state.entry.length <= ENTRY_MAX_CHARS) state.entry += piece;
  };

  const parser = sax.parser(false, { lowercase: true, position: false });
  Object.assign(parser, {
    onopentag({ name }: { name: string }) {
      const local = localName(name);
      if (path.length === 0) state.kind = KIND_OF_ROOT[local];
      if (state.kind === undefined || path.length >= MAX_DEPTH) state.isDone = true;
      path.push(local);
      if (state.kind !== undefined && local === "loc" && path.at(-2) === PARENT_OF_LOC[state.kind]) state.entry = "";
    },
    ontext: addText,
    oncdata: addText,
    onclosetag() {
      path.pop();
      const { kind, entry } = state;
      if (kind === undefined || entry === null) return;
      state.entry = null;
      const address = entry.trim();
      if (!state.isDone && address !== "" && address.length <= ENTRY_MAX_CHARS) found[kind].push(address);
      if (found[kind].length >= MAX_ENTRIES) state.isDone = true;
    },
    onerror() {
      // The parser goes on after a fault once it is taken back; many real sitemaps have one.
      Reflect.set(parser, "error", null);
    },
  });

  for (let start = 0; start < text.length && !state.isDone; start += SLICE_CHARS) {
    parser.write(text.slice(start, start + SLICE_CHARS));
    await nextTurn();
    signal?.throwIfAborted();
  }
  if (state.kind === undefined) {
    throw noSitemap(
      "This is no sitemap: it holds neither <urlset> nor <sitemapindex>. Give the URL of the sitemap, or of the site without a path.",
    );
  }
  return found;
}

/** A sitemap of text: one address a line. */
function readLines(text: string): Sitemap {
  const pages: string[] = [];
  for (const match of text.matchAll(/[^\r\n]+/g)) {
    const line = match[0].trim();
    if (/^https?:\/\//i.test(line) && line.length <= ENTRY_MAX_CHARS) pages.push(line);
    if (pages.length >= MAX_ENTRIES) break;
  }
  if (pages.length === 0 && text.trim() !== "") {
    throw noSitemap("This is no sitemap: it is neither XML nor a list of URLs. Give the URL of the sitemap.");
  }
  return { pages, sitemaps: [] };
}

/**
 * Reads a sitemap (sitemaps.org): XML, an index of sitemaps, or text with one address a line. At most 50,000 entries are
 * read. Throws ServiceError `invalid_request` for what is none, and the reason of the signal.
 */
export async function readSitemap(bytes: Uint8Array, signal?: AbortSignal): Promise<Sitemap> {
  const text = decode(bytes);
  return /^\s*</.test(text) ? readXml(text, signal) : readLines(text);
}
