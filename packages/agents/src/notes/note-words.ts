import { wordKinds } from "./repair-words.ts";
import type { WordKind } from "./repair-words.ts";

/** Adds the full stop that speech lacks. */
export const stopped = (text: string) => (/[\p{L}\p{N}]$/u.test(text) && /\s/.test(text) ? `${text}.` : text);

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

/** A text without the characters at its end that are of a kind; takes time in proportion to these, as `/x+$/` does not. */
export function trimEnd(text: string, kind: RegExp): string {
  let end = text.length;
  while (end > 0 && kind.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A letter as a sentence in a language (ISO 639-1) begins with it; unchanged where its capital is that of another letter. */
export function capitalOf(letter: string, language: string): string {
  // Two letters i, each with a capital of its own.
  if (language === "tr" || language === "az") return letter.toLocaleUpperCase(language);
  const capital = letter.toUpperCase();
  return capital.toLowerCase() === letter ? capital : letter;
}
