import { wordKinds } from "./repair-words.ts";
import type { WordKind } from "./repair-words.ts";

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

const WORD = /(?:[#$€£¥₽₹₴§№](?=\p{N}))?[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’.,&/-][\p{L}\p{M}\p{N}]+)*/gu;

/** What stands for a pause in writing. */
const PAUSE = /[,;:.…–—，、。；：،؛]|\s-\s/u;

const plainKind = (word: string, isCapital: boolean): WordKind =>
  /\p{N}/u.test(word) ? "number" : isCapital ? "name" : "word";

/**
 * The words and numbers of a text in a language (ISO 639-1), in order. Those with a point, a hyphen or an apostrophe within
 * are one, and so is a number with the sign before it, as in "$5".
 */
export function noteWords(text: string, language: string): NoteWord[] {
  const kinds = wordKinds(language);
  let before = 0;
  return [...text.matchAll(WORD)].map((match) => {
    const [written] = match;
    const word = written.toLowerCase().replaceAll("’", "'");
    const isCapital = /^\p{Lu}/u.test(written);
    const start = match.index;
    const isSetOff = PAUSE.test(text.slice(before, start));
    before = start + written.length;
    return { word, kind: kinds.get(word) ?? plainKind(word, isCapital), isCapital, isSetOff, start, end: before };
  });
}
