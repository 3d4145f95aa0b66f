import { parseUrl } from "@svc/contracts";
import { decodeHTML } from "entities";

/** Lines that begin or end a code block. */
const FENCE = /^[ \t]*(`{3,}|~{3,})/;

/** A code span with at most three backticks; its content is not markup. */
const CODE_SPAN = /(?<!`)(`{1,3})(?!`)[^`\n]{1,500}\1(?!`)/g;

/** HTML and Liquid comments. */
const COMMENTS = [
  { start: /<!--/g, end: "-->" },
  { start: /\{%-?\s{0,10}comment\s{0,10}-?%\}/g, end: /\{%-?\s{0,10}endcomment\s{0,10}-?%\}/g },
] as const;

/** Tags of Liquid, Jinja and Nunjucks, and shortcodes of Hugo. */
const TEMPLATE_TAG = /\{%[^\n]{0,500}?%\}|\{\{[<%][^\n]{0,500}?[>%]\}\}/g;

/** A template expression with a path, a filter or a call. A plain `{{name}}` may be what a text is about. */
const EXPRESSION = /\{\{-?\s{0,10}[\w$-]+\s{0,10}[.|([][^{}\n]{0,300}\}\}/g;

/** Attributes that kramdown, MkDocs and Docusaurus append to an element: `{: .note }`, `{#id}`. */
const ATTRIBUTES = /\{:[^{}\n]{0,300}\}|\{\s?[#.][\w-]{1,80}(?:\s[^{}\n]{0,200})?\}[ \t]*$/g;

/** HTML elements whose tags only affect layout. An unknown name (`<itemid>`) is a placeholder. */
const TAG =
  /<\/?(?:a|abbr|article|aside|b|big|blockquote|button|center|cite|details|div|em|figcaption|figure|font|footer|h[1-6]|header|hr|i|iframe|img|input|ins|kbd|label|li|main|mark|nav|object|ol|p|picture|section|small|source|span|strong|sub|summary|sup|svg|time|tt|u|ul|video|wbr)(?:\s[^<>]{0,1000})?\/?>/gi;
const LINE_BREAK = /<br\s{0,3}\/?>/gi;

/** An MDX component on a line of its own: `<Tabs>`, `</TabItem>`. */
const COMPONENT_LINE = /^[ \t]*<\/?\p{Lu}\w{0,60}(?:\s[^<>]{0,500})?\/?>[ \t]*$/u;
const MODULE_LINE = /^(?:import\s[^\n]{0,300}\sfrom\s{1,3}|import\s{1,3})["'][^"'\n]{1,300}["'];?\s*$/;

/** Admonitions: `:::tip Title`, `!!! note "Title"`, `??? note`, `=== "Tab"`, `> [!NOTE]`. */
const CONTAINER = /^[ \t]*:{3,}[ \t]*(?:[\w-]{1,40})?(?:\{[^{}\n]{0,200}\}|\[([^\]\n]{0,200})\])?[ \t]*([^\n]*)$/;
const INDENTED_BLOCK = /^([ \t]*)(?:!!!|\?\?\?\+?|={3}[!+]?)[ \t]+(?:[\w -]{0,60})?(?:"([^"\n]{0,200})")?[ \t]*$/;
const ALERT = /^[ \t]*>[ \t]*\[![A-Za-z]{1,20}\][-+]?[ \t]*([^\n]*)$/;
const CONTENTS = /^[ \t]*(?:\[\[_?toc_?\]\]|\[toc\])[ \t]*$/i;

/** Character entities, except those of HTML's special characters. */
const ENTITY =
  /&(?!(?:lt|gt|amp|#0{0,4}(?:38|60|62)|#x0{0,4}(?:26|3[ce]));)(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});/gi;

const IMAGE = /!\[([^\][]{0,300})\](?:\([^()\n]{0,1000}(?:\([^()\n]{0,200}\)[^()\n]{0,300})?\)|\[[^\][\n]{0,200}\])/g;
const EMPTY_LINK = /(?<!!)\[\s{0,5}\]\([^()\n]{0,1000}\)/g;

/** A code span, a link with its text and URL, or a link definition. */
const SPAN_OR_LINK = new RegExp(
  `${CODE_SPAN.source}|(?<![!\\\\])\\[(?<words>[^\\][\\n]{1,300})\\]\\([ \\t]{0,5}<?(?<href>[^()\\s<>]{0,1000})>?(?:[ \\t]{1,5}(?:"[^"\\n]{0,300}"|'[^'\\n]{0,300}'))?[ \\t]{0,5}\\)`,
  "g",
);
const DEFINITION = /^ {0,3}\[[^\]\n]{1,300}\]:[ \t]{1,20}<?([^\s<>]{1,1000})>?[^\n]{0,300}$/;

/** Alternative text that reads as part of a sentence: not a file name. */
const SPOKEN_ALT = /^(?!.*\.\w{2,4}$)\p{L}[\p{L}\p{N} '’.,]{0,38}$/u;

/** `### Q: Can I?` above `**A:** You can.`, in the languages that use these prefixes. */
const QUESTION_MARK_LINE = /^(#{1,6}[ \t]+(?:\*\*)?)[QFPDВ][:.][ \t]+(?=[^\n]{0,300}[?？])/u;
const ANSWER_MARK = /^(?:\*\*|__)?[AROО][:.](?:\*\*|__)?[ \t]+/u;

/**
 * Removes markup for site generators from Markdown: template tags, HTML around text, images, admonition marks, imports,
 * attributes, entities and the prefixes of questions and answers. Code is unchanged. Runs in linear time. Relative
 * links of a text without URL become text. Returns the text unchanged if nothing else would remain.
 */
export function cleanMarkdown(source: string, { hasUrl }: { hasUrl: boolean }): string {
  const cleaned = cleanLines(withoutComments(source).split("\n"), hasUrl ? (line) => line : withoutRelativeLinks).join(
    "\n",
  );
  return cleaned.trim() === "" ? source : cleaned;
}

function withoutComments(source: string): string {
  return COMMENTS.reduce((text, { start, end }) => {
    const pieces: string[] = [];
    let cursor = 0;
    for (const { index, 0: mark } of text.matchAll(start)) {
      if (index < cursor || isInCode(text, index)) continue;
      const close = findEnd(text, index + mark.length, end);
      if (close === null) break;
      pieces.push(text.slice(cursor, index));
      cursor = close;
    }
    return pieces.join("") + text.slice(cursor);
  }, source);
}

/** Returns the end of a comment's closing mark; null if it has none. */
function findEnd(text: string, from: number, end: string | RegExp): number | null {
  if (typeof end === "string") {
    const at = text.indexOf(end, from);
    return at === -1 ? null : at + end.length;
  }
  end.lastIndex = from;
  const match = end.exec(text);
  return match === null ? null : match.index + match[0].length;
}

/** Returns whether an offset is within a code span or a line that looks like code. */
function isInCode(text: string, at: number): boolean {
  const line = text.slice(Math.max(text.lastIndexOf("\n", at) + 1, at - 500), at);
  return line.split("`").length % 2 === 0;
}

function cleanLines(lines: readonly string[], unlink: (line: string) => string): string[] {
  const cleaned: string[] = [];
  let fence: string | null = null;
  /** Indentation of the text of an admonition, in columns; 0 outside of one. */
  let indent = 0;
  let hasQuestions = false;
  for (const source of lines) {
    const depth = indentOf(source);
    if (fence === null && indent > 0 && source.trim() !== "" && depth < indent) indent = 0;
    const line = indent === 0 ? source : withoutIndent(source, indent);
    const mark = FENCE.exec(line)?.[1] ?? null;
    if (fence !== null || mark !== null) {
      if (fence === null) fence = mark;
      else if (mark?.startsWith(fence) === true) fence = null;
      cleaned.push(line);
      continue;
    }
    const block = INDENTED_BLOCK.exec(line);
    if (block !== null) {
      indent += indentOf(block[1] ?? "") + 4;
      pushTitle(cleaned, block[2]);
      continue;
    }
    const container = CONTAINER.exec(line) ?? ALERT.exec(line);
    if (container !== null) {
      pushTitle(cleaned, container[1] ?? container[2], line.trimStart().startsWith(">"));
      continue;
    }
    if (MODULE_LINE.test(line) || CONTENTS.test(line) || COMPONENT_LINE.test(line)) continue;
    const isQuestion = QUESTION_MARK_LINE.test(line);
    hasQuestions ||= isQuestion;
    const unmarked = isQuestion
      ? line.replace(QUESTION_MARK_LINE, "$1")
      : hasQuestions
        ? line.replace(ANSWER_MARK, "")
        : line;
    const text = unlink(cleanLine(unmarked));
    // A line with only markup is removed entirely, so that the text around it stays together.
    if (text.trim() !== "" || line.trim() === "") cleaned.push(text);
  }
  return cleaned;
}

function pushTitle(lines: string[], title: string | undefined, isQuote = false): void {
  const shown = (title ?? "").replaceAll('"', "").trim();
  if (shown !== "") lines.push(`${isQuote ? "> " : ""}**${cleanLine(shown)}**`, isQuote ? ">" : "");
  else if (!isQuote && (lines.at(-1) ?? "").trim() !== "") lines.push("");
}

/** Replaces relative links by their text. */
function withoutRelativeLinks(line: string): string {
  const target = DEFINITION.exec(line)?.[1];
  if (target !== undefined && parseUrl(target) === null) return "";
  return line.replace(SPAN_OR_LINK, (whole: string, ...found: unknown[]) => {
    const { words, href } = found.at(-1) as { words?: string; href?: string };
    return words === undefined || parseUrl(href ?? "") !== null ? whole : words;
  });
}

/** Cleans a line, except its code spans. */
function cleanLine(line: string): string {
  if (!/[<{![&]/.test(line)) return line;
  let cleaned = "";
  let cursor = 0;
  const isRow = line.includes("|");
  // Images and tags may contain code spans in their attributes; only the text between spans is cleaned.
  for (const { index, 0: code } of line.matchAll(CODE_SPAN)) {
    cleaned += cleanText(line.slice(cursor, index), isRow) + code;
    cursor = index + code.length;
  }
  cleaned += cleanText(line.slice(cursor), isRow);
  return cleaned === line ? line : tidy(cleaned);
}

function cleanText(text: string, isRow: boolean): string {
  const untagged = text.replace(TEMPLATE_TAG, "").replace(EXPRESSION, "").replace(ATTRIBUTES, "");
  const isSentence = /\p{L}/u.test(untagged.replace(IMAGE, ""));
  const unframed = untagged
    .replace(IMAGE, (_, alt: string) => (isSentence && SPOKEN_ALT.test(alt.trim()) ? alt.trim() : ""))
    .replace(EMPTY_LINK, "")
    .replace(LINE_BREAK, (_, at: number, whole: string) => (isRow || whole.slice(at + 4).trim() !== "" ? " " : "  "))
    .replace(TAG, "");
  return unframed.replace(ENTITY, (entity) => decodeHTML(entity).replaceAll("\u00a0", " "));
}

/** Removes what deletions leave: empty marks and repeated spaces. */
function tidy(line: string): string {
  const start = /^[ \t]*/.exec(line)?.[0] ?? "";
  const rest = line.slice(start.length);
  const isEmptyItem = /^(?:[-*+]|\d{1,9}[.)])[ \t]*$/.test(rest);
  if (isEmptyItem) return "";
  const breaks = / {2,}$/.test(rest) ? "  " : "";
  return `${start}${rest
    .replace(/\*\*[ \t]{0,5}\*\*|(?<![\w*])__[ \t]{0,5}__(?![\w*])/g, "")
    .replace(/[ \t]{2,}/g, " ")
    .replace(/ ([,;.!?])(?=\s|$)/g, "$1")
    .trimEnd()}${rest.trim() === "" ? "" : breaks}`;
}

/** Returns the indentation of a line in columns; a tab counts as four. */
function indentOf(line: string): number {
  return (/^[ \t]*/.exec(line)?.[0] ?? "").replaceAll("\t", "    ").length;
}

function withoutIndent(line: string, columns: number): string {
  let taken = 0;
  let at = 0;
  while (taken < columns && (line[at] === " " || line[at] === "\t")) {
    taken += line[at] === "\t" ? 4 : 1;
    at += 1;
  }
  return line.slice(at);
}
