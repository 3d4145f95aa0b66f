import { findCodes, foldAccents, tokenize } from "@svc/text";
import type { Passage } from "../answer.ts";
import { splitUnits } from "../passage-units.ts";
import type { Span, Unit } from "../passage-units.ts";
import { maskMarkup, showParts } from "../readable-markdown.ts";

/** A sentence, list item, table row or code block of a passage that may be the answer. */
export interface AnswerPart {
  kind: "sentence" | "item" | "row" | "code";
  start: number;
  end: number;
  /** Index of its unit, as returned by `splitUnits`. */
  unit: number;
  /** Its words without accents, in order. */
  terms: readonly string[];
  /** For a row of a table with a header: the words of each column header. */
  heads?: readonly (readonly string[])[];
  /** For a row: the columns that a question names, or all if it names none. */
  columns?: readonly number[];
}

/** A passage with its words and the units that may answer. */
export interface ReadPassage {
  passage: Passage;
  units: readonly Unit[];
  parts: readonly AnswerPart[];
  titleTerms: readonly string[];
  headingTerms: readonly string[];
}

/** The line below the header of a table. */
const DELIMITER = /^\s*(?=[^\n]*-)[|:\- \t]+$/;

/** Lists and sentences joined by markup are split above this length. */
const MAX_JOINED_CHARS = 1_200;

/** Reads a passage as the units that may answer a question. */
export function readPassage(passage: Passage): ReadPassage {
  const { text, markdown, title, headingPath } = passage;
  const shown = markdown ? maskMarkup(text) : text;
  const units = splitUnits(text, { markdown, maxJoinedChars: MAX_JOINED_CHARS });
  const part = (kind: AnswerPart["kind"], { start, end }: Span, unit: number): AnswerPart => ({
    kind,
    start,
    end,
    unit,
    terms: termsOf(shown.slice(start, end)),
  });
  const parts = units.flatMap((unit, index): AnswerPart[] => {
    if (unit.kind === "list") return unit.rows.map((row) => part("item", row, index));
    if (unit.kind === "table") {
      const { header, body } = readTable(text, unit);
      const heads = header === null ? undefined : cellsOf(shown, header).map(termsOf);
      return body.map((row) => ({ ...part("row", row, index), ...(heads === undefined ? {} : { heads }) }));
    }
    return [part(unit.kind, unit, index)];
  });
  return {
    passage,
    units,
    parts,
    titleTerms: termsOf(title),
    headingTerms: termsOf(headingPath.filter((heading) => heading !== title).join("\n")),
  };
}

/** The header of a table, if it has one, and its rows: a piece of a longer table may have rows only. */
export function readTable(text: string, { rows }: Unit): { header: Span | null; body: readonly Span[] } {
  const isDelimiter = (row: Span | undefined): boolean =>
    row !== undefined && DELIMITER.test(text.slice(row.start, row.end));
  const body = rows.filter((row) => !isDelimiter(row));
  const header = isDelimiter(rows[1]) && body.length > 1 ? body[0] : undefined;
  return header === undefined ? { header: null, body } : { header, body: body.slice(1) };
}

/** The cells of a row of a table, without the marks of Markdown that only lay them out. */
export function cellsOf(shown: string, { start, end }: Span): string[] {
  return shown
    .slice(start, end)
    .replace(/^\s*\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => showParts(cell).replaceAll("\\|", "|").trim());
}

/** The words of a text without accents, and its codes as a whole: `K-1050` is `k`, `1050` and `k1050`. */
export function termsOf(text: string): string[] {
  const folded = foldAccents(text);
  return [...tokenize(folded), ...findCodes(folded)].map(({ term }) => term);
}
