/** A parsed rich message: its text, and its tags, with repetitions. */
export interface RichText {
  text: string;
  tags: string[];
}

const VOID_TAGS = new Set(["br", "hr", "img", "input", "tg-map"]);
/** Tags that may also be self-closing, as in the Bot API's own examples. */
const SELF_CLOSING_TAGS = new Set(["video", "audio"]);

const BLOCK_TAGS = new Set(
  "p h1 h2 h3 h4 h5 h6 pre footer hr ul ol li blockquote aside figure tg-collage tg-slideshow table tr details tg-math-block".split(
    " ",
  ),
);
const INLINE_TAGS =
  "a b strong i em u ins s strike del code mark sub sup tg-spoiler tg-reference tg-emoji tg-time tg-math br cite";
const OTHER_TAGS = "img video audio figcaption tg-map caption th td summary input";
const KNOWN_TAGS = new Set([...BLOCK_TAGS, ...`${INLINE_TAGS} ${OTHER_TAGS}`.split(" ")]);

/** Allowed parents of a tag; other tags may be anywhere. */
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  li: ["ul", "ol"],
  tr: ["table"],
  td: ["tr"],
  th: ["tr"],
  caption: ["table"],
  summary: ["details"],
  figcaption: ["figure", "tg-collage", "tg-slideshow"],
  input: ["li"],
};

/** A cell contains only inline formatting. */
const CELLS = new Set(["td", "th"]);

const NAMED_CHARACTERS: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};

/** Limits of rich messages (https://core.telegram.org/bots/api#inputrichmessage). */
export const RICH_LIMITS = { characters: 32_768, blocks: 500, levels: 16, columns: 20 } as const;

const TAG = /^<(\/?)([a-z][a-z\d-]*)((?:\s+[a-z][a-z\d-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[a-z\d.-]+))?)*)\s*(\/?)>/i;
const REFERENCE = /&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi;

/**
 * Reads a rich message in HTML, more strictly than Telegram has to be: only the tags that it lists, each where it
 * belongs and closed, and its limits.
 *
 * @throws Error whose message says what is wrong, and where.
 */
export function parseRichHtml(html: string): RichText {
  const open: string[] = [];
  const tags: string[] = [];
  const columns: number[] = [];
  let text = "";
  let blocks = 0;
  let position = 0;

  function enter(name: string, at: string): void {
    const parent = open.at(-1);
    if (PARENTS[name]?.includes(parent ?? "") === false) throw new Error(`Misplaced start tag "${name}" ${at}`);
    if (BLOCK_TAGS.has(name) && open.some((tag) => CELLS.has(tag))) {
      throw new Error(`Block tag "${name}" in a table cell ${at}`);
    }
    tags.push(name);
    if (BLOCK_TAGS.has(name) && ++blocks > RICH_LIMITS.blocks) throw new Error("Too many blocks");
    if (name === "tr") columns.push(0);
    if (CELLS.has(name)) {
      columns.push((columns.pop() ?? 0) + 1);
      if ((columns.at(-1) ?? 0) > RICH_LIMITS.columns) throw new Error("Too many columns in a table");
    }
  }

  while (position < html.length) {
    const next = html.indexOf("<", position);
    const end = next === -1 ? html.length : next;
    text += decode(html.slice(position, end));
    position = end;
    if (position === html.length) break;
    const at = `at byte offset ${Buffer.byteLength(html.slice(0, position))}`;
    const found = TAG.exec(html.slice(position));
    if (found === null) throw new Error(`Unclosed start tag ${at}`);
    const [whole, slash, written = "", , selfClosing] = found;
    const name = written.toLowerCase();
    if (!KNOWN_TAGS.has(name)) throw new Error(`Unsupported start tag "${name}" ${at}`);
    position += whole.length;
    if (slash === "/") {
      if (open.pop() !== name) throw new Error(`Unmatched end tag ${at}`);
      continue;
    }
    enter(name, at);
    const isClosed = VOID_TAGS.has(name) || (selfClosing === "/" && SELF_CLOSING_TAGS.has(name));
    if (selfClosing === "/" && !isClosed) throw new Error(`Tag "${name}" cannot close itself ${at}`);
    if (!isClosed && open.push(name) > RICH_LIMITS.levels) throw new Error(`Too many levels ${at}`);
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw new Error(`Can't find end tag corresponding to start tag "${unclosed}"`);
  if (Array.from(text).length > RICH_LIMITS.characters) throw new Error("Text is too long");
  return { text, tags };
}

function decode(text: string): string {
  return text.replaceAll(REFERENCE, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return NAMED_CHARACTERS[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : whole;
  });
}
