import { Lexer, Tokenizer } from "marked";
import type { MarkedToken, Token, Tokens } from "marked";

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

/** Alignment of a column, from the delimiter row of its table. */
export type ColumnAlign = "left" | "center" | "right" | null;

/**
 * A table of a Markdown text, with its cells as plain text. A row may have fewer cells than the header, never more.
 */
export interface FoundTable {
  /** Plain text of the nearest heading above the table, on its own or an outer level of lists and quotes. */
  heading: string | null;
  header: string[];
  rows: string[][];
  align: ColumnAlign[];
  /**
   * Total rows (without the header) and columns in the text; more than in `rows` and `header` if the table was
   * truncated.
   */
  totalRows: number;
  totalColumns: number;
}

/** Limits of reading a text. */
interface TableLimits {
  maxTables: number;
  maxRows: number;
  maxColumns: number;
}

/** Part of every delimiter row of a table; texts without it, like most answers, are not parsed. */
const DELIMITER_HINT = /-[ \t]*[|:]|[|:][ \t]*-/;
/** Maximum nesting of lists and quotes, which real answers do not exceed. */
const MAX_NESTING = 16;
/**
 * Maximum average number of times that a character is read again as part of a list or quote. The lexer reads a quote
 * that continues after a nested quote or a code block again on each level, which takes minutes for 300 levels.
 */
const MAX_READINGS = 32;

/** Returns the first `maxCells` cells of a table row, split at unescaped pipes (GFM, section 4.10). */
function splitRow(row: string, maxCells: number): string[] {
  const line = row.trim();
  const cells: string[] = [];
  let start = line.startsWith("|") ? 1 : 0;
  for (let index = start; index < line.length && cells.length < maxCells; index++) {
    if (line[index] === "\\") index++;
    else if (line[index] === "|") {
      cells.push(line.slice(start, index));
      start = index + 1;
    }
  }
  if (cells.length < maxCells && start < line.length) cells.push(line.slice(start));
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/**
 * Creates a block lexer that returns the rows of each table as lines in `bodies`, since the library's own pads every
 * row to the width of the header, so that 40 kB of text could become a hundred million cells. It throws a RangeError
 * on nesting that would take unbounded time or stack.
 */
function createBoundedLexer(textLength: number) {
  const tokenizer = new Tokenizer();
  const bodies = new WeakMap<Tokens.Table, string[]>();
  const readTable = tokenizer.table.bind(tokenizer);
  tokenizer.table = (source) => {
    const [raw, header, delimiter, body = ""] = tokenizer.rules.block.table.exec(source) ?? [];
    if (raw === undefined || header === undefined || delimiter === undefined) return undefined;
    const table = readTable(`${header}\n${delimiter}\n`);
    if (table === undefined) return undefined;
    table.raw = raw;
    bodies.set(table, body.trim() === "" ? [] : body.trimEnd().split("\n"));
    return table;
  };

  let nesting = 0;
  let charsLeft = textLength * MAX_READINGS;
  function bounded<Container extends Token>(
    read: (source: string) => Container | undefined,
    countRead: (source: string, token: Container) => number,
  ) {
    return (source: string) => {
      if (nesting > MAX_NESTING) throw new RangeError("lists and quotes are nested too deeply to find tables");
      nesting++;
      try {
        const token = read(source);
        if (token !== undefined) charsLeft -= countRead(source, token);
        if (charsLeft < 0) throw new RangeError("lists and quotes are too complex to find tables");
        return token;
      } finally {
        nesting--;
      }
    };
  }
  tokenizer.list = bounded(tokenizer.list.bind(tokenizer), (_source, list) => list.raw.length);
  // The lexer splits all quoted lines even if it then uses only the first one.
  const countQuoted = (source: string) => tokenizer.rules.block.blockquote.exec(source)?.[0].length ?? 0;
  tokenizer.blockquote = bounded(tokenizer.blockquote.bind(tokenizer), countQuoted);
  return { lexer: new Lexer({ gfm: true, tokenizer }), bodies };
}

/** Calls `visit` for each table in document order, with the source of the heading above it. */
function walkTables(
  tokens: Token[],
  outerHeading: string | null,
  visit: (table: Tokens.Table, heading: string | null) => void,
): void {
  let heading = outerHeading;
  for (const token of tokens as MarkedToken[]) {
    if (token.type === "heading") heading = token.text;
    else if (token.type === "table") visit(token, heading);
    else if (token.type === "blockquote") walkTables(token.tokens, heading, visit);
    else if (token.type === "list") for (const item of token.items) walkTables(item.tokens, heading, visit);
  }
}

/**
 * Returns the tables of a Markdown text (GitHub Flavored Markdown, section 4.10), including those in lists and
 * quotes, but not in code. `tables` has the first `maxTables`, each truncated to `maxRows` × `maxColumns`; `found` is
 * the total number. Only blocks and the cells of the returned tables are parsed, so that the time is bounded. Throws
 * a RangeError if lists and quotes nest more than 16 levels deep.
 */
export function findTables(text: string, limits: TableLimits): { tables: FoundTable[]; found: number } {
  if (!DELIMITER_HINT.test(text)) return { tables: [], found: 0 };
  const { lexer, bodies } = createBoundedLexer(text.length);
  const tables: FoundTable[] = [];
  let found = 0;
  walkTables(lexer.blockTokens(text.replaceAll(/\r\n?/g, "\n"), lexer.tokens), null, (table, heading) => {
    found++;
    if (found > limits.maxTables) return;
    const body = bodies.get(table) ?? [];
    const maxCells = Math.min(table.header.length, limits.maxColumns);
    tables.push({
      heading: heading === null ? null : plainText(heading, lexer),
      header: table.header.slice(0, maxCells).map((cell) => plainText(cell.text, lexer)),
      rows: body.slice(0, limits.maxRows).map((row) => splitRow(row, maxCells).map((cell) => plainText(cell, lexer))),
      align: table.align.slice(0, maxCells),
      totalRows: body.length,
      totalColumns: table.header.length,
    });
  });
  return { tables, found };
}
