import { cutText } from "@svc/text";
import { holdsWord } from "./holds-word.ts";
import { indentOf, linkDefinitions, splitUnits } from "./passage-units.ts";
import type { Span, Unit } from "./passage-units.ts";
import { maskMarkup, showParts } from "./readable-markdown.ts";

/** A word of a question and how rare it is. */
export interface WeighedWord {
  word: string;
  weight: number;
}

/** What is quoted, and the number of the text that it stands in. */
export interface Quote {
  text: string;
  part: number;
}

/** The parts of a section that answer, in reading order. */
export interface PickedQuotes {
  /** The quotes, joined, and without markup of the source that is nothing to read (`maskMarkup`). */
  text: string;
  /** Each stands word for word in the text with its number. */
  quotes: Quote[];
  /** The share of the question's words, by weight, that its best part holds with its title and headings; 0 to 1. */
  share: number;
  /** The share that the best part holds by itself; 0 to 1. */
  ownShare: number;
}

/** An answer is at most about this long. */
const MAX_ANSWER_CHARS = 1_200;

/** A passage that is no longer is quoted whole. */
const MAX_WHOLE_CHARS = 600;

/**
 * Up to this length the next best sentences are added to the best one, however little they hold of the question; of
 * those that hold nothing, the first ones of the passage, which say what it is about.
 */
const FULL_PROSE_CHARS = 500;
const OPENING_UNITS = 3;

/** Beyond that a sentence must hold this share of what the best one holds of the question … */
const MIN_SHARE_OF_BEST = 0.35;

/** … and a reader wants some sentences and not the page. */
const MAX_PROSE_CHARS = 1_000;
const MAX_SENTENCES = 6;

/** The best sentence ends within so many characters: who glances at an answer sees it. */
const BEST_WITHIN_CHARS = 550;

/** Of a long question, the rarest words say what it is about. */
const MAX_WORDS = 32;

const TABLE_HEADER_ROWS = 2;

/** Of a table with more rows, only those are quoted that hold at least this share of what its best row holds. */
const MAX_WHOLE_TABLE_ROWS = 12;
const MIN_ROW_SHARE = 0.9;

/** A section of a document, or what was found of it: passages in reading order, cut from running text. */
export interface Section {
  title: string;
  headingPath: readonly string[];
  texts: readonly string[];
  markdown: boolean;
}

const BETWEEN_TEXTS = "\n\n";

/**
 * Picks the parts of a section that answer a question: those with the rarest of its words, some sentences with what
 * stands in between, lists, tables and code fences whole, in reading order and in the document's own words. What leads
 * to a list ("Do this:") comes with it. A list or table that is too long keeps its best items or rows, the table its
 * header and a nested item those above it; a code fence that is too long keeps its beginning and is closed. Of the
 * definitions of links that stand in the section, those that are needed follow.
 */
export function pickQuotes(section: Section, words: readonly WeighedWord[]): PickedQuotes {
  const text = section.texts.join(BETWEEN_TEXTS);
  const rarest = [...words].sort((a, b) => b.weight - a.weight).slice(0, MAX_WORDS);
  const inContext = holdsWord([section.title, ...section.headingPath].join("\n"));
  const weighed = rarest.map(({ word, weight }) => ({ word, weight, isInContext: inContext(word) }));
  const heldBy = (span: Span) => {
    const holds = holdsWord(text.slice(span.start, span.end));
    return weighed.filter(({ word }) => holds(word));
  };
  const score = (span: Span): number => sumOf(heldBy(span));
  const units = unitsOfAll(section);
  const first = units[0];
  const last = units.at(-1);
  if (first === undefined || last === undefined) return { text: "", quotes: [], share: 0, ownShare: 0 };

  const held = units.map(heldBy);
  const total = sumOf(weighed);
  const shareOf = (most: number): number => (total === 0 ? 0 : most / total);
  const left = held.map((those) => sumOf(those.filter(({ isInContext }) => !isInContext)));
  const known = sumOf(weighed.filter(({ isInContext }) => isInContext));
  const isShort = last.end - first.start <= MAX_WHOLE_CHARS;
  const chosen = isShort ? units.map((_, index) => index) : chooseUnits(text, units, held.map(sumOf));
  const picked = chosen.flatMap((index) => units[index] ?? []);
  const parts = picked.flatMap((unit) => {
    const others = lengthOf(picked) - lengthOf([unit]);
    return shortened(text, unit, { maxChars: Math.max(MAX_ANSWER_CHARS - others, MAX_ANSWER_CHARS / 2), score });
  });
  const joined = joinUnits(text, section.markdown ? maskMarkup(text) : text, parts);
  return {
    quotes: joined.quotes,
    text: section.markdown ? withLinkDefinitions(text, joined.text) : joined.text,
    share: shareOf(known + Math.max(...left)),
    ownShare: shareOf(Math.max(...held.map(sumOf))),
  };
}

