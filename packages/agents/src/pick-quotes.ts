import { tokenize } from "@svc/text";
import { isSameWord } from "./is-same-word.ts";
import { splitUnits } from "./passage-units.ts";
import type { Span, Unit } from "./passage-units.ts";

/** A word of a question and how rare it is. */
export interface WeighedWord {
  word: string;
  weight: number;
}

/** The parts of a passage that answer, in reading order. */
export interface PickedQuotes {
  /** The quotes, joined. */
  text: string;
  /** Each stands in the passage word for word. */
  quotes: string[];
  /** The share of the question's words, by weight, that its best part holds with its title and headings; 0 to 1. */
  share: number;
}

/** An answer is at most this long, unless all there is to quote is one longer code fence. */
const MAX_ANSWER_CHARS = 1_200;

/** A reader wants a few sentences and not the page. A passage that is no longer is quoted whole. */
const MAX_PROSE_CHARS = 500;
const MAX_SENTENCES = 4;

/** A part with less than this share of the best part's score is not to the point. */
const MIN_SHARE_OF_BEST = 0.3;

/** Of a long question, the rarest words say what it is about. */
const MAX_WORDS = 32;

const TABLE_HEADER_ROWS = 2;

/**
 * Picks the parts of a passage that answer a question: those with the rarest of its words, at most a few sentences,
 * lists, tables and code fences whole, in reading order and in the passage's own words. What leads to a list ("Do
 * this:") comes with it. A list or table that is too long keeps its best items or rows, and the table its header.
 */
export function pickQuotes(
  passage: { text: string; title: string; headingPath: readonly string[] },
  words: readonly WeighedWord[],
): PickedQuotes {
  const { text } = passage;
  const rarest = [...words].sort((a, b) => b.weight - a.weight).slice(0, MAX_WORDS);
  const inContext = overlapper([passage.title, ...passage.headingPath].join("\n"));
  const left = rarest.filter(({ word }) => !inContext(word));
  const score = (span: Span): number => {
    const holds = overlapper(text.slice(span.start, span.end));
    return sumOf(rarest.filter(({ word }) => holds(word)));
  };
  const units = splitUnits(text);
  const first = units[0];
  const last = units.at(-1);
  if (first === undefined || last === undefined) return { text: "", quotes: [], share: 0 };

  const scores = units.map(score);
  const holdsLeft = units.map((unit) => {
    const holds = overlapper(text.slice(unit.start, unit.end));
    return sumOf(left.filter(({ word }) => holds(word)));
  });
  const total = sumOf(rarest);
  const share = total === 0 ? 0 : (total - sumOf(left) + Math.max(...holdsLeft)) / total;
  const isShort = last.end - first.start <= MAX_PROSE_CHARS;
  const chosen = isShort ? units.map((_, index) => index) : chooseUnits(text, units, scores);
  return {
    ...joinUnits(
      text,
      chosen.flatMap((index) => shortened(units[index], score)),
    ),
    share,
  };
}

/** Answers whether a text holds a word in any of its forms. */
function overlapper(text: string): (word: string) => boolean {
  const terms = [...new Set(tokenize(text).map(({ term }) => term))];
  return (word) => terms.some((term) => isSameWord(term, word));
}

function sumOf(words: readonly WeighedWord[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0);
}

/** Indices of the units that go into the answer, in reading order. */
function chooseUnits(text: string, units: readonly Unit[], scores: readonly number[]): number[] {
  const best = Math.max(...scores);
  const chosen = new Set<number>();
  // Equal scores keep their order: where only the heading matches, the answer is how its section begins.
  const ranked = units.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  for (const index of ranked) {
    if (chosen.size > 0 && (scores[index] ?? 0) < best * MIN_SHARE_OF_BEST) break;
    const grown = new Set([...chosen, ...withCompanion(text, units, index)]);
    if (chosen.size === 0 || fits([...grown].flatMap((one) => units[one] ?? [])))
      for (const one of grown) chosen.add(one);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** A unit with the list, table or code that it leads to, or the sentence that leads to it. */
function withCompanion(text: string, units: readonly Unit[], index: number): number[] {
  const leads = (unit: Unit | undefined, next: Unit | undefined): boolean =>
    unit?.kind === "sentence" &&
    next !== undefined &&
    next.kind !== "sentence" &&
    /[:：][*_\s]*$/.test(text.slice(Math.max(unit.start, unit.end - 8), unit.end));
  if (leads(units[index], units[index + 1])) return [index, index + 1];
  return leads(units[index - 1], units[index]) ? [index - 1, index] : [index];
}

function fits(units: readonly Unit[]): boolean {
  const sentences = units.filter(({ kind }) => kind === "sentence");
  return (
    sentences.length <= MAX_SENTENCES && lengthOf(sentences) <= MAX_PROSE_CHARS && lengthOf(units) <= MAX_ANSWER_CHARS
  );
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The unit, or its best rows in their order when it is longer than an answer. */
function shortened(unit: Unit | undefined, score: (span: Span) => number): Unit[] {
  if (unit === undefined) return [];
  if (unit.rows.length === 0 || unit.end - unit.start <= MAX_ANSWER_CHARS) return [unit];
  const header = unit.kind === "table" ? unit.rows.slice(0, TABLE_HEADER_ROWS) : [];
  const kept = new Set(header);
  const rest = unit.rows.slice(header.length).map((row) => ({ row, score: score(row) }));
  for (const { row } of rest.sort((a, b) => b.score - a.score)) {
    if (kept.size === header.length || lengthOf([...kept, row]) <= MAX_ANSWER_CHARS) kept.add(row);
  }
  return unit.rows.filter((row) => kept.has(row)).map((row) => ({ ...unit, start: row.start, end: row.end }));
}

/** Joins what stands next to each other in the passage to one quote, and the quotes to one text. */
function joinUnits(text: string, units: readonly Unit[]): { text: string; quotes: string[] } {
  const quotes: string[] = [];
  let joined = "";
  let previous: Unit | undefined;
  for (const unit of units) {
    const gap = previous === undefined ? "" : text.slice(previous.end, unit.start);
    const part = text.slice(unit.start, unit.end);
    if (previous !== undefined && gap.trim() === "") {
      quotes.push((quotes.pop() ?? "") + gap + part);
      joined += gap + part;
    } else {
      quotes.push(part);
      joined += separator(previous, unit) + part;
    }
    previous = unit;
  }
  return { text: joined, quotes };
}

function separator(previous: Unit | undefined, next: Unit): string {
  if (previous === undefined) return "";
  if (previous.paragraph !== next.paragraph) return "\n\n";
  return next.kind === "sentence" ? " " : "\n";
}
