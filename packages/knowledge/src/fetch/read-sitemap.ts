import { ServiceError } from "@svc/contracts";
import sax from "sax";
import type { WorkSlices } from "./site-search.ts";

/** Entries of a sitemap, verbatim and in file order. */
export interface Sitemap {
  pages: string[];
  /** Further sitemaps, of an index. */
  sitemaps: string[];
  /** False if the file is truncated, or has more entries than are read. */
  isComplete: boolean;
}

/** Maximum number of entries (sitemaps.org); the rest is not read. */
const MAX_ENTRIES = 50_000;
/** Maximum length of an entry: longer URLs are rejected everywhere. */
const ENTRY_MAX_CHARS = 2_000;
/** Maximum depth, beyond that of any sitemap; deeper elements are not read. */
const MAX_DEPTH = 20;
/** Maximum number of attributes of an element: more are slow to compare. */
const MAX_ATTRIBUTES = 1_000;
/**
 * Number of bytes read between two checks of the time. Small, because an unmatched end tag is compared with all open
 * elements: as many as a piece can contain, until the depth is checked.
 */
const PIECE_BYTES = 16 * 1024;

/** Parses a file piece by piece. */
interface SitemapReader {
  /** Returns false when nothing more is read. */
  write(piece: string): boolean;
  /** Throws ServiceError if the file is not a sitemap. */
  end(): Sitemap;
}

const noSitemap = (detail: string) =>
  new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code: "no_sitemap", detail }] });

function* decode(bytes: Uint8Array): Generator<string> {
  const encodings: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
    ["utf-16le", [0xff, 0xfe]],
    ["utf-16be", [0xfe, 0xff]],
  ];
  const found = encodings.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte));
  const decoder = new TextDecoder(found?.[0] ?? "utf-8");
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield decoder.decode(bytes.subarray(start, start + PIECE_BYTES), { stream: true });
  }
  yield decoder.decode();
}

/** Returns the name without its namespace prefix. */
const localName = (name: string) => name.slice(name.indexOf(":") + 1);

type Kind = "pages" | "sitemaps";
const KIND_OF_ROOT: Readonly<Record<string, Kind>> = { urlset: "pages", sitemapindex: "sitemaps" };
/** Parent element of the relevant `loc`: images and videos in a sitemap have a `loc` of their own. */
const PARENT_OF_LOC: Readonly<Record<Kind, string>> = { pages: "url", sitemaps: "sitemap" };

interface XmlState {
  kind: Kind | undefined;
  isDone: boolean;
  isClosed: boolean;
  /** Text of the open `loc`, or null. */
  entry: string | null;
  attributes: number;
}

/**
 * Parses a sitemap's XML as a stream. Custom entities are never expanded, so they cannot grow; malformed XML is read as
 * far as possible.
 */
function createXmlReader(): SitemapReader {
  const found: Record<Kind, string[]> = { pages: [], sitemaps: [] };
  const path: string[] = [];
  const state: XmlState = { kind: undefined, isDone: false, isClosed: false, entry: null, attributes: 0 };
  const addText = (piece: string) => {
    if (state.entry !== null && state.entry.length <= ENTRY_MAX_CHARS) state.entry += piece;
  };

  function addEntry(kind: Kind, address: string): void {
    if (state.isDone || address === "" || address.length > ENTRY_MAX_CHARS) return;
    if (found[kind].length < MAX_ENTRIES) found[kind].push(address);
    else state.isDone = true;
  }

  // The parser limits its buffers only if it counts positions.
  const parser = sax.parser(false, { lowercase: true, position: true });
  Object.assign(parser, {
    onattribute() {
      state.attributes += 1;
      if (state.attributes > MAX_ATTRIBUTES) state.isDone = true;
    },
    onopentag({ name }: { name: string }) {
      const local = localName(name);
      state.attributes = 0;
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
      if (path.length === 0 && kind !== undefined) state.isClosed = !state.isDone;
      if (kind === undefined || entry === null) return;
      state.entry = null;
      addEntry(kind, entry.trim());
    },
    onerror(error: Error) {
      // An unterminated comment, name or value would exhaust the memory.
      if (error.message.startsWith("Max buffer length")) state.isDone = true;
      // The parser continues after an error once it is cleared; many real sitemaps have one.
      Reflect.set(parser, "error", null);
    },
  });

  return {
    write(piece) {
      parser.write(piece);
      return !state.isDone;
    },
    end() {
      if (state.kind === undefined) {
        throw noSitemap(
          "This is not a sitemap: it has neither <urlset> nor <sitemapindex>. Use the URL of the sitemap, or of the site without a path.",
        );
      }
      return { ...found, isComplete: state.isClosed && !state.isDone };
    },
  };
}

/** Parses a text sitemap: one URL per line. Truncation of such a file cannot be detected. */
function createLineReader(): SitemapReader {
  const pages: string[] = [];
  let rest = "";
  let isComplete = true;

  function addLine(text: string): void {
    const line = text.trim();
    if (!/^https?:\/\//i.test(line) || line.length > ENTRY_MAX_CHARS) return;
    if (pages.length < MAX_ENTRIES) pages.push(line);
    else isComplete = false;
  }

  return {
    write(piece) {
      const lines = `${rest}${piece}`.split(/[\r\n]+/);
      // Of an unterminated line, only enough is kept to detect that it is too long.
      rest = (lines.pop() ?? "").slice(0, 2 * ENTRY_MAX_CHARS);
      for (const line of lines) addLine(line);
      return isComplete;
    },
    end() {
      addLine(rest);
      if (pages.length === 0) {
        throw noSitemap("This is not a sitemap: it is neither XML nor a list of URLs. Use the URL of the sitemap.");
      }
      return { pages, sitemaps: [], isComplete };
    },
  };
}

/**
 * Parses a sitemap (sitemaps.org): XML, an index of sitemaps, or text with one URL per line. At most 50,000 entries are
 * read; an empty file counts as incomplete. Throws ServiceError `invalid_request` if it is none of these, and the
 * errors of `work`.
 */
export async function readSitemap(bytes: Uint8Array, work: WorkSlices): Promise<Sitemap> {
  let reader: SitemapReader | undefined;
  for (const piece of decode(bytes)) {
    if (work.isDue()) await work.pause();
    const text = reader === undefined ? piece.trimStart() : piece;
    if (text === "") continue;
    reader ??= text.startsWith("<") ? createXmlReader() : createLineReader();
    if (!reader.write(text)) break;
  }
  return reader?.end() ?? { pages: [], sitemaps: [], isComplete: false };
}
