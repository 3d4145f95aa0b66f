import { findCodes, foldAccents, tokenize } from "@svc/text";
import type { Passage } from "../answer.ts";
import { splitUnits } from "../passage-units.ts";
import type { Span, Unit } from "../passage-units.ts";
import { maskMarkup } from "../readable-markdown.ts";

/** A sentence, list item, table row or code block of a passage: what may be the answer. */
export interface AnswerPart {
  kind: "sentence" | "item" | "row" | "code";
  start: number;
  end: number;
  /** Number of the unit of `splitUnits` that it is, or is an item or row of. */
  unit: number;
  /** Its words without accents, in order. */
  terms: readonly string[];
}

/** A passage with its words and the units that may answer. */
export interface ReadPassage {
  passage: Passage;
  units: readonly Unit[];
  parts: readonly AnswerPart[];
  titleTerms: readonly string[];
  headingTerms: readonly string[];
}

/** Rows at the top of a table: its header and the line below it. */
export const TABLE_HEADER_ROWS = 2;

/** Longer lists and sentences joined by markup are taken apart. */
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
      const body = unit.rows.slice(unit.rows.length > TABLE_HEADER_ROWS ? TABLE_HEADER_ROWS : 0);
      return body.map((row) => part("row", row, index));
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

/** The words of a text without accents, and its codes as a whole: `K-1050` is `k`, `1050` and `k1050`. */
function termsOf(text: string): string[] {
  const folded = foldAccents(text);
  return [...tokenize(folded), ...findCodes(folded)].map(({ term }) => term);
}
