import type { MarkdownElement, MarkdownNode } from "./markdown-node.ts";
import { parseInline } from "./parse-inline.ts";

/** Quotes and lists within each other; what is deeper is text. It bounds the time, too. */
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

/** The cells of a line of a table. A bar behind a backslash is text. */
function parseRow(line: string, tag: "th" | "td"): MarkdownElement {
  const cells = line
    .trim()
    .replace(/^\|/, "")
    .split(/(?<!\\)\|/);
  if (cells.length > 1 && isBlank(cells.at(-1))) cells.pop();
  return { tag: "tr", children: cells.map((cell) => ({ tag, children: parseInline(cell.trim()) })) };
}

/** Parses lines that lie `depth` quotes and lists deep. */
function parseBlocks(lines: string[], depth: number): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  let at = 0;
  /** Takes lines as long as `isIn`, and answers them. */
  const take = (isIn: (line: string, index: number) => boolean) => {
    const begin = at;
    while (at < lines.length && isIn(lines[at] ?? "", at)) at += 1;
    return lines.slice(begin, at);
  };

  /** One item of a list: its first line, and what is indented as far as its text or goes on with it. */
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
 * Reads Markdown as far as answers and people use it: paragraphs, headings (one level), emphasis, strong, strike, code,
 * fenced code, lists, quotes, links, bare addresses, tables, rules, escapes, line breaks. HTML stays text, an image
 * becomes a link. Takes time in proportion to the length of `text`, never throws, and loses no word.
 */
export function parseMarkdown(text: string): MarkdownNode[] {
  const lines = text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => line.replace(/^[ \t]+/, (indent) => indent.replaceAll("\t", "    ")));
  return parseBlocks(lines, 0);
}
