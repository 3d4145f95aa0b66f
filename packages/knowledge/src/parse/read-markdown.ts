import { parse } from "yaml";
import { marked } from "marked";
import type { Token } from "marked";
import { parseUrl } from "@svc/contracts";
import { readHeading } from "../chunk-document.ts";
import { cleanMarkdown } from "./clean-markdown.ts";
import type { FileText } from "../ingest-file.ts";

/** Schemes that execute or embed something rather than link. */
const UNSAFE = /^(?:javascript|vbscript|data):/;

/** Matches any spelling of such a scheme; nearly no text does, so most texts need not be parsed. */
const MAYBE_UNSAFE = /(?:script|data)\s*(?:\\?:|&)|&#/i;

const FRONT_MATTER = /^---[ \t]*\n([^]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;
const FRONT_MATTER_CHARS = 64 * 1024;

/** TOML front matter, as in Hugo, and its title. */
const TOML_MATTER = /^\+\+\+[ \t]*\n([^]*?)\n\+\+\+[ \t]*(?:\n|$)/;
const TOML_TITLE = /^title[ \t]{0,20}=[ \t]{0,20}["']([^"'\n]{1,300})["']/m;

/**
 * Reads Markdown (see `cleanMarkdown`): the title comes from the front matter, which is not part of the text; relative
 * links become text, or absolute with `url`, the address the text was fetched from.
 */
export function readMarkdown(source: string, file: { url?: string } = {}): FileText {
  const start = source.slice(0, FRONT_MATTER_CHARS);
  const toml = TOML_MATTER.exec(start);
  const match = toml ?? FRONT_MATTER.exec(start);
  const matter =
    match === null
      ? null
      : toml === null
        ? parseMatter(match[1] ?? "")
        : { title: TOML_TITLE.exec(toml[1] ?? "")?.[1] ?? null };
  const text = cleanMarkdown(matter === null ? source : source.slice(match?.[0].length ?? 0), {
    hasUrl: file.url !== undefined,
  });
  return {
    text: tidyLinks(text, file.url).trim(),
    mime: "text/markdown",
    title: matter?.title ?? headlineOf(text),
    sourceMime: "text/markdown",
  };
}

/** Parses front matter; null if it is text between two horizontal rules. */
function parseMatter(yaml: string): { title: string | null } | null {
  if (yaml.trim() === "") return { title: null };
  try {
    const matter: unknown = parse(yaml, { maxAliasCount: 10, logLevel: "error" });
    if (typeof matter !== "object" || matter === null || Array.isArray(matter)) return null;
    const title: unknown = "title" in matter ? matter.title : null;
    return { title: typeof title === "string" && title.trim() !== "" ? title.trim() : null };
  } catch {
    return null;
  }
}

/** Lines that may be the first heading of level 1, and those that begin or end code. */
const HEADLINE = /^#[ \t]/;
const FENCE = /^(?:`{3,}|~{3,})/;

/** Returns the first heading of level 1 outside of code, in linear time. */
function headlineOf(text: string): string | null {
  let fence: string | null = null;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    const mark = FENCE.exec(line)?.[0] ?? null;
    if (fence !== null) fence = mark?.startsWith(fence) === true ? null : fence;
    else if (mark !== null) fence = mark;
    else if (HEADLINE.test(line)) {
      const { title } = readHeading(line);
      if (title !== "") return title;
    }
    start = end + 1;
  }
  return null;
}

/**
 * Replaces Markdown links that would run a script by their text; with `url`, the address the text was fetched from,
 * relative links become absolute. Code is unchanged.
 */
function tidyLinks(markdown: string, url?: string): string {
  if (url === undefined && !MAYBE_UNSAFE.test(markdown)) return markdown;
  const pieces: string[] = [];
  let cursor = 0;
  // Tokens are in text order, so each is searched after the previous one.
  void marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    const changed = token.type === "code" || token.type === "codespan" ? token.raw : changedLink(token, url);
    if (changed === null) return;
    const at = markdown.indexOf(token.raw, cursor);
    if (at === -1) return;
    pieces.push(markdown.slice(cursor, at), changed);
    cursor = at + token.raw.length;
  });
  return pieces.join("") + markdown.slice(cursor);
}

/** Returns the replacement of a link; null if it is unchanged or not a link. */
function changedLink(token: Token, url: string | undefined): string | null {
  if (!("href" in token)) return null;
  const href = String(token.href);
  if (isUnsafe(href)) return token.type === "def" || !("text" in token) ? "" : String(token.text);
  // The URL follows the text, at its last occurrence.
  const at = token.raw.lastIndexOf(href);
  if (url === undefined || at <= 0 || !isRelative(href, url)) return null;
  return token.raw.slice(0, at) + absolute(href, url) + token.raw.slice(at + href.length);
}

function isRelative(href: string, url: string): boolean {
  return href !== "" && !href.startsWith("#") && parseUrl(href) === null && parseUrl(href, url) !== null;
}

function absolute(href: string, url: string): string {
  return new URL(href, url).href.replaceAll("(", "%28").replaceAll(")", "%29");
}

function isUnsafe(href: string): boolean {
  const plain = href
    .replace(/&colon;/gi, ":")
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (_, hex: string | undefined, decimal: string | undefined) =>
      codePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    )
    .replace(/[\s\p{Cc}]/gu, "")
    .toLowerCase();
  return UNSAFE.test(plain);
}

function codePoint(value: number): string {
  return value <= 0x10_ffff ? String.fromCodePoint(value) : "";
}
