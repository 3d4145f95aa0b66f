import type { List, ListItem, PhrasingContent, RootContent, Table, TableCell, TableRow } from "mdast";
import { toString } from "mdast-util-to-string";
import { checkMarkOf, isLineBreak, safeLink, shownAddress } from "./parse-markdown.ts";
import type { MarkdownDocument } from "./parse-markdown.ts";
import { escapeHtml, languageName } from "./render-html.ts";

/**
 * Below the limits of a rich message (https://core.telegram.org/bots/api#rich-message-formatting-options: 32,768
 * characters, 500 blocks, 16 levels, 20 columns), since Telegram does not document how it counts blocks and levels.
 */
const RICH_LIMITS = { chars: 32_768, blocks: 450, depth: 14, columns: 20 };

/**
 * Blocks that only a rich message shows. Others look the same in an ordinary message, which older clients support
 * too.
 */
const STRUCTURES = new Set<RootContent["type"]>(["heading", "list", "table", "thematicBreak", "footnoteDefinition"]);

interface Rendering {
  definitions: MarkdownDocument["definitions"];
  blocks: number;
  depth: number;
  isTooLarge: boolean;
}

/**
 * Returns a Markdown document as HTML for `sendRichMessage`. Null if it has no structure, so that an ordinary message
 * shows it as well, or if it exceeds the limits of a rich message.
 */
export function renderRichHtml({ root, definitions }: MarkdownDocument): string | null {
  if (!root.children.some(hasStructure)) return null;
  const rendering: Rendering = { definitions, blocks: 0, depth: 0, isTooLarge: false };
  const html = renderBlocks(rendering, root.children);
  const isTooLarge = rendering.isTooLarge || rendering.blocks > RICH_LIMITS.blocks || html.length > RICH_LIMITS.chars;
  return isTooLarge ? null : html;
}

const hasStructure = (node: RootContent): boolean =>
  STRUCTURES.has(node.type) || (node.type === "blockquote" && node.children.some(hasStructure));

function within(rendering: Rendering, render: () => string): string {
  rendering.depth += 1;
  if (rendering.depth > RICH_LIMITS.depth) rendering.isTooLarge = true;
  const html = rendering.isTooLarge ? "" : render();
  rendering.depth -= 1;
  return html;
}

const renderBlocks = (rendering: Rendering, blocks: readonly RootContent[]): string =>
  blocks.map((block) => renderBlock(rendering, block)).join("");

function renderBlock(rendering: Rendering, block: RootContent): string {
  rendering.blocks += 1;
  switch (block.type) {
    case "heading":
      return element(rendering, `h${block.depth}`, () => renderInlines(rendering, block.children));
    case "paragraph":
      return element(rendering, "p", () => renderInlines(rendering, block.children));
    case "code":
      return renderCode(block.value, block.lang);
    case "blockquote":
      return element(rendering, "blockquote", () => renderBlocks(rendering, block.children));
    case "list":
      return renderList(rendering, block);
    case "table":
      return renderTable(rendering, block);
    case "thematicBreak":
      return "<hr/>";
    case "footnoteDefinition":
      return (
        element(rendering, "p", () => escapeHtml(`[${block.label ?? block.identifier}]`)) +
        renderBlocks(rendering, block.children)
      );
    case "definition":
      return "";
    case "html":
    case "yaml":
      return element(rendering, "p", () => withBreaks(block.value));
    case "listItem":
      return element(rendering, "ul", () => renderItem(rendering, block));
    case "tableRow":
    case "tableCell":
      return element(rendering, "p", () => withBreaks(toString(block)));
    default:
      return element(rendering, "p", () => renderInline(rendering, block));
  }
}

function element(rendering: Rendering, name: string, render: () => string, attributes = ""): string {
  return `<${name}${attributes}>${within(rendering, render)}</${name}>`;
}

