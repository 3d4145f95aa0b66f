import { marked } from "marked";
import type { Token } from "marked";

/** Schemes that run or carry something rather than lead somewhere. */
const UNSAFE = /^(?:javascript|vbscript|data):/;

/** What such a link has in it however its scheme is escaped; nearly no text has it, and then nothing has to be parsed. */
const MAYBE_UNSAFE = /(?:script|data)\s*(?:\\?:|&)|&#/i;

/**
 * Takes the link from Markdown links that would run a script and keeps their text. Code stays as it is: there such a
 * link is only spoken of.
 */
export function dropUnsafeLinks(markdown: string): string {
  if (!MAYBE_UNSAFE.test(markdown)) return markdown;
  const found = new Map<string, string>();
  const tokens = marked.lexer(markdown);
  void marked.walkTokens(tokens, (token: Token) => {
    if (!("href" in token) || !isUnsafe(String(token.href))) return;
    found.set(token.raw, token.type === "def" || !("text" in token) ? "" : String(token.text));
  });
  let safe = markdown;
  for (const [raw, text] of found) safe = safe.replaceAll(raw, () => text);
  return safe;
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
