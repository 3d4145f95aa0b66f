import { splitSentences } from "@svc/text";
import type { Sentence } from "@svc/text";

/** A part of a passage that an answer takes whole or not at all. Offsets are UTF-16 units in the passage. */
export interface Unit {
  kind: "sentence" | "list" | "table" | "code";
  start: number;
  end: number;
  /** Its items or rows; only a list and a table have any. */
  rows: Span[];
  /** Sentences with the same number stand in one paragraph. */
  paragraph: number;
}

export interface Span {
  start: number;
  end: number;
}

const LIST_MARKER = /^(?:[-*+•‣▪–]|\d{1,9}[.)])\s/;

/**
 * Splits a passage into what an answer may be made of: sentences, and whole lists, tables and code fences. Headings
 * are left out unless there is nothing else.
 */
export function splitUnits(text: string): Unit[] {
  const sentences = splitSentences(text);
  const units = groupSentences(text, sentences).flatMap((group, paragraph) => unitsOf(text, group, paragraph));
  const joined = joinLists(units);
  if (joined.length > 0) return joined;
  return sentences
    .filter(({ kind }) => kind !== "mark")
    .map(({ start, end }, paragraph) => ({ kind: "sentence", start, end, rows: [], paragraph }));
}

/** Groups what follows each other without a blank line between; a code fence and a heading stand alone. */
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

/** The lines of a table: a row that has no bar at its beginning may have been taken for several sentences. */
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

/** The items of a list, each with all of its sentences. */
function itemsOf(sentences: readonly Sentence[]): Span[] {
  const items: Span[] = [];
  for (const { text, start, end } of sentences) {
    const item = items.at(-1);
    if (item === undefined || LIST_MARKER.test(text)) items.push({ start, end });
    else item.end = end;
  }
  return items;
}

/** A list whose items are separated by blank lines comes in pieces. */
function joinLists(units: readonly Unit[]): Unit[] {
  const joined: Unit[] = [];
  for (const unit of units) {
    const previous = joined.at(-1);
    if (previous?.kind === "list" && unit.kind === "list") {
      joined[joined.length - 1] = { ...previous, end: unit.end, rows: [...previous.rows, ...unit.rows] };
    } else {
      joined.push(unit);
    }
  }
  return joined;
}
