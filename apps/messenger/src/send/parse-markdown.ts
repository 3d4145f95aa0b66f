import type { Definition, Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** A Markdown text, read. */
export interface MarkdownDocument {
  root: Root;
  /** What reference links refer to, by identifier; the first definition counts. */
  definitions: ReadonlyMap<string, Definition>;
}

/** Deeper than anybody writes; what walks the tree calls itself for each level. */
const DEPTH_LIMIT = 100;

/** What Markdown is read from: longer texts are shown as they are. In UTF-16 units; some texts take quadratic time. */
const LENGTH_LIMIT = 32_768;

/** What opens quotations and lists at the begin of a line; the parser takes very long over thousands of them. */
const DEEP_LINE = /^[ \t>*+\-\d.)]{400}/m;

/**
 * Reads GitHub's Markdown (tables, task lists, footnotes, bare links, struck text). Null for a text that is longer or
 * nested deeper than any answer is: such a text is shown as it is written.
 */
export function parseMarkdown(text: string): MarkdownDocument | null {
  if (text.length > LENGTH_LIMIT || DEEP_LINE.test(text)) return null;
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
