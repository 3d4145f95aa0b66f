import { splitSentences } from "@svc/text";
import type { Sentence } from "@svc/text";

/** A part of a passage that an answer includes as a whole or not at all. Offsets are UTF-16 units in the passage. */
export interface Unit {
  kind: "sentence" | "list" | "table" | "code";
  start: number;
  end: number;
  /** Items or rows of a list or table. */
  rows: Span[];
  /** Sentences with the same number are in one paragraph. */
  paragraph: number;
}

export interface Span {
  start: number;
  end: number;
}

const LIST_MARKER = /^(?:[-*+•‣▪–]|\d{1,9}[.)])\s/;

/** `[name]: https://…`: a link definition, which readers do not see. */
const LINK_DEFINITION = /^ {0,3}\[[^\]\n]+\]:[ \t]*\S.*$/;

/**
 * Splits a passage into the units of an answer: sentences, and whole lists, tables and code fences. Headings are left
 * out unless there is nothing else. In Markdown, sentences spanned by emphasis, a link or an HTML element stay together
 * up to `maxJoinedChars`, and link definitions are left out.
 */
export function splitUnits(text: string, options: { markdown: boolean; maxJoinedChars: number }): Unit[] {
  const sentences = splitSentences(text);
  const units = groupSentences(text, sentences).flatMap((group, paragraph) => unitsOf(text, group, paragraph));
  const lists = joinLists(text, units);
  const joined = options.markdown
    ? joinUnclosed(
        text,
        lists.filter((unit) => !isLinkDefinition(text, unit)),
        options.maxJoinedChars,
      )
    : lists;
  if (joined.length > 0) return joined;
  return sentences
    .filter(({ kind }) => kind !== "mark")
    .map(({ start, end }, paragraph) => ({ kind: "sentence", start, end, rows: [], paragraph }));
}

/** Groups consecutive sentences without a blank line between them; a code fence or a heading forms its own group. */
function groupSentences(text: string, sentences: readonly Sentence[]): Sentence[][] {
  const groups: Sentence[][] = [];
  let previous: Sentence | undefined;
  for (const sentence of sentences) {
    const gap = previous === undefined ? "" : text.slice(previous.end, sentence.start);
    const isApart = gap.indexOf("\n") !== gap.lastIndexOf("\n");
    const group = groups.at(-1);
    if (group === undefined || isApart || standsAlone(sentence) || (previous !== undefined && standsAlone(previous))) {
      groups.push([sentence]);
    } else {
      group.push(sentence);
    }
    previous = sentence;
  }
  return groups;
}

function standsAlone({ kind }: Sentence): boolean {
  return kind === "code" || kind === "heading";
}

function unitsOf(text: string, group: readonly Sentence[], paragraph: number): Unit[] {
  const first = group[0];
  if (first === undefined || first.kind === "heading") return [];
  if (first.kind === "code") return [{ kind: "code", start: first.start, end: first.end, rows: [], paragraph }];
  const rest = (from: number): readonly Sentence[] => (from === -1 ? [] : group.slice(from));
  const delimiter = group.findIndex(({ kind, text }) => kind === "mark" && text.includes("|"));
  const table = rest(Math.max(delimiter - 1, delimiter === -1 ? group.findIndex(({ kind }) => kind === "table") : 0));
  const list = table.length > 0 ? [] : rest(group.findIndex((sentence) => LIST_MARKER.test(sentence.text)));
  const prose = group.slice(0, group.length - table.length - list.length).filter(({ kind }) => kind === "prose");
  return [
    ...prose.map(({ start, end }): Unit => ({ kind: "sentence", start, end, rows: [], paragraph })),
    ...wholeUnit("table", linesOf(text, table), paragraph),
    ...wholeUnit("list", itemsOf(list), paragraph),
  ];
}

function wholeUnit(kind: "list" | "table", rows: Span[], paragraph: number): Unit[] {
  const first = rows[0];
  return first === undefined ? [] : [{ kind, start: first.start, end: rows.at(-1)?.end ?? first.end, rows, paragraph }];
}

/** Returns the lines of a table: a row without a leading bar may have been split into several sentences. */
function linesOf(text: string, sentences: readonly Sentence[]): Span[] {
  const first = sentences[0];
  const last = sentences.at(-1);
  if (first === undefined || last === undefined) return [];
  const lines: Span[] = [];
  let { start } = first;
  while (start < last.end) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? last.end : Math.min(newline, last.end);
    lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}

/** Returns the items of a list, each with all of its sentences. */
function itemsOf(sentences: readonly Sentence[]): Span[] {
  const items: Span[] = [];
  for (const { text, start, end } of sentences) {
    const item = items.at(-1);
    if (item === undefined || LIST_MARKER.test(text)) items.push({ start, end });
    else item.end = end;
  }
  return items;
}

/** Returns the indentation of the first line of a part, in characters. */
export function indentOf(text: string, start: number): number {
  let lineStart = start;
  while (lineStart > 0 && /[ \t]/.test(text.charAt(lineStart - 1))) lineStart -= 1;
  return lineStart === 0 || /[\n\r]/.test(text.charAt(lineStart - 1)) ? start - lineStart : 0;
}

