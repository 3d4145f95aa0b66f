import { splitSentences } from "@svc/text";

/** A sentence, a list item or a heading of notes; of run-on speech, a stretch that one thing is said in. */
export interface NotePart {
  /** Offset of its first UTF-16 unit in the notes, behind the mark of a list item or heading. */
  start: number;
  /** Offset behind its last one. */
  end: number;
  /** `- `, `1. ` or `## `, where it has one. */
  mark: string;
  kind: "sentence" | "item" | "heading";
  /** Whether it goes on in the line of the part before it, with or without a space, begins a line, or a paragraph. */
  begins: "nothing" | "word" | "line" | "paragraph";
}

const MARK = /^(?:[ \t]*(?:[-*+•–]|\d{1,3}[.)]|\[[ xX]?\])[ \t]+)+/u;
const HEADING_MARK = /^#{1,6}[ \t]+/u;

/** Speech without full stops is cut when it goes on for so many words, before what begins another thought. */
const RUN_ON_WORDS = 30;
const LEAST_WORDS = 6;
/** And in any case after so many. */
const MOST_WORDS = 80;

/** What begins another thought, in several languages: also "second the invoice", and not "on the second floor". */
const NEXT_THOUGHT =
  /(?<=\s)(?:(?<!(?:^|\s)(?:the|a|an|this|that|my|our|his|her|their|your|every|each|on|in|at|for|of)\s)(?:first|second|third|fourth)(?=\s+(?:the|a|an|i|we|they|he|she|it|there|my|our|some)\s)|oh and|oh also|anyway|by the way|number (?:one|two|three|four)|erstens|zweitens|drittens|übrigens|d'abord|premièrement|deuxièmement|primero|segundo|por cierto|per primo|poi|ten eerste|ten tweede|trouwens|and then|and also|also|another|next|then|secondly|thirdly|first of all|apart from that|besides|so then|okay so|ok so|und dann|außerdem|ausserdem|als nächstes|dann noch|et puis|ensuite|aussi|y luego|y también|además|e poi|inoltre|e depois|também|en dan|ook|verder|poza tym|potem|następnie|a także|кроме того|потом|затем|а также|крім того|потім|а також|ayrıca|sonra)(?=\s)/giu;

/** The parts of notes, in reading order; together they hold all of the notes but white space and marks. */
export function noteParts(notes: string): NotePart[] {
  const parts: NotePart[] = [];
  let before = 0;
  for (const line of linesOf(notes)) {
    for (const { start, end, kind } of splitSentences(line.text)) {
      const from = line.start + start;
      const text = notes.slice(from, line.start + end);
      const mark = (start === 0 ? (HEADING_MARK.exec(text)?.[0] ?? MARK.exec(text)?.[0]) : undefined) ?? "";
      const begins = parts.length === 0 ? "paragraph" : beginsOf(notes.slice(before, from));
      const isHeading = kind === "heading" || mark.startsWith("#");
      const body = { start: from + mark.length, end: line.start + end };
      before = body.end;
      if (body.start >= body.end) continue;
      const whole: NotePart = {
        ...body,
        mark,
        begins,
        kind: isHeading ? "heading" : mark === "" ? "sentence" : "item",
      };
      parts.push(...cutRunOn(notes, whole));
    }
  }
  return parts;
}

function beginsOf(gap: string): NotePart["begins"] {
  const lines = gap.match(/\n/g)?.length ?? 0;
  if (lines > 0) return lines > 1 ? "paragraph" : "line";
  return gap === "" ? "nothing" : "word";
}

/** Who dictates ends lines, and not sentences: a line never goes on in the next one. */
function linesOf(notes: string): { text: string; start: number }[] {
  let start = 0;
  return notes.split("\n").map((text) => {
    const line = { text, start };
    start += text.length + 1;
    return line;
  });
}

function cutRunOn(notes: string, part: NotePart): NotePart[] {
  const text = notes.slice(part.start, part.end);
  const starts = [...text.matchAll(/\S+/g)].map(({ index }) => index);
  if (starts.length <= RUN_ON_WORDS) return [part];
  const placeOf = new Map(starts.map((start, place) => [start, place]));
  const cuts: number[] = [];
  let from = 0;
  for (const { index } of text.matchAll(NEXT_THOUGHT)) {
    const place = placeOf.get(index) ?? from;
    if (place - from < LEAST_WORDS || starts.length - place < LEAST_WORDS) continue;
    cuts.push(index);
    from = place;
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

/** Stretches of at most `MOST_WORDS` words, without white space at their ends. */
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
