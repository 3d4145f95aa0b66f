import type { List, ListItem, PhrasingContent, RootContent, Table, TableCell, TableRow } from "mdast";
import { toString } from "mdast-util-to-string";
import { checkMarkOf, isLineBreak, safeLink, shownAddress } from "./styled-text.ts";
import type { MarkdownDocument, Style, StyledText } from "./styled-text.ts";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for Telegram's HTML, also within attributes. */
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => ENTITIES[each] ?? each);

/** Returns a fence's language as a safe attribute value; null if nothing remains of it. */
function languageName(language: string | null | undefined): string | null {
  const name = (language ?? "").replaceAll(/[^\w+#.-]/g, "").slice(0, 40);
  return name === "" ? null : name;
}

/** A format around a range of text. Adjacent ranges share it if the keys are equal. */
interface Format {
  key: string;
  open: string;
  close: string;
}

const tag = (name: string): Format => ({ key: name, open: `<${name}>`, close: `</${name}>` });

/**
 * Returns the formats around a range, from the outside in, as Telegram allows them to nest: quotations may contain
 * everything, preformatted text and code contain nothing and are only allowed within quotations, links may be bold,
 * and so on.
 */
export function nestingOf(style: Style): Format[] {
  const formats: Format[] = [];
  if (style.quote !== null) formats.push({ ...tag("blockquote"), key: `quote ${style.quote}` });
  if (style.pre !== null) return [...formats, preformatted(style.pre)];
  if (style.link !== null) {
    const open = `<a href="${escapeHtml(style.link)}">`;
    formats.push({ key: open, open, close: "</a>" });
  } else if (style.isCode) return [...formats, tag("code")];
  if (style.isBold) formats.push(tag("b"));
  if (style.isItalic) formats.push(tag("i"));
  if (style.isStruck) formats.push(tag("s"));
  return formats;
}

function preformatted({ block, language }: NonNullable<Style["pre"]>): Format {
  const name = languageName(language);
  const key = `pre ${block}`;
  if (name === null) return { ...tag("pre"), key };
  return { key, open: `<pre><code class="language-${name}">`, close: "</code></pre>" };
}

/** Returns a text as HTML for `sendMessage`: every tag is closed in order, and only the text is between the tags. */
export function renderHtml({ text, runs }: StyledText): string {
  const out: string[] = [];
  let open: Format[] = [];
  const closeTo = (depth: number) => {
    for (const format of open.slice(depth).toReversed()) out.push(format.close);
    open = open.slice(0, depth);
  };
  for (const run of runs) {
    const formats = nestingOf(run.style);
    const shared = formats.findIndex((format, depth) => format.key !== open[depth]?.key);
    closeTo(shared === -1 ? formats.length : shared);
    for (const format of formats.slice(open.length)) {
      out.push(format.open);
      open.push(format);
    }
    out.push(escapeHtml(text.slice(run.start, run.end)));
  }
  closeTo(0);
  return out.join("");
}

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
