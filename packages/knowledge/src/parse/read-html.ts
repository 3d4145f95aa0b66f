import Turndown from "turndown";
import { cleanHtml } from "./clean-html.ts";
import { fileError, fileTooLarge } from "../ingest-file.ts";
import type { FileText } from "../ingest-file.ts";
import type { ReadLimits } from "./read-limits.ts";
import { WEB_ADDRESS, escapeMarkdown, unescapeStart, formatTable } from "./format-table.ts";

/**
 * Marks between turndown's rules, around the cells and rows of a table, and before signs that are escaped only in the
 * text of a link; they are noncharacters, so they occur in no text.
 */
const CELL = "\uFDD0";
const ROW = "\uFDD1";
const LINK_ESCAPE = "\uFDD2";

/** A cell with a larger span counts as one column. */
const MAX_SPAN = 50;

/** The part of turndown's DOM that is used here. */
interface DomNode {
  nodeName: string;
  textContent: string | null;
  parentNode: DomNode | null;
  previousSibling: DomNode | null;
  nextSibling: DomNode | null;
  getAttribute(name: string): string | null;
}

/**
 * Converts cleaned HTML to Markdown: ATX headings, `-` lists, fenced code with its language, tables of GitHub Flavored
 * Markdown, links unchanged. Text is escaped as little as possible. Converts every link and element, so clean the HTML
 * first (`cleanHtml`).
 */
export function htmlToMarkdown(html: string): string {
  const markdown = createTurndown().turndown(html.replace(/[\uFDD0-\uFDD2]/g, ""));
  return tidyMarkdown(markdown.replaceAll("\u00a0", " ").replace(/[\u00ad\u200b\u2060\ufeff\uFDD2]/g, ""));
}

