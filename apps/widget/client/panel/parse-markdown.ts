/** The elements that Markdown can produce. */
export type MarkdownTag =
  | "p"
  | "h3"
  | "em"
  | "strong"
  | "del"
  | "code"
  | "pre"
  | "ul"
  | "ol"
  | "li"
  | "blockquote"
  | "a"
  | "table"
  | "tr"
  | "th"
  | "td"
  | "hr";

/** A literal text, or an element with such content. A line break is a line feed in a text. */
export type MarkdownNode = string | MarkdownElement;

/** An element. It has no other attributes. */
interface MarkdownElement {
  tag: MarkdownTag;
  children: MarkdownNode[];
  /** For a link: http, https, mailto or tel. */
  href?: string;
  /** For a numbered list: its first number. */
  start?: number;
}

/** Returns the text of nodes without Markdown syntax, one line per block, for screen readers. */
export function textOf(nodes: MarkdownNode[]): string {
  return nodes
    .map((node) =>
      typeof node === "string" ? node : textOf(node.children) + (/^(?:p|h3|li|t.|pre)$/.test(node.tag) ? "\n" : ""),
    )
    .join("");
}

/** Maximum characters of a link's URL; a longer one is not a link, which bounds the search for its end. */
const ADDRESS_MAX_CHARS = 2_048;

/** Maximum number of open emphasis markers. It limits how deep elements nest. */
const OPENERS_MAX_COUNT = 16;

/** The URLs that a link may have. All others stay text. */
const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:|tel:)/i;

/**
 * Everything that is not plain text, in one expression whose parts are bounded or cannot backtrack: an escape,
 * backticks, emphasis, the start and the end of a link, a line break of HTML or Markdown, an entity, and a bare URL,
 * which ends before punctuation of the surrounding sentence.
 */
