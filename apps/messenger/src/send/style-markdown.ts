import type { List, ListItem, Nodes, PhrasingContent, RootContent, Table } from "mdast";
import { toString } from "mdast-util-to-string";
import stringWidth from "string-width";
import { checkMarkOf, createStyledWriter, isLineBreak, PLAIN, safeLink, shownAddress } from "./styled-text.ts";
import type { MarkdownDocument, Style, StyledText, StyledWriter } from "./styled-text.ts";

/** Width of a monospaced line that a phone shows without wrapping. */
const WIDTH_LIMIT = 48;

const COLUMN_GAP = " | ";
const RULE_GAP = "-+-";

type Align = NonNullable<Table["align"]>[number];

/**
 * Returns a table as monospaced columns, with a rule under its header; wide characters count twice. Null if it is too
 * wide, or contains what such a text cannot show.
 */
function layOutTable(table: Table): string | null {
  if (needsLines(table)) return null;
  const rows = table.children.map((row) => row.children.map((cell) => toString(cell).replaceAll(/\s+/g, " ").trim()));
  const columnCount = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columnCount }, (_, column) =>
    Math.max(1, ...rows.map((row) => stringWidth(row[column] ?? ""))),
  );
  const width = widths.reduce((sum, each) => sum + each, 0) + COLUMN_GAP.length * (columnCount - 1);
  if (columnCount === 0 || width > WIDTH_LIMIT) return null;
  const lines = rows.map((row) =>
    widths
      .map((columnWidth, column) => pad(row[column] ?? "", columnWidth, table.align?.[column] ?? null))
      .join(COLUMN_GAP)
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((columnWidth) => "-".repeat(columnWidth)).join(RULE_GAP));
  return lines.join("\n");
}

/** Links and line breaks in cells can only be shown row by row. */
const NOT_IN_COLUMNS = new Set(["link", "linkReference", "image", "imageReference", "html"]);

function needsLines(node: Nodes): boolean {
  return NOT_IN_COLUMNS.has(node.type) || ("children" in node && node.children.some(needsLines));
}

function pad(text: string, width: number, align: Align): string {
  const room = width - stringWidth(text);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(room - before);
}

const BULLET = "• ";
const RULE = "———";

/** Wide enough to be visible in a proportional font. */
const INDENT = "    ";

interface Context {
  writer: StyledWriter;
  definitions: MarkdownDocument["definitions"];
}

/**
 * Returns a Markdown document as a styled text with all its words: headings bold, lists with bullets or numbers,
 * tables as columns if a phone can show them, otherwise row by row, pictures and invalid links as words. The same
 * document always gives the same text.
 */
export function styleMarkdown(document: MarkdownDocument): StyledText {
  const writer = createStyledWriter();
  const context = { writer, definitions: document.definitions };
  let isAfterHeading = false;
  for (const block of document.root.children) {
    writer.breakLines(2);
    // A heading stays with the block after it.
    if (!isAfterHeading) writer.beginBlock();
    writeBlock(context, block, PLAIN);
    isAfterHeading = block.type === "heading";
  }
  return writer.finish();
}

function writeBlocks(context: Context, blocks: readonly RootContent[], style: Style, gap: number): void {
  for (const [index, block] of blocks.entries()) {
    if (index > 0) context.writer.breakLines(gap);
    writeBlock(context, block, style);
  }
}

function writeBlock(context: Context, block: RootContent, style: Style): void {
  const { writer } = context;
  switch (block.type) {
    case "heading":
      writeInlines(context, block.children, { ...style, isBold: true });
      return;
    case "paragraph":
      writeInlines(context, block.children, style);
      return;
    case "code":
      writer.breakLines(1);
      writer.write(block.value, { ...style, pre: { block: writer.nextNumber(), language: block.lang ?? null } });
      writer.breakLines(1);
      return;
    case "blockquote":
      writer.breakLines(1);
      // Telegram does not nest quotations: the outermost one contains all.
      writeBlocks(context, block.children, { ...style, quote: style.quote ?? writer.nextNumber() }, 2);
      writer.breakLines(1);
      return;
    case "list":
      writeList(context, block, style);
      return;
    case "table":
      writer.breakLines(1);
      writeTable(context, block, style);
      writer.breakLines(1);
      return;
    case "thematicBreak":
      writer.write(RULE, style);
      return;
    case "footnoteDefinition":
      writer.write(`[${block.label ?? block.identifier}] `, style);
      writeBlocks(context, block.children, style, 2);
      return;
    case "definition":
      // Shown where it is referenced; Markdown does not show unreferenced definitions.
      return;
    case "html":
    case "yaml":
      writer.write(block.value, style);
      return;
    case "listItem":
      writeItem(context, block, BULLET, style);
      return;
    case "tableRow":
    case "tableCell":
      writer.write(toString(block), style);
      return;
    default:
      writeInline(context, block, style);
  }
}