/** How elements are written, by the name of the rule. */
const RULES: Readonly<Record<string, Turndown.Rule>> = {
  // turndown's own rule pads the marker to four columns; one space is easier to read and shorter.
  listItem: {
    filter: "li",
    replacement: (content, node: DomNode) => {
      const marker = `${markerOf(node)} `;
      const body = content.trim().replace(/\n/g, `\n${" ".repeat(marker.length)}`);
      return `${marker}${body}${node.nextSibling === null ? "" : "\n"}`;
    },
  },
  heading: {
    filter: ["h1", "h2", "h3", "h4", "h5", "h6"],
    replacement: (content, node: DomNode) => {
      const title = unescapeStart(content.replace(/\s+/g, " ").trim());
      return title === "" ? "" : `\n\n${"#".repeat(Number(node.nodeName.charAt(1)))} ${title}\n\n`;
    },
  },
  // Handles a <pre> without a <code>, and code that contains fences itself.
  codeBlock: {
    filter: "pre",
    replacement: (_, node: DomNode) => {
      const code = (node.textContent ?? "").replace(/^\n+|\s+$/g, "");
      if (code.trim() === "") return "";
      const longest = Math.max(2, ...[...code.matchAll(/^\s*(`{3,})/gm)].map((match) => match[1]?.length ?? 0));
      const fence = "`".repeat(longest + 1);
      return `\n\n${fence}${node.getAttribute("data-language") ?? ""}\n${code}\n${fence}\n\n`;
    },
  },
  link: { filter: (node) => node.nodeName === "A" && node.hasAttribute("href"), replacement: linkOf },
  struck: {
    filter: ["del", "s"],
    replacement: (content) => (content.trim() === "" ? "" : `~~${content}~~`),
  },
  cell: {
    filter: ["td", "th"],
    replacement: (content, node: DomNode) => {
      const span = Number(node.getAttribute("colspan") ?? 1);
      return CELL + cellText(content) + CELL.repeat(span > 1 && span <= MAX_SPAN ? span - 1 : 0);
    },
  },
  row: { filter: "tr", replacement: (content) => `${ROW}${content}` },
  section: { filter: ["thead", "tbody", "tfoot"], replacement: (content) => content },
  table: {
    filter: "table",
    replacement: (content) => {
      const rows = content
        .split(ROW)
        .slice(1)
        .map((row) => row.split(CELL).slice(1));
      return `\n\n${formatTable(rows)}\n\n`;
    },
  },
};

function createTurndown(): Turndown {
  const service = new Turndown({
    headingStyle: "atx",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
    emDelimiter: "*",
    hr: "---",
    preformattedCode: false,
  });
  service.escape = escapeText;
  for (const [name, rule] of Object.entries(RULES)) service.addRule(name, rule);
  return service;
}

/** Escapes text, and marks what is escaped in a link: brackets, and all signs of URLs, which are no links of their own there. */
function escapeText(text: string): string {
  return escapeMarkdown(text)
    .replace(WEB_ADDRESS, (url) => url.replace(/\\(?=[!-/:-@[-`{-~])|[`*_~[\]]|&(?=#?\w{1,32};)/g, `${LINK_ESCAPE}$&`))
    .replace(/[\\\uFDD2].|[[\]]/gs, (sign) => (sign.length > 1 ? sign : `${LINK_ESCAPE}${sign}`));
}

function linkOf(content: string, link: DomNode): string {
  const text = content
    // A pair of brackets, as in `[1]`, ends no link.
    .replace(/(?<!\\)\uFDD2\[([^[\]\\\uFDD2]*)\uFDD2\](?!\uFDD2?[([:])/g, "[$1]")
    // The lexer of the console reads escaped brackets of a link as brackets, which are no link before an escaped one.
    .replaceAll(`${LINK_ESCAPE}](`, "\\]\\(")
    .replaceAll(LINK_ESCAPE, "\\")
    // A backslash at the end would escape the bracket.
    .replace(/(?<!\\)(?:\\\\)*\\$/, "$&\\");
  return `[${text}](${link.getAttribute("href") ?? ""})`;
}

function markerOf(item: DomNode): string {
  const list = item.parentNode;
  if (list?.nodeName !== "OL") return "-";
  const start = Number(list.getAttribute("start") ?? 1);
  let index = 0;
  for (let before = item.previousSibling; before !== null; before = before.previousSibling) {
    if (before.nodeName === "LI") index += 1;
  }
  return `${(Number.isSafeInteger(start) && start >= 0 ? start : 1) + index}.`;
}

/** Returns the content of a cell on one line: paragraphs are joined, list items are separated by semicolons. */
function cellText(content: string): string {
  const lines = content
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const items = lines.map((line) => line.replace(/^(?:-|\d+\.) +/, ""));
  const isList = lines.length > 1 && lines.every((line, index) => line !== items[index]);
  return unescapeStart((isList ? items : lines).join(isList ? "; " : " "));
}

/** Removes repeated blank lines and trailing spaces; code blocks are unchanged. */
function tidyMarkdown(markdown: string): string {
  const lines: string[] = [];
  let fence = "";
  for (const line of markdown.split("\n")) {
    const mark = /^\s*(?:[->]\s+|\d+\.\s+)*(`{3,})/.exec(line)?.[1] ?? "";
    if (fence !== "") {
      if (mark.startsWith(fence)) fence = "";
      lines.push(line);
      continue;
    }
    fence = mark;
    const tidy = line.trimEnd();
    if (tidy !== "" || (lines.at(-1) ?? "") !== "") lines.push(tidy);
  }
  return lines.join("\n").trim();
}

/**
 * Reads a web page: its main content as Markdown with headings, lists, tables, code and links. A page without text in
 * its main content is read as a whole. Throws `payload_too_large` for too many tags, and `no_text` if a reader without
 * scripts sees nothing.
 */
export function readHtml(html: string, file: { name: string; url?: string }, limits: ReadLimits): FileText {
  checkTags(html, file.name, limits);
  const options = { maxDepth: limits.htmlDepth, ...(file.url === undefined ? {} : { url: file.url }) };
  for (const extent of ["main", "everything"] as const) {
    const { html: cleaned, title, links } = cleanHtml(html, { ...options, extent });
    const text = htmlToMarkdown(cleaned);
    if (text !== "") return { text, mime: "text/markdown", title, sourceMime: "text/html", links };
  }
  throw fileError(
    file.name,
    "no_text",
    "contains no text; if the page is built by scripts, save it from a browser and add that file",
  );
}

/** Each tag becomes an object of a few hundred bytes, whatever its size in the file. */
function checkTags(html: string, name: string, limits: ReadLimits): void {
  let tags = 0;
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", at + 1)) {
    tags += 1;
    if (tags > limits.htmlTags) {
      throw fileTooLarge(name, `has more than ${limits.htmlTags} tags, the maximum for an HTML page; split it`);
    }
  }
}
