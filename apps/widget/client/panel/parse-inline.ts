import type { MarkdownNode } from "./markdown-node.ts";

/** Characters of a link's address; what is longer is no link, so that no search for its end is long. */
const ADDRESS_MAX_CHARS = 2_048;

/** Openers of emphasis that are remembered at once. It bounds how deep elements nest. */
const OPENERS_MAX_COUNT = 16;

/** The addresses that a link may have. Everything else stays text. */
const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:|tel:)/i;

/**
 * What is not plain text, in one expression whose parts are bounded or have nothing to backtrack over: an escape,
 * backticks, emphasis, the begin and the end of a link, a line break of HTML or Markdown, an entity, and a bare address,
 * which ends before what belongs to the sentence around it.
 */
const TOKEN =
  /\\([!-/:-@[-`{-~])|(`+)|(\*+|_+|~+)|(!?\[)|(\])|(<br ?\/?>|\\\n)|&(amp|lt|gt|quot|nbsp|#39);|<?\b(https?:\/\/(?:[^\s<>()\]]|\([^\s<>()\]]{0,200}\)){1,2048}(?<![?!.,:;*_~'"])|[a-z\d._+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8})>?/gi;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", "#39": "'" };

const isSpace = (char: string | undefined) => char === undefined || /\s/.test(char);
const isWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

/** Where the code span that `ticks` begin at `from` ends; -1 where it does not. */
function findTicks(text: string, ticks: string, from: number): number {
  for (let at = text.indexOf(ticks, from); at >= 0; at = text.indexOf(ticks, at)) {
    let end = at + ticks.length;
    if (text[end] !== "`") return at;
    while (text[end] === "`") end += 1;
    at = end;
  }
  return -1;
}

/** The address and title behind `](`, as far as the closing parenthesis; null where it is no address that is allowed. */
function readAddress(text: string, from: number): { href: string; end: number } | null {
  let depth = 0;
  for (let at = from; at < text.length && at < from + ADDRESS_MAX_CHARS; at += 1) {
    const char = text[at];
    if (char === "(") depth += 1;
    if (char === ")" && depth > 0) depth -= 1;
    else if (char === ")") {
      // Behind white space may stand a title in quotes, which is not shown.
      const href = /^<?([^\s<>]*)>?(?:\s+(["'])[^]*\2)?$/.exec(text.slice(from, at).trim())?.[1] ?? "";
      return SAFE_ADDRESS.test(href) ? { href, end: at + 1 } : null;
    }
  }
  return null;
}

/**
 * Reads the emphasis, code, links and escapes of `text`. Takes time in proportion to its length, never throws, and
 * keeps as text what it does not know; no element nests deeper than a few dozen levels.
 */
export function parseInline(text: string): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  /** Emphasis that is open: its marks stand in `nodes[at]` as text until they are closed. */
  const openers: { char: string; count: number; at: number }[] = [];
  /** Links that are open, with how many openers of emphasis stood before them. */
  const brackets: { at: number; depth: number }[] = [];
  /** Lengths of backticks that nothing closes from here on. */
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
      // What was opened within is text now, and what is used up is gone.
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
        // Links do not nest: what was opened before stays text.
        brackets.length = 0;
        end = address.end;
      }
    } else if (bare !== undefined && brackets.length === 0) {
      nodes.push({ tag: "a", href: SAFE_ADDRESS.test(bare) ? bare : `mailto:${bare}`, children: [bare] });
      // A bracket behind an address belongs to it only where there is one before it.
      if (!all.startsWith("<")) end = at + bare.length;
    } else nodes.push(lineBreak === undefined ? (escaped ?? ENTITIES[entity ?? ""] ?? all) : "\n");
    from = TOKEN.lastIndex = end;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}
