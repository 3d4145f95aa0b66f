import type { Passage } from "../answer.ts";
import { cellsOf } from "./rate-passages.ts";
import type { AnswerPart, ReadPassage } from "./rate-passages.ts";
import type { ReadQuestion } from "./read-question.ts";

/** Returns whether two passages are of one document, below the same headings. */
export const isSamePlace = (one: Passage, other: Passage): boolean =>
  one.documentId === other.documentId && one.headingPath.join("\n") === other.headingPath.join("\n");

/** Returns whether a passage below other headings has a table with the columns of a row. */
export function isParallel({ passage }: ReadPassage, row: AnswerPart, other: ReadPassage): boolean {
  const columns = JSON.stringify(row.heads);
  return (
    row.heads !== undefined &&
    !isSamePlace(passage, other.passage) &&
    other.parts.some(({ heads }) => JSON.stringify(heads) === columns)
  );
}

/** Matches a year from 2010 on; earlier ones are rather the name of something ("Model 2000"). */
const YEAR = /(?<!\p{N})20[1-9]\p{N}(?!\p{N})/gu;

/**
 * Returns whether, by the years in their titles and headings, the first of two passages is the newer one, and not of a
 * future year. A question with a year may ask about the past.
 */
export function isNewer({ words }: ReadQuestion, one: Passage, other: Passage): boolean {
  if (words.some(({ term }) => term.match(YEAR) !== null)) return false;
  const yearOf = ({ title, headingPath }: Passage) =>
    Math.max(...([title, ...headingPath].join("\n").match(YEAR) ?? []).map(Number));
  return yearOf(one) > yearOf(other) && yearOf(one) <= new Date().getFullYear();
}

/** Returns whether a question names a year, other than this one, that a passage has not: its figures may be of another. */
export function lacksYear({ words }: ReadQuestion, { title, headingPath, text }: Passage): boolean {
  const given = new Set([title, ...headingPath, text].join("\n").match(YEAR));
  const asked = words.flatMap(({ term }) => term.match(YEAR) ?? []);
  return asked.some((year) => Number(year) !== new Date().getFullYear() && !given.has(year));
}

/** Numbers without separators, which languages write differently: "1.234,50". */
const numbersOf = (text: string): string =>
  (text.match(/\p{N}+(?:[.,]\p{N}+)*/gu) ?? []).join(" ").replace(/[.,]/g, "");

/** Returns the cells of the row with this first cell; null if the passage has none, or several, as a timetable. */
function findRow({ passage, parts }: ReadPassage, name: string): string[] | null {
  const rows = parts.flatMap((part) => (part.kind === "row" ? [cellsOf(passage.text, part)] : []));
  const [row, ...others] = rows.filter(([first]) => first === name);
  return others.length === 0 ? (row ?? null) : null;
}

/** Returns whether two cells differ in their numbers, or one has words in their place ("closed"). */
function conflict(cell: string, other: string): boolean {
  const [numbers, otherNumbers] = [numbersOf(cell), numbersOf(other)];
  const says = (said: string, text: string) => said !== "" || /\p{L}/u.test(text);
  return numbers !== otherNumbers && says(numbers, cell) && says(otherNumbers, other);
}

/** Returns which words of a question a part has. */
const heldBy = ({ terms }: AnswerPart, { positionsOf }: ReadQuestion): ReadonlySet<number> =>
  new Set(terms.flatMap((term) => [...positionsOf(term)]));

/**
 * Returns a test of whether a passage says the same as a part with other figures: in a row of the same name and length, or
 * in a sentence that is alike but for numbers.
 */
function createContradictionTest(
  question: ReadQuestion,
  read: ReadPassage,
  best: AnswerPart,
): (other: ReadPassage) => boolean {
  if (best.kind === "row") {
    const [name = "", ...cells] = cellsOf(read.passage.text, best);
    if (name === "" || findRow(read, name) === null) return () => false;
    return (other) => {
      const [, ...otherCells] = findRow(other, name) ?? [];
      return cells.length === otherCells.length && cells.some((cell, at) => conflict(cell, otherCells[at] ?? ""));
    };
  }
  const textOf = ({ passage }: ReadPassage, { start, end }: AnswerPart) => passage.text.slice(start, end);
  const withoutNumbers = (sentence: string) => sentence.replace(/\p{N}+(?:[.,]\p{N}+)*/gu, "#").trim();
  const said = textOf(read, best);
  const named = heldBy(best, question);
  return (other) =>
    other.parts.some((part) => {
      const text = textOf(other, part);
      if (numbersOf(text) === numbersOf(said) || withoutNumbers(text) !== withoutNumbers(said)) return false;
      // "The M-200 has 2 litres" and "the M-300 has 3 litres" are of two things.
      const alsoNamed = heldBy(part, question);
      return [...named].every((position) => alsoNamed.has(position));
    });
}

/**
 * Returns a passage of another document or below other headings that gives other figures for the same, such as last year's
 * price list; null if there is none, or if the question has a word of this passage's title or headings that the other's
 * lack.
 */
export function findOtherFigures(
  question: ReadQuestion,
  read: ReadPassage,
  best: AnswerPart,
  others: readonly ReadPassage[],
): Passage | null {
  const headsOf = ({ titleTerms, headingTerms }: ReadPassage) =>
    new Set([...titleTerms, ...headingTerms].flatMap((term) => question.positionsOf(term)));
  const own = headsOf(read);
  const contradicts = createContradictionTest(question, read, best);
  const found = others.find(
    (other) =>
      !isSamePlace(other.passage, read.passage) &&
      contradicts(other) &&
      [...own].every((position) => headsOf(other).has(position)),
  );
  return found?.passage ?? null;
}