interface SectionUnit extends Unit {
  /** The number of the text that it stands in. */
  part: number;
}

/** The units of all texts of a section, with their places in the texts joined. */
function unitsOfAll({ texts, markdown }: Section): SectionUnit[] {
  const units: SectionUnit[] = [];
  let offset = 0;
  for (const [part, text] of texts.entries()) {
    const paragraphs = (units.at(-1)?.paragraph ?? -1) + 1;
    for (const unit of splitUnits(text, { markdown, maxJoinedChars: MAX_ANSWER_CHARS })) {
      units.push({
        ...unit,
        ...shift(unit, offset),
        rows: unit.rows.map((row) => shift(row, offset)),
        paragraph: unit.paragraph + paragraphs,
        part,
      });
    }
    offset += text.length + BETWEEN_TEXTS.length;
  }
  return units;
}

function shift({ start, end }: Span, offset: number): Span {
  return { start: start + offset, end: end + offset };
}

function sumOf(words: readonly { weight: number }[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0);
}

/** Indices of the units that go into the answer, in reading order. */
function chooseUnits(text: string, units: readonly Unit[], scores: readonly number[]): number[] {
  // Equal scores keep their order: where only the heading matches, the answer is how its section begins.
  const ranked = units.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const best = ranked[0] ?? 0;
  const chosen = new Set(withCompanion(text, units, best));
  for (const index of ranked) {
    if (chosen.has(index)) continue;
    const isGood = (scores[index] ?? 0) >= (scores[best] ?? 0) * MIN_SHARE_OF_BEST;
    if (!isGood && scores[index] === 0 && index >= OPENING_UNITS) break;
    const added = isGood ? withCompanion(text, units, index) : [index];
    const grown = [...new Set([...chosen, ...added])];
    if (!fits(units, grown, isGood)) {
      // A worse sentence that happens to be shorter is no better filling.
      if (!isGood) break;
    } else if (leavesBestEarly(units, grown, best) || added.every((one) => one > best)) {
      for (const one of added) chosen.add(one);
    }
  }
  return [...chosen].sort((a, b) => a - b);
}

/** A unit with the list, table or code that it leads to, or the sentence that leads to it. */
function withCompanion(text: string, units: readonly Unit[], index: number): number[] {
  if (leadsOn(text, units[index], units[index + 1])) return [index, index + 1];
  return leadsOn(text, units[index - 1], units[index]) ? [index - 1, index] : [index];
}

/** Whether a sentence ends with a colon before a list, a table or code. */
function leadsOn(text: string, unit: Unit | undefined, next: Unit | undefined): boolean {
  return (
    unit?.kind === "sentence" &&
    unit.end - unit.start <= MAX_ANSWER_CHARS / 2 &&
    next !== undefined &&
    next.kind !== "sentence" &&
    /[:：][*_\s]*$/.test(text.slice(Math.max(unit.start, unit.end - 8), unit.end))
  );
}

function leavesBestEarly(units: readonly Unit[], chosen: readonly number[], best: number): boolean {
  const before = chosen.filter((index) => index <= best);
  return lengthOf(before.flatMap((index) => units[index] ?? [])) <= BEST_WITHIN_CHARS;
}