function renderCode(value: string, language: string | null | undefined): string {
  const name = languageName(language);
  const text = escapeHtml(value);
  return name === null ? `<pre>${text}</pre>` : `<pre><code class="language-${name}">${text}</code></pre>`;
}

function renderList(rendering: Rendering, list: List): string {
  const start = list.start ?? 1;
  const isOrdered = list.ordered === true;
  return element(
    rendering,
    isOrdered ? "ol" : "ul",
    () => list.children.map((item) => renderItem(rendering, item)).join(""),
    isOrdered && start !== 1 ? ` start="${start}"` : "",
  );
}

function renderItem(rendering: Rendering, item: ListItem): string {
  rendering.blocks += 1;
  const checkMark = checkMarkOf(item);
  const [first, ...others] = item.children;
  return element(rendering, "li", () => {
    if (first?.type !== "paragraph" || others.some((other) => other.type === "paragraph")) {
      return (checkMark === "" ? "" : `<p>${checkMark}</p>`) + renderBlocks(rendering, item.children);
    }
    return checkMark + renderInlines(rendering, first.children) + renderBlocks(rendering, others);
  });
}

function renderTable(rendering: Rendering, table: Table): string {
  if (Math.max(...table.children.map((row) => row.children.length)) > RICH_LIMITS.columns) rendering.isTooLarge = true;
  const renderRow = (row: TableRow, name: "th" | "td") => {
    rendering.blocks += 1;
    const renderCell = (cell: TableCell, column: number) => {
      const align = table.align?.[column] ?? null;
      const attributes = align === null ? "" : ` align="${align}"`;
      return element(rendering, name, () => renderInlines(rendering, cell.children), attributes);
    };
    return element(rendering, "tr", () => row.children.map(renderCell).join(""));
  };
  const renderRows = () => table.children.map((row, index) => renderRow(row, index === 0 ? "th" : "td")).join("");
  return element(rendering, "table", renderRows, " bordered");
}

const renderInlines = (rendering: Rendering, nodes: readonly PhrasingContent[]): string =>
  nodes.map((node) => renderInline(rendering, node)).join("");

function renderInline(rendering: Rendering, node: PhrasingContent): string {
  switch (node.type) {
    case "text":
      return withBreaks(node.value);
    case "strong":
      return element(rendering, "b", () => renderInlines(rendering, node.children));
    case "emphasis":
      return element(rendering, "i", () => renderInlines(rendering, node.children));
    case "delete":
      return element(rendering, "s", () => renderInlines(rendering, node.children));
    case "inlineCode":
      return `<code>${escapeHtml(node.value)}</code>`;
    case "break":
      return "<br>";
    case "html":
      return isLineBreak(node.value) ? "<br>" : withBreaks(node.value);
    case "link":
      return renderLink(rendering, node.url, toString(node), () => renderInlines(rendering, node.children));
    case "linkReference":
      return renderLink(rendering, urlOf(rendering, node.identifier), toString(node), () =>
        renderInlines(rendering, node.children),
      );
    case "image":
      return renderLink(rendering, node.url, node.alt ?? "", () => withBreaks(node.alt ?? ""));
    case "imageReference":
      return renderLink(rendering, urlOf(rendering, node.identifier), node.alt ?? "", () => withBreaks(node.alt ?? ""));
    default:
      // A reference to a footnote.
      return escapeHtml(`[${node.label ?? node.identifier}]`);
  }
}

const urlOf = (rendering: Rendering, identifier: string): string => rendering.definitions.get(identifier)?.url ?? "";

function renderLink(rendering: Rendering, url: string, label: string, renderLabel: () => string): string {
  const address = shownAddress(url);
  const words = () => (label === "" ? escapeHtml(address) : renderLabel());
  const link = safeLink(url);
  if (link !== null) return element(rendering, "a", words, ` href="${escapeHtml(link)}"`);
  return label === "" || label === address || address === "" ? words() : `${words()} (${escapeHtml(address)})`;
}

const withBreaks = (text: string): string => escapeHtml(text).replaceAll("\n", "<br>");
