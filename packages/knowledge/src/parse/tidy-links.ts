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
  const changes = new Map<string, string>();
  void marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    if (!("href" in token)) return;
    const href = String(token.href);
    const text = token.type === "def" || !("text" in token) ? "" : String(token.text);
    if (isUnsafe(href)) changes.set(token.raw, text);
    else if (url !== undefined && isRelative(href, url)) {
      // The address stands behind the text, in the last place where it occurs.
      const at = token.raw.lastIndexOf(href);
      if (at > 0) {
        changes.set(token.raw, `${token.raw.slice(0, at)}${absolute(href, url)}${token.raw.slice(at + href.length)}`);
      }
    }
  });
  let tidy = markdown;
  for (const [raw, changed] of changes) tidy = tidy.replaceAll(raw, () => changed);
  return tidy;
}

function isRelative(href: string, url: string): boolean {
  return href !== "" && !href.startsWith("#") && !URL.canParse(href) && URL.canParse(href, url);
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