/** Joins lists whose items are separated by blank lines; text indented below an item belongs to it. */
function joinLists(text: string, units: readonly Unit[]): Unit[] {
  const joined: Unit[] = [];
  for (const unit of units) {
    const previous = joined.at(-1);
    const last = previous?.rows.at(-1);
    if (previous?.kind === "list" && unit.kind === "list") {
      joined[joined.length - 1] = { ...previous, end: unit.end, rows: [...previous.rows, ...unit.rows] };
    } else if (previous?.kind === "list" && last !== undefined && belongsToItem(text, unit)) {
      const rows = [...previous.rows.slice(0, -1), { start: last.start, end: unit.end }];
      joined[joined.length - 1] = { ...previous, end: unit.end, rows };
    } else {
      joined.push(unit);
    }
  }
  return joined;
}

const LEAST_ITEM_INDENT = 2;

function belongsToItem(text: string, { start }: Unit): boolean {
  return indentOf(text, start) >= LEAST_ITEM_INDENT;
}

function isLinkDefinition(text: string, { kind, start, end }: Unit): boolean {
  const lines = text.slice(start, end).split("\n");
  return kind === "sentence" && lines.every((line) => LINK_DEFINITION.test(line));
}

/** Returns the link definitions of a passage, each with its name in lower case. */
export function linkDefinitions(text: string): { name: string; line: string }[] {
  return text.split("\n").flatMap((line) => {
    const name = LINK_DEFINITION.test(line) ? /\[([^\]\n]+)\]/.exec(line)?.[1] : undefined;
    return name === undefined ? [] : [{ name: name.toLowerCase(), line: line.trim() }];
  });
}

/** Unclosed markup at the end of a text: every count is 0 or even if there is none. */
interface Marks {
  ticks: number;
  strong: number;
  stars: number;
  brackets: number;
  parentheses: number;
  elements: number;
}

/** Matches void elements. */
const VOID_ELEMENT = /^<(?:area|br|col|hr|img|input|link|meta|source|wbr)\b/i;

function countMarks(part: string): Marks {
  const count = (pattern: RegExp): number => part.match(pattern)?.length ?? 0;
  const tags = part.match(/<\/?[a-z][a-z0-9-]{0,20}(?:\s[^<>]{0,300})?>/gi) ?? [];
  const withEnd = tags.filter((tag) => !tag.endsWith("/>") && !VOID_ELEMENT.test(tag));
  const strong = count(/\*\*/g);
  return {
    ticks: count(/`/g),
    strong,
    stars: count(/\*(?=\S)|(?<=\S)\*/g) - 2 * strong,
    brackets: count(/\[/g) - count(/\]/g),
    parentheses: count(/\]\([^()\s]*$/g),
    elements: withEnd.reduce((sum, tag) => sum + (tag.startsWith("</") ? -1 : 1), 0),
  };
}

function addMarks(one: Marks, other: Marks): Marks {
  return {
    ticks: one.ticks + other.ticks,
    strong: one.strong + other.strong,
    stars: one.stars + other.stars,
    brackets: one.brackets + other.brackets,
    parentheses: other.parentheses,
    elements: one.elements + other.elements,
  };
}

function isOpen({ ticks, strong, stars, brackets, parentheses, elements }: Marks): boolean {
  return ticks % 2 !== 0 || strong % 2 !== 0 || stars % 2 !== 0 || brackets > 0 || parentheses > 0 || elements > 0;
}

/**
 * Joins a sentence with the following ones until its markup is closed; only an HTML element may span paragraphs. Markup
 * that is never closed is ignored.
 */
function joinUnclosed(text: string, units: readonly Unit[], maxChars: number): Unit[] {
  const marks = units.map(({ start, end }) => countMarks(text.slice(start, end)));
  const joined: Unit[] = [];
  for (let index = 0; index < units.length; index += 1) {
    const unit = units[index];
    if (unit === undefined) break;
    const last = endOfMarkup(units, marks, index, maxChars);
    joined.push(last === index ? unit : { ...unit, end: units[last]?.end ?? unit.end });
    index = last;
  }
  return joined;
}

/** Returns the index of the unit that closes all markup opened by this one; its own if there is none. */
function endOfMarkup(units: readonly Unit[], marks: readonly Marks[], first: number, maxChars: number): number {
  const unit = units[first];
  let open = marks[first];
  if (unit?.kind !== "sentence" || open === undefined || !isOpen(open)) return first;
  for (let next = first + 1; next < units.length; next += 1) {
    const unitThere = units[next];
    const there = marks[next];
    if (unitThere === undefined || there === undefined || unitThere.end - unit.start > maxChars) return first;
    if (open.elements <= 0 && (unitThere.paragraph !== unit.paragraph || unitThere.kind !== "sentence")) return first;
    open = addMarks(open, there);
    if (!isOpen(open)) return next;
  }
  return first;
}
