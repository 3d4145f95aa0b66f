/**
 * What a block of Markdown is: running text (paragraphs, quotations, list items), a heading, a code fence with its
 * content, a row of a table, or a mark without words (a rule, a table's delimiter row, an empty quotation line).
 */
export type BlockKind = "prose" | "heading" | "code" | "table" | "mark";

/** A part of a text from `start` to `end` (UTF-16 offsets); between two blocks there is only white space. */
export type Block = { readonly kind: BlockKind; readonly start: number; readonly end: number };

type Line = { readonly start: number; readonly end: number; readonly content: string };

type OpenBlock = {
  readonly start: number;
  readonly container: "paragraph" | "list" | "quotation";
  end: number;
  endsHard: boolean;
};

// None of these backtracks over a run of characters: lines are untrusted and may be 50,000 spaces.
const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]*)?(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const SETEXT_UNDERLINE = /^ {0,3}(?:={2,}|-{3,})[ \t]*$/;
const RULE = /^ {0,3}([-*_=~])(?:[ \t]*\1){2,}[ \t]*$/;
/** A rule is short; the expression keeps a step for each mark, and runs out of stack after some million of them. */
const MAX_RULE_CHARS = 1_000;
const TABLE_DELIMITER = /^(?=[^\n]*\|)(?=[^\n]*-)[|:\- \t]+$/;
const TABLE_ROW = /^[ \t]*\|/;
const QUOTATION = /^ {0,3}>/;
const EMPTY_QUOTATION = /^[ \t>]+$/;
const LIST_ITEM = /^[ \t]*(?:([-*+•‣▪–])|(\d{1,9})[.)]|\p{L}\))[ \t]+\S/u;

/**
 * Splits a text into the blocks of Markdown as far as sentences need it. Plain text is Markdown too: its paragraphs
 * are separated by blank lines. Every character that is not white space is in exactly one block; each line is looked
 * at once.
 */
export function splitBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: OpenBlock | undefined;
  let fence: { readonly start: number; readonly mark: string } | undefined;

  const close = (kind: BlockKind = "prose"): void => {
    if (open !== undefined) blocks.push({ kind, start: open.start, end: open.end });
    open = undefined;
  };
  const add = (kind: BlockKind, line: Line): void => {
    close();
    blocks.push({ kind, start: line.start, end: line.end });
  };

  for (const line of linesOf(text)) {
    const { content } = line;
    const fenceMatch = FENCE.exec(content);
    if (fence !== undefined) {
      if (!closesFence(fenceMatch, fence.mark)) continue;
      blocks.push({ kind: "code", start: fence.start, end: line.end });
      fence = undefined;
    } else if (opensFence(fenceMatch)) {
      close();
      fence = { start: line.start, mark: fenceMatch?.[1] ?? "" };
    } else if (content.trim() === "") {
      close();
    } else if (HEADING.test(content)) {
      add("heading", line);
    } else if (SETEXT_UNDERLINE.test(content) && isTitle(open, text)) {
      if (open !== undefined) open.end = line.end;
      close("heading");
    } else if (isRule(content) || TABLE_DELIMITER.test(content) || EMPTY_QUOTATION.test(content)) {
      add("mark", line);
    } else if (TABLE_ROW.test(content)) {
      add("table", line);
    } else {
      open = continueOrOpen(open, line, close);
    }
  }
  close();
  // In CommonMark, an unclosed fence extends to the end.
  if (fence !== undefined) blocks.push({ kind: "code", start: fence.start, end: text.length });
  return blocks;
}

function isRule(content: string): boolean {
  return content.length <= MAX_RULE_CHARS && RULE.test(content);
}

function continueOrOpen(open: OpenBlock | undefined, line: Line, close: () => void): OpenBlock {
  const { content } = line;
  const endsHard = content.endsWith("  ") || content.endsWith("\\");
  const isQuotation = QUOTATION.test(content);
  const startsAgain =
    open === undefined || open.endsHard || startsItem(content, open) || (isQuotation && open.container !== "quotation");
  if (open !== undefined && !startsAgain) {
    open.end = line.end;
    open.endsHard = endsHard;
    return open;
  }
  close();
  const container = isQuotation ? "quotation" : LIST_ITEM.test(content) ? "list" : "paragraph";
  return { start: line.start, end: line.end, container, endsHard };
}

/** A number begins an item within a paragraph only when it is 1: a line may begin with a year. */
function startsItem(content: string, open: OpenBlock): boolean {
  const match = LIST_ITEM.exec(content);
  if (match === null) return false;
  return open.container === "list" || match[2] === undefined || match[2] === "1";
}

/**
 * One line that ends like no sentence. Below anything else a line of dashes is meant as a rule, as in mails and notes.
 */
function isTitle(open: OpenBlock | undefined, text: string): boolean {
  return open?.container === "paragraph" && /^[^\n\r]*[^\n\r.!?:;,]$/.test(text.slice(open.start, open.end).trimEnd());
}

function opensFence(match: RegExpExecArray | null): boolean {
  return match !== null && !(match[1]?.startsWith("`") === true && match[2]?.includes("`") === true);
}

function closesFence(match: RegExpExecArray | null, opening: string): boolean {
  const mark = match?.[1] ?? "";
  return mark.startsWith(opening) && match?.[2]?.trim() === "";
}

function* linesOf(text: string): Generator<Line> {
  let start = 0;
  for (const { index, 0: newline } of text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) {
    yield { start, end: index, content: text.slice(start, index) };
    start = index + newline.length;
  }
  yield { start, end: text.length, content: text.slice(start) };
}
