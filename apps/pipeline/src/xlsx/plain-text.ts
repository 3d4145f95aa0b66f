import type { Lexer, MarkedToken, Token } from "marked";

/**
 * Sources beyond these limits are returned unchanged. The inline rules of the Markdown lexer take quadratic and
 * sometimes cubic time in the number of characters that may open or close formatting, and no real cell has so many.
 */
const MAX_INLINE_CHARS = 4_000;
const MAX_FORMATTING_CHARS = 200;
const FORMATTING_CHARS = /[*_~`<>[\]()\\!]/g;

const BREAK_TAG = /^<br\s*\/?>$/i;
/** Tags that only format, and comments. Others, such as `<token>`, are placeholders that a reader must see. */
const FORMATTING_TAG =
  /^<(?:!--|\/?(?:a|abbr|b|big|center|cite|code|del|div|em|font|i|img|ins|kbd|li|mark|ol|p|q|s|samp|small|span|strike|strong|sub|sup|tt|u|ul|var|wbr)[\s/>])/i;
/** URLs that are shown beside a link's text; others are useless outside of their page. */
const ADDRESS = /^(?:https?|mailto|tel):/i;

const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g;
const NAMED_ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    euro: "€",
    pound: "£",
    yen: "¥",
    cent: "¢",
    copy: "©",
    reg: "®",
    trade: "™",
    deg: "°",
    plusmn: "±",
    times: "×",
    divide: "÷",
    minus: "−",
    hellip: "…",
    ndash: "–",
    mdash: "—",
    lsquo: "‘",
    rsquo: "’",
    ldquo: "“",
    rdquo: "”",
    laquo: "«",
    raquo: "»",
    bull: "•",
    middot: "·",
    le: "≤",
    ge: "≥",
    ne: "≠",
    rarr: "→",
    larr: "←",
  }),
);

/** Decodes character references; an unknown or invalid one is unchanged. */
function decodeEntities(text: string): string {
  return text.replaceAll(ENTITY, (written, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED_ENTITIES.get(name) ?? written;
    const codePoint = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return codePoint <= 0x10_ff_ff ? String.fromCodePoint(codePoint) : written;
  });
}

/** Returns a text followed by its URL in brackets, unless the text is the URL. */
function withAddress(text: string, href: string): string {
  const address = decodeEntities(href);
  if (!ADDRESS.test(address)) return text;
  const shown = address.replace(/^(?:mailto|tel):/i, "");
  if (text === "") return shown;
  return text === shown || text === address || `http://${text}` === address ? text : `${text} (${shown})`;
}

function tokenText(token: MarkedToken): string {
  switch (token.type) {
    case "br":
      return "\n";
    case "codespan":
    case "escape":
      return token.text;
    case "html":
      if (BREAK_TAG.test(token.raw)) return "\n";
      return FORMATTING_TAG.test(token.raw) ? "" : token.raw;
    case "image":
      return withAddress(decodeEntities(token.text), token.href);
    case "link":
      return withAddress(tokensText(token.tokens), token.href);
    case "text":
      return token.tokens === undefined ? decodeEntities(token.text) : tokensText(token.tokens);
    case "strong":
    case "em":
    case "del":
      return tokensText(token.tokens);
    default:
      return token.raw;
  }
}

function tokensText(tokens: Token[]): string {
  return tokens.map((token) => tokenText(token as MarkedToken)).join("");
}

/**
 * Returns inline Markdown as plain text, trimmed: formatting and HTML formatting tags are dropped, a link becomes its
 * text with the URL in brackets (`docs (https://example.com)`), an image its description with the URL, `<br>` a line
 * break, and character references are decoded. `lexer` must have parsed the whole text before, so that reference
 * links resolve. A source of more than 4,000 characters, or more than 200 formatting characters, is returned
 * unchanged.
 */
export function plainText(source: string, lexer: Lexer): string {
  const isBounded =
    source.length <= MAX_INLINE_CHARS && (source.match(FORMATTING_CHARS)?.length ?? 0) <= MAX_FORMATTING_CHARS;
  return (isBounded ? tokensText(lexer.inlineTokens(source)) : source).trim();
}
