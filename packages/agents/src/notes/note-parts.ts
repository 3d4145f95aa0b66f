import { splitSentences } from "@svc/text";
import { isGivenName } from "./issue-facts.ts";
import { perLanguage, sourceOf } from "./language-words.ts";
import { dayEnds } from "./note-clauses.ts";

/** A sentence, list item or heading of notes, or a section of speech without full stops. */
export interface NotePart {
  /** Offset of its first UTF-16 unit in the notes, after the mark of a list item or heading. */
  start: number;
  /** Offset after its last UTF-16 unit. */
  end: number;
  /** `- `, `1. `, `## ` or `Anna: `, if it has one. */
  mark: string;
  /** Speaker, if a name with a colon precedes it or the part it continues. */
  speaker: string | null;
  kind: "sentence" | "item" | "heading";
  /** Whether it continues the line of the part before it, without or with a space, or begins a line or a paragraph. */
  begins: "nothing" | "word" | "line" | "paragraph";
}

const MARK = /^(?:[ \t]*(?:[-*+•–]|\d{1,3}[.)]|\[[ xX]?\])[ \t]+)+/u;
const HEADING_MARK = /^#{1,6}[ \t]+/u;

/** Number of words after which speech without full stops is split, before words that begin a new topic. */
export const RUN_ON_WORDS = 30;
const LEAST_WORDS = 6;
/** Number of words after which it is always split. */
const MOST_WORDS = 80;

/** Matches a speaker's name in a transcript. */
const LABEL =
  /^(?:\[?\d{1,2}(?::\d{2}){1,2}\]?[ \t]+)?\*{0,2}(?<name>\p{Lu}[\p{L}\p{M}\p{N}'’.-]*(?: [\p{Lu}\p{N}][\p{L}\p{M}\p{N}'’.-]*){0,2})(?: \([^()\n]{1,40}\))?\*{0,2}:\*{0,2}[ \t]+/u;

/**
 * Splits notes in a language (ISO 639-1) into parts, in reading order; together they contain everything except white
 * space and marks.
 */
export function noteParts(notes: string, language: string): NotePart[] {
  const parts: NotePart[] = [];
  const isSpeaker = speakerTest(notes);
  let before = 0;
  let speaker: string | null = null;
  for (const line of linesOf(notes)) {
    for (const { start, end, kind } of splitSentences(line.text)) {
      const from = line.start + start;
      const text = notes.slice(from, line.start + end);
      const begins = parts.length === 0 ? "paragraph" : beginsOf(notes.slice(before, from));
      const label = LABEL.exec(text);
      const name = label?.groups?.["name"] ?? "";
      const isSaid = label !== null && isSpeaker(name);
      const listMark = start === 0 ? (HEADING_MARK.exec(text)?.[0] ?? MARK.exec(text)?.[0]) : undefined;
      const mark = isSaid ? label[0] : (listMark ?? "");
      const isHeading = !isSaid && (kind === "heading" || mark.startsWith("#"));
      if (isSaid) speaker = name;
      else if (begins === "paragraph" || mark !== "") speaker = null;
      const body = { start: from + mark.length, end: line.start + end };
      before = body.end;
      if (body.start >= body.end) continue;
      const whole: NotePart = {
        ...body,
        mark,
        speaker,
        begins,
        kind: isHeading ? "heading" : mark === "" || isSaid ? "sentence" : "item",
      };
      parts.push(...cutRunOn(notes, whole, language));
    }
  }
  return parts;
}

/** Returns a function that distinguishes a speaker's name from "Important:": it is known, or is repeated. */
function speakerTest(notes: string): (name: string) => boolean {
  const counts = new Map<string, number>();
  for (const line of notes.split("\n")) {
    const name = LABEL.exec(line.trim())?.groups?.["name"];
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return (name) => (counts.get(name) ?? 0) > 1 || isGivenName(name);
}

function beginsOf(gap: string): NotePart["begins"] {
  const lines = gap.match(/\n/g)?.length ?? 0;
  if (lines > 0) return lines > 1 ? "paragraph" : "line";
  return gap === "" ? "nothing" : "word";
}

/** Splits dictated text into lines: a line never continues on the next one. */
function linesOf(notes: string): { text: string; start: number }[] {
  let start = 0;
  return notes.split("\n").map((text) => {
    const line = { text, start };
    start += text.length + 1;
    return line;
  });
}

const nextThought = perLanguage(({ next, nextSpoken }) => ({
  next: new RegExp(`(?<=\\s)${sourceOf(next)}(?=\\s)`, "giu"),
  nextSpoken: new RegExp(`(?<=\\s)${sourceOf(nextSpoken)}(?=\\s)`, "giu"),
}));

function cutRunOn(notes: string, part: NotePart, language: string): NotePart[] {
  const text = notes.slice(part.start, part.end);
  const starts = [...text.matchAll(/\S+/g)].map(({ index }) => index);
  // The speaker's name counts towards the length of a line.
  const named = part.speaker === null ? 0 : part.mark.trim().split(/\s+/).length;
  if (named + starts.length <= RUN_ON_WORDS) return [part];
  const positionOf = new Map(starts.map((start, position) => [start, position]));
  const cuts: number[] = [];
  let from = -named;
  const { next, nextSpoken } = nextThought(language);
  // Dictation with commas has full stops as well.
  const isBare = !text.includes(",");
  const positionsOf = (phrases: RegExp) => [...text.matchAll(phrases)].map(({ index }) => index);
  const positions = [...positionsOf(next), ...(isBare ? [...positionsOf(nextSpoken), ...dayEnds(text, language)] : [])];
  for (const index of positions.toSorted((a, b) => a - b)) {
    const position = positionOf.get(index) ?? from;
    if (position - from < LEAST_WORDS || starts.length - position < LEAST_WORDS) continue;
    cuts.push(index);
    from = position;
  }
  const bounds = [0, ...cuts, text.length];
  const pieces = bounds.slice(1).flatMap((end, index) => cutLong(text, bounds[index] ?? 0, end));
  return pieces.map(([start, end], index) => ({
    ...part,
    start: part.start + start,
    end: part.start + end,
    ...(index === 0 ? {} : { mark: "", begins: "word" }),
  }));
}

/** Splits a range into sections of at most `MOST_WORDS` words, without white space at their ends. */
function cutLong(text: string, from: number, to: number): [start: number, end: number][] {
  const words = [...text.slice(from, to).matchAll(/\S+/g)];
  const pieces: [number, number][] = [];
  for (let index = 0; index < words.length; index += MOST_WORDS) {
    const [first, last] = [words[index], words[Math.min(index + MOST_WORDS, words.length) - 1]];
    if (first === undefined || last === undefined) continue;
    pieces.push([from + first.index, from + last.index + last[0].length]);
  }
  return pieces;
}