/** Whether these units are an answer of good length; one that is filled up is made of sentences only. */
function fits(units: readonly Unit[], chosen: readonly number[], isGood: boolean): boolean {
  const all = chosen.flatMap((index) => units[index] ?? []);
  const sentences = all.filter(({ kind }) => kind === "sentence");
  if (sentences.length > MAX_SENTENCES) return false;
  if (!isGood) return sentences.length === all.length && lengthOf(all) <= FULL_PROSE_CHARS;
  return lengthOf(sentences) <= MAX_PROSE_CHARS && lengthOf(all) <= MAX_ANSWER_CHARS;
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The unit, or what is kept of it when it is too long. */
function shortened(
  text: string,
  unit: SectionUnit,
  limits: { maxChars: number; score: (span: Span) => number },
): SectionUnit[] {
  const { maxChars, score } = limits;
  const isLongTable = unit.kind === "table" && unit.rows.length > MAX_WHOLE_TABLE_ROWS + TABLE_HEADER_ROWS;
  if (unit.end - unit.start <= maxChars && !isLongTable) return [unit];
  const [onlyRow, ...otherRows] = unit.rows;
  if (onlyRow === undefined || otherRows.length === 0) return [cutUnit(text, unit, maxChars)];
  const head = unit.kind === "table" ? unit.rows.slice(0, TABLE_HEADER_ROWS) : [];
  const header = lengthOf(head) > maxChars / 2 ? [] : head;
  const kept = new Set(header);
  const rest = unit.rows.slice(header.length).map((row, index) => ({ row, index, score: score(row) }));
  const parents = unit.kind === "list" ? parentsOf(text, unit.rows) : [];
  const ranked = rest.sort((a, b) => b.score - a.score);
  const least = unit.kind === "table" ? (ranked[0]?.score ?? 0) * MIN_ROW_SHARE : 0;
  for (const { row, index } of ranked.filter((one) => one.score >= least)) {
    const grown = new Set([...kept, ...ancestorsOf(unit.rows, parents, index), row]);
    const size = [...grown].reduce((sum, { start, end }) => sum + indentOf(text, start) + end - start + 1, 0);
    if (kept.size === header.length || size <= maxChars) for (const one of grown) kept.add(one);
  }
  return unit.rows
    .filter((row) => kept.has(row))
    .map((row) => cutUnit(text, { ...unit, start: row.start, end: row.end }, maxChars));
}

/** For each item of a list, the place of the item that it is nested in. */
function parentsOf(text: string, rows: readonly Span[]): (number | undefined)[] {
  const open: { index: number; indent: number }[] = [];
  return rows.map(({ start }, index) => {
    const indent = indentOf(text, start);
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const parent = open.at(-1)?.index;
    open.push({ index, indent });
    return parent;
  });
}

function ancestorsOf(rows: readonly Span[], parents: readonly (number | undefined)[], index: number): Span[] {
  const ancestors: Span[] = [];
  for (let parent = parents[index]; parent !== undefined; parent = parents[parent]) {
    const row = rows[parent];
    if (row !== undefined) ancestors.push(row);
  }
  return ancestors;
}

/** A unit, or its beginning: of code its first lines, else up to a whole sentence or word. */
function cutUnit(text: string, unit: SectionUnit, maxChars: number): SectionUnit {
  if (unit.end - unit.start <= maxChars) return unit;
  const beginning = text.slice(unit.start, unit.start + maxChars);
  const newline = unit.kind === "code" ? beginning.lastIndexOf("\n") : -1;
  const kept = newline > maxChars / 2 ? beginning.slice(0, newline) : cutText(beginning, maxChars - 1);
  return { ...unit, end: unit.start + kept.trimEnd().length };
}

/**
 * Joins what stands next to each other in a text to one quote, word for word, and what readers are shown of the quotes
 * (`masked`, with the offsets of the text) to one text.
 */
function joinUnits(text: string, masked: string, units: readonly SectionUnit[]): { text: string; quotes: Quote[] } {
  const quotes: Quote[] = [];
  let joined = "";
  let previous: SectionUnit | undefined;
  for (const unit of units) {
    const gap = previous === undefined ? "" : text.slice(previous.end, unit.start);
    const words = text.slice(unit.start, unit.end);
    const shown = showParts(masked.slice(unit.start, unit.end));
    const closing = unit.kind === "code" || unit.kind === "list" ? missingFence(words) : "";
    const last = quotes.at(-1);
    if (last !== undefined && previous?.part === unit.part && gap.trim() === "") {
      last.text += gap + words;
      joined += showParts(masked.slice(previous.end, unit.start)) + shown + closing;
    } else {
      quotes.push({ text: words, part: unit.part });
      joined += separator(text, previous, unit) + shown + closing;
    }
    previous = unit;
  }
  return { text: joined.trim(), quotes };
}

const FENCE = /^([ \t>]*)(?:(?:[-*+]|\d{1,9}[.)])[ \t]*)?(`{3,}|~{3,})(.*)$/;

/** What closes a code fence that was cut; nothing where all are closed. */
function missingFence(part: string): string {
  let open: { indent: string; mark: string } | undefined;
  for (const line of part.split(/\r\n|[\n\r]/)) {
    const [, indent = "", mark = "", rest = ""] = FENCE.exec(line) ?? [];
    if (mark === "") continue;
    if (open === undefined) {
      if (!mark.startsWith("`") || !rest.includes("`")) open = { indent, mark };
    } else if (mark.startsWith(open.mark) && rest.trim() === "") {
      open = undefined;
    }
  }
  return open === undefined ? "" : `\n${open.indent}${open.mark}`;
}

function separator(text: string, previous: Unit | undefined, next: Unit): string {
  if (previous === undefined) return "";
  if (previous.paragraph !== next.paragraph && !(previous.kind === "list" && next.kind === "list")) return "\n\n";
  return next.kind === "sentence" ? " " : `\n${" ".repeat(indentOf(text, next.start))}`;
}

/** With the definitions that the links of an answer (`[words][name]`, `[name]`) need, where the passage has them. */
function withLinkDefinitions(passage: string, answer: string): string {
  if (answer === "") return answer;
  const names = new Set(Array.from(answer.matchAll(/\[([^\][\n]{1,200})\]/g), ([, name = ""]) => name.toLowerCase()));
  const lines = linkDefinitions(passage)
    .filter(({ name, line }) => names.has(name) && !answer.includes(line))
    .map(({ line }) => line);
  return lines.length === 0 ? answer : `${answer}\n\n${[...new Set(lines)].join("\n")}`;
}
