import { parseUrl } from "@svc/contracts";
import { marked } from "marked";
import type { Token } from "marked";

/** Schemes that run or carry something rather than lead somewhere. */
const UNSAFE = /^(?:javascript|vbscript|data):/;

/** What such a link has in it however its scheme is escaped; nearly no text has it, and then nothing has to be parsed. */
const MAYBE_UNSAFE = /(?:script|data)\s*(?:\\?:|&)|&#/i;

/**
 * Takes the link from Markdown links that would run a script and keeps their text; with `url`, where the text was
 * fetched from, relative links become absolute. Code stays as it is: there such a link is only spoken of.
 */
export function tidyLinks(markdown: string, url?: string): string {
  if (url === undefined && !MAYBE_UNSAFE.test(markdown)) return markdown;
  const pieces: string[] = [];
  let cursor = 0;
  // Tokens come in the order of the text, so that each is looked for behind the one before.
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

/** What a link becomes; null for what stays, or is no link. */
function changedLink(token: Token, url: string | undefined): string | null {
  if (!("href" in token)) return null;
  const href = String(token.href);
  if (isUnsafe(href)) return token.type === "def" || !("text" in token) ? "" : String(token.text);
  // The address stands behind the text, in the last place where it occurs.
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
