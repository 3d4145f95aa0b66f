/** What kind of word a word is, for how corrections are made: what is put right is mostly of the same kind. */
export type WordKind = "ask" | "verb" | "article" | "place" | "and" | "person" | "not" | "number" | "name" | "word";

/** A word of a note, with its place there. */
export interface NoteWord {
  /** In lower case, with straight apostrophes. */
  word: string;
  kind: WordKind;
  isCapital: boolean;
  /** Whether a comma, a dash or a full stop stands before it. */
  isSetOff: boolean;
  /** Offset of its first UTF-16 unit. */
  start: number;
  /** Offset behind its last one. */
  end: number;
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’.,&/-][\p{L}\p{M}\p{N}]+)*/gu;

/** What stands for a pause in writing. */
const PAUSE = /[,;:.…–—]|\s-\s/u;

const KINDS: readonly [WordKind, ReadonlySet<string>][] = [
  ["ask", new Set("what which who whom whose when where why how".split(" "))],
  [
    "verb",
    new Set(
      "is are was were be been do does did can could has have had will would should may might must isn't doesn't didn't wasn't".split(
        " ",
      ),
    ),
  ],
  [
    "article",
    new Set("the a an this that these those its their his her our your my some any all each every another".split(" ")),
  ],
  [
    "place",
    new Set(
      "of in on at by for from to with as into about between over under after before during through against among within without per than around toward towards near outside inside since until upon".split(
        " ",
      ),
    ),
  ],
  ["and", new Set("and or but nor if because while".split(" "))],
  ["person", new Set("it they he she we you i them him us me one there".split(" "))],
  ["not", new Set(["not", "never"])],
  [
    "number",
    new Set(
      "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million first second third fourth fifth".split(
        " ",
      ),
    ),
  ],
];

/** The kind of a word, by its form in lower case. */
function kindOf(word: string, isCapital: boolean): WordKind {
  const known = KINDS.find(([, words]) => words.has(word));
  if (known !== undefined) return known[0];
  if (/\p{N}/u.test(word)) return "number";
  return isCapital ? "name" : "word";
}

/** The words and numbers of a text, in order. Those with a point, a hyphen or an apostrophe within are one. */
export function noteWords(text: string): NoteWord[] {
  let before = 0;
  return [...text.matchAll(WORD)].map((match) => {
    const [written] = match;
    const word = written.toLowerCase().replaceAll("’", "'");
    const isCapital = /^\p{Lu}/u.test(written);
    const start = match.index;
    const isSetOff = PAUSE.test(text.slice(before, start));
    before = start + written.length;
    return { word, kind: kindOf(word, isCapital), isCapital, isSetOff, start, end: before };
  });
}
