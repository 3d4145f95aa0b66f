import type { Definition, ListItem, Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** True for the one tag that answers have within lines, tables above all, for want of another way to break them. */
export const isLineBreak = (html: string): boolean => /^<br\s*\/?>$/i.test(html);

/** The box of a task in a list, with a space after it; empty for an item that is no task. */
export function checkMarkOf({ checked }: ListItem): string {
  if (typeof checked !== "boolean") return "";
  return checked ? "☑ " : "☐ ";
}

/**
 * A text as Telegram takes it: well-formed, with one kind of line end, without control characters. Half a surrogate
 * pair would make the whole request unreadable.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(/\p{Cc}/gu, (control) => (control === "\n" || control === "\t" ? control : ""));
}

/** Characters that take room and show nothing, beside white space: Telegram takes no message of such alone. */
const INVISIBLE = /^(?:[\s\p{Cc}\p{Cf}\u115F\u1160\u2800\u3164\uFFA0]|\uFE0F)*$/u;

/** True for a text that shows nothing. */
export const isBlank = (text: string): boolean => INVISIBLE.test(text);

const RIGHT_TO_LEFT =
  /^[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** True for a text whose first letter is of a script that is written from right to left. */
export const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(/\p{L}/u.exec(text)?.[0] ?? "");

/** Telegram would take a mail address for a web site; it finds those and phone numbers in the text by itself. */
const SCHEMES = new Set(["http:", "https:", "tg:"]);

/** Longer addresses do not become links. */
const LINK_MAX_CHARS = 2_048;

/** The address as a link may have it; null for one that Telegram, or a reader, is better not given as a link. */
export function safeLink(url: string): string | null {
  if (url.length > LINK_MAX_CHARS) return null;
  try {
    const { protocol, href } = new URL(url);
    return SCHEMES.has(protocol) ? href : null;
  } catch {
    // Relative addresses lead nowhere in a message.
    return null;
  }
}

/** The address of a link as readers see it where there can be no link. */
export const shownAddress = (url: string): string => url.replace(/^(?:mailto|tel):/i, "");

/** A Markdown text, read. */
export interface MarkdownDocument {
  root: Root;
  /** What reference links refer to, by identifier; the first definition counts. */
  definitions: ReadonlyMap<string, Definition>;
}

/** Deeper than anybody writes; what walks the tree calls itself for each level. */
const DEPTH_LIMIT = 100;

/** What Markdown is read from: longer texts are shown as they are. In UTF-16 units; some texts take quadratic time. */
const MARKDOWN_MAX_CHARS = 32_768;

/** What opens quotations and lists at the begin of a line; the parser takes very long over thousands of them. */
const DEEP_LINE = /^[ \t>*+\-\d.)]{400}/m;

/**
 * Reads GitHub's Markdown (tables, task lists, footnotes, bare links, struck text). Null for a text that is longer or
 * nested deeper than any answer is: such a text is shown as it is written.
 */
export function parseMarkdown(text: string): MarkdownDocument | null {
  if (text.length > MARKDOWN_MAX_CHARS || DEEP_LINE.test(text)) return null;
  const root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const definitions = new Map<string, Definition>();
  const open: { node: Nodes; depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    if (depth > DEPTH_LIMIT) return null;
    if (node.type === "definition" && !definitions.has(node.identifier)) definitions.set(node.identifier, node);
    if ("children" in node)
      open.push(...node.children.map((child) => ({ node: child, depth: depth + 1 })).toReversed());
  }
  return { root, definitions };
}