const TOKEN =
  /\\([!-/:-@[-`{-~])|(`+)|(\*+|_+|~+)|(!?\[)|(\])|(<br ?\/?>|\\\n)|&(amp|lt|gt|quot|nbsp|#39);|<?\b(https?:\/\/(?:[^\s<>()\]]|\([^\s<>()\]]{0,200}\)){1,2048}(?<![?!.,:;*_~'"])|[a-z\d._+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8})>?/gi;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", "#39": "'" };

const isSpace = (char: string | undefined) => char === undefined || /\s/.test(char);
const isWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

/** Returns the end of the code span that `ticks` start at `from`; -1 if it is not closed. */
function findTicks(text: string, ticks: string, from: number): number {
  for (let at = text.indexOf(ticks, from); at >= 0; at = text.indexOf(ticks, at)) {
    let end = at + ticks.length;
    if (text[end] !== "`") return at;
    while (text[end] === "`") end += 1;
    at = end;
  }
  return -1;
}

/** Returns the URL after `](` with the position after the closing parenthesis; null if it is not an allowed URL. */
function readAddress(text: string, from: number): { href: string; end: number } | null {
  let depth = 0;
  for (let at = from; at < text.length && at < from + ADDRESS_MAX_CHARS; at += 1) {
    const char = text[at];
    if (char === "(") depth += 1;
    if (char === ")" && depth > 0) depth -= 1;
    else if (char === ")") {
      // A quoted title may follow after white space, which is not shown.
      const href = /^<?([^\s<>]*)>?(?:\s+(["'])[^]*\2)?$/.exec(text.slice(from, at).trim())?.[1] ?? "";
      return SAFE_ADDRESS.test(href) ? { href, end: at + 1 } : null;
    }
  }
  return null;
}

/**
 * Parses the emphasis, code, links and escapes of `text`. Takes time in proportion to its length, never throws, and
 * keeps unknown syntax as text; no element nests deeper than a few dozen levels.
 */
// oxlint-disable-next-line max-lines-per-function -- One pass over the tokens with one state; each step would need all of it.
function parseInline(text: string): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  /** Open emphasis: its markers remain in `nodes[at]` as text until they are closed. */
  const openers: { char: string; count: number; at: number }[] = [];
  /** Open links, with the number of emphasis markers before them. */
  const brackets: { at: number; depth: number }[] = [];
  /** Backtick sequences that are not closed from here on. */
  const unclosed = new Set<string>();
  let from = 0;

  function closeEmphasis(char: string, length: number): number {
    let count = length;
    for (let index = openers.length - 1; index >= 0 && count > 0; index -= 1) {
      const opener = openers[index];
      if (opener?.char !== char) continue;
      while (opener.count > 0 && count > 0) {
        const used = char === "~" ? 2 : Math.min(2, opener.count, count);
        const children = nodes.splice(opener.at + 1);
        nodes.push({ tag: char === "~" ? "del" : used === 2 ? "strong" : "em", children });
        opener.count -= used;
        count -= used;
      }
      nodes[opener.at] = char.repeat(opener.count);
      // Unclosed markers within it stay text, and used ones are removed.
      openers.length = opener.count > 0 ? index + 1 : index;
      while ((brackets.at(-1)?.at ?? -1) > opener.at) brackets.pop();
    }
    return count;
  }

  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [all, escaped, ticks, marks, opening, closing, lineBreak, entity, bare] = match;
    const at = match.index;
    let end = at + all.length;
    if (at > from) nodes.push(text.slice(from, at));
    if (ticks !== undefined) {
      const close = unclosed.has(ticks) ? -1 : findTicks(text, ticks, end);
      if (close < 0) {
        unclosed.add(ticks);
        nodes.push(all);
      } else {
        nodes.push({ tag: "code", children: [text.slice(end, close).trim()] });
        end = close + ticks.length;
      }
    } else if (marks !== undefined) {
      const char = all.charAt(0);
      const before = text[at - 1];
      const after = text[end];
      const isBounded = all.length <= 3 && (char !== "~" || all.length === 2);
      const canClose = isBounded && !isSpace(before) && (char !== "_" || !isWord(after));
      const canOpen = isBounded && !isSpace(after) && (char !== "_" || !isWord(before));
      const count = canClose ? closeEmphasis(char, all.length) : all.length;
      if (count > 0) {
        nodes.push(char.repeat(count));
        if (canOpen && openers.push({ char, count, at: nodes.length - 1 }) > OPENERS_MAX_COUNT) openers.shift();
      }
    } else if (opening !== undefined) {
      brackets.push({ at: nodes.push(all) - 1, depth: openers.length });
    } else if (closing !== undefined) {
      const bracket = brackets.pop();
      const address = bracket !== undefined && text[end] === "(" ? readAddress(text, end + 1) : null;
      if (bracket === undefined || address === null) nodes.push(all);
      else {
        nodes[bracket.at] = { tag: "a", href: address.href, children: nodes.splice(bracket.at + 1) };
        openers.length = Math.min(openers.length, bracket.depth);
        // Links do not nest: earlier brackets stay text.
        brackets.length = 0;
        end = address.end;
      }
    } else if (bare !== undefined && brackets.length === 0) {
      nodes.push({ tag: "a", href: SAFE_ADDRESS.test(bare) ? bare : `mailto:${bare}`, children: [bare] });
      // A closing bracket after a URL belongs to it only if there is an opening one.
      if (!all.startsWith("<")) end = at + bare.length;
    } else nodes.push(lineBreak === undefined ? (escaped ?? ENTITIES[entity ?? ""] ?? all) : "\n");
    from = TOKEN.lastIndex = end;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

/** Maximum depth of nested quotes and lists; deeper ones are text. It limits the time, too. */
const DEPTH_MAX = 6;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?:\s+|$)/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)/;
const DELIMITERS = /^[-:| \t]+$/;

const isBlank = (line: string | undefined) => line === undefined || line.trim() === "";
const widthOf = (line: string) => line.length - line.trimStart().length;

const isTableAt = (lines: string[], at: number) => {
  const next = lines[at + 1] ?? "";
  return lines[at]?.includes("|") === true && next.includes("|") && next.includes("-") && DELIMITERS.test(next);
};
const beginsBlock = (lines: string[], at: number) =>
  [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(lines[at] ?? "")) || isTableAt(lines, at);

/** Returns the cells of a table row. An escaped pipe is text. */
function parseRow(line: string, tag: "th" | "td"): MarkdownElement {
  const cells = line
    .trim()
    .replace(/^\|/, "")
    .split(/(?<!\\)\|/);
  if (cells.length > 1 && isBlank(cells.at(-1))) cells.pop();
  return { tag: "tr", children: cells.map((cell) => ({ tag, children: parseInline(cell.trim()) })) };
}

/** Parses lines that are nested in `depth` quotes and lists. */
// oxlint-disable-next-line max-lines-per-function -- One pass over the lines with one position; each step moves it.
function parseBlocks(lines: string[], depth: number): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  let at = 0;
  /** Consumes lines while `isIn` returns true, and returns them. */
  const take = (isIn: (line: string, index: number) => boolean) => {
    const begin = at;
    while (at < lines.length && isIn(lines[at] ?? "", at)) at += 1;
    return lines.slice(begin, at);
  };

  /** Consumes one list item: its first line, and lines that are indented as far as its text or continue it. */
  function takeItem(): MarkdownElement {
    const [all = "", indent = ""] = ITEM.exec(lines[at] ?? "") ?? [];
    const first = (lines[at] ?? "").slice(all.length);
    at += 1;
    const rest = take(
      (line, index) =>
        isBlank(line) ||
        widthOf(line) >= indent.length + 2 ||
        (!isBlank(lines[index - 1]) && !beginsBlock(lines, index)),
    ).map((line) => line.slice(Math.min(widthOf(line), all.length)));
    const [head, ...children] = parseBlocks([first, ...rest], depth + 1);
    const isParagraph = typeof head === "object" && head.tag === "p";
    const begun = head === undefined ? [] : isParagraph ? head.children : [head];
    return { tag: "li", children: [...begun, ...children] };
  }

  while (at < lines.length) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line)?.[1];
    const item = depth < DEPTH_MAX ? ITEM.exec(line) : null;
    if (isBlank(line)) at += 1;
    else if (fence !== undefined) {
      at += 1;
      const code = take(
        (next) => !(next.trim().startsWith(fence) && next.trim().replaceAll(fence.charAt(0), "") === ""),
      );
      at += 1;
      nodes.push({ tag: "pre", children: [{ tag: "code", children: [code.join("\n")] }] });
    } else if (HEADING.test(line)) {
      at += 1;
      nodes.push({ tag: "h3", children: parseInline(line.replace(HEADING, "").trimEnd()) });
    } else if (RULE.test(line)) {
      at += 1;
      nodes.push({ tag: "hr", children: [] });
    } else if (depth < DEPTH_MAX && QUOTE.test(line)) {
      const quoted = take((next) => QUOTE.test(next)).map((next) => next.replace(QUOTE, ""));
      nodes.push({ tag: "blockquote", children: parseBlocks(quoted, depth + 1) });
    } else if (item !== null) {
      const kind = item[2]?.at(-1) ?? "";
      const number = Number.parseInt(item[2] ?? "", 10);
      const children: MarkdownNode[] = [];
      while (ITEM.exec(lines[at] ?? "")?.[2]?.at(-1) === kind && !RULE.test(lines[at] ?? "")) {
        children.push(takeItem());
      }
      nodes.push(Number.isNaN(number) ? { tag: "ul", children } : { tag: "ol", start: number, children });
    } else if (isTableAt(lines, at)) {
      const head = parseRow(line, "th");
      at += 2;
      const rows = take((next) => next.includes("|")).map((next) => parseRow(next, "td"));
      nodes.push({ tag: "table", children: [head, ...rows] });
    } else {
      const begin = at;
      const text = take((next, index) => index === begin || (!isBlank(next) && !beginsBlock(lines, index)));
      nodes.push({
        tag: "p",
        children: parseInline(
          text
            .map((next) => next.trimStart())
            .join("\n")
            .trimEnd(),
        ),
      });
    }
  }
  return nodes;
}

/**
 * Parses the Markdown that answers and people use: paragraphs, headings (one level), emphasis, strong, strike, code,
 * fenced code, lists, quotes, links, bare URLs, tables, rules, escapes, line breaks. HTML stays text, an image becomes
 * a link. Takes time in proportion to the length of `text`, never throws, and loses no word.
 */
export function parseMarkdown(text: string): MarkdownNode[] {
  const lines = text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => line.replace(/^[ \t]+/, (indent) => indent.replaceAll("\t", "    ")));
  return parseBlocks(lines, 0);
}
