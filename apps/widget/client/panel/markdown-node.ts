/** The elements that Markdown can become. */
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

/** Text, which is never more than text, or an element around such. A line break is a line feed in a text. */
export type MarkdownNode = string | MarkdownElement;

/** An element. It has no attributes but these. */
export interface MarkdownElement {
  tag: MarkdownTag;
  children: MarkdownNode[];
  /** Of a link: http, https, mailto or tel. */
  href?: string;
  /** Of a numbered list: its first number. */
  start?: number;
}

/** The text of nodes without their marks, a line a block; as it is read out. */
export function textOf(nodes: MarkdownNode[]): string {
  return nodes
    .map((node) =>
      typeof node === "string" ? node : textOf(node.children) + (/^(?:p|h3|li|t.|pre)$/.test(node.tag) ? "\n" : ""),
    )
    .join("");
}