function writeList(context: Context, list: List, style: Style): void {
  const first = list.start ?? 1;
  for (const [index, item] of list.children.entries()) {
    if (index > 0) context.writer.breakLines(list.spread === true ? 2 : 1);
    writeItem(context, item, list.ordered === true ? `${first + index}. ` : BULLET, style);
  }
}

function writeItem(context: Context, item: ListItem, marker: string, style: Style): void {
  const { writer } = context;
  const checkMark = checkMarkOf(item);
  writer.write((marker === BULLET && checkMark !== "" ? "" : marker) + checkMark, style);
  writer.indented(INDENT, () => {
    for (const [index, child] of item.children.entries()) {
      if (index > 0) writer.breakLines(item.spread === true && child.type === "paragraph" ? 2 : 1);
      writeBlock(context, child, style);
    }
  });
}

function writeTable(context: Context, table: Table, style: Style): void {
  const { writer } = context;
  const columns = layOutTable(table);
  if (columns !== null) {
    writer.write(columns, { ...style, pre: { block: writer.nextNumber(), language: null } });
    return;
  }
  const [header, ...rows] = table.children;
  if (header === undefined) return;
  const shown = rows.length === 0 ? [header] : rows;
  for (const [index, row] of shown.entries()) {
    if (index > 0) writer.breakLines(2);
    for (const [position, cell] of row.children.entries()) {
      if (position > 0) writer.breakLines(1);
      const name = row === header ? undefined : header.children[position];
      if (name !== undefined && name.children.length > 0) {
        writeInlines(context, name.children, { ...style, isBold: true });
        writer.write(": ", { ...style, isBold: true });
      }
      if (cell.children.length === 0) writer.write("–", style);
      else writeInlines(context, cell.children, style);
    }
  }
}

function writeInlines(context: Context, nodes: readonly PhrasingContent[], style: Style): void {
  for (const node of nodes) writeInline(context, node, style);
}

function writeInline(context: Context, node: PhrasingContent, style: Style): void {
  const { writer } = context;
  switch (node.type) {
    case "text":
      writer.write(node.value, style);
      return;
    case "strong":
      writeInlines(context, node.children, { ...style, isBold: true });
      return;
    case "emphasis":
      writeInlines(context, node.children, { ...style, isItalic: true });
      return;
    case "delete":
      writeInlines(context, node.children, { ...style, isStruck: true });
      return;
    case "inlineCode":
      writer.write(node.value, { ...style, isCode: true });
      return;
    case "break":
      writer.write("\n", style);
      return;
    case "html":
      writer.write(isLineBreak(node.value) ? "\n" : node.value, style);
      return;
    case "link":
      writeLink(context, node.url, () => writeInlines(context, node.children, linked(node.url, style)), {
        label: toString(node),
        style,
      });
      return;
    case "linkReference": {
      const url = context.definitions.get(node.identifier)?.url ?? "";
      writeLink(context, url, () => writeInlines(context, node.children, linked(url, style)), {
        label: toString(node),
        style,
      });
      return;
    }
    case "image":
      writePicture(context, node.url, node.alt ?? "", style);
      return;
    case "imageReference":
      writePicture(context, context.definitions.get(node.identifier)?.url ?? "", node.alt ?? "", style);
      return;
    case "footnoteReference":
      writer.write(`[${node.label ?? node.identifier}]`, style);
      return;
  }
}

/** A link within a link is not a link of its own. */
const linked = (url: string, style: Style): Style => ({ ...style, link: style.link ?? safeLink(url) });

/** Writes the words of a link, followed by its URL if it cannot be a link in Telegram. */
function writeLink(
  { writer }: Context,
  url: string,
  writeLabel: () => void,
  { label, style }: { label: string; style: Style },
): void {
  const target = linked(url, style);
  const address = shownAddress(url);
  if (label === "") writer.write(address, target);
  else writeLabel();
  if (target.link === null && label !== "" && address !== "" && label !== address) writer.write(` (${address})`, style);
}

function writePicture(context: Context, url: string, alt: string, style: Style): void {
  writeLink(context, url, () => context.writer.write(alt, linked(url, style)), { label: alt, style });
}
