import { diffWordsWithSpace } from "diff";

/** A piece of a text, and whether it is one of the words that were looked for. */
export interface MarkedPiece {
  text: string;
  isMarked: boolean;
}

const WORDS = /[\p{L}\p{N}]+/gu;
/** Shorter words stand everywhere, but for those with digits and those in capitals, as in E07 and VPN. */
const WORD_MIN_CHARS = 4;
const CODE = /\p{N}|^\p{Lu}{2,}$/u;
/** Forms of a word begin alike: so many letters at its end may differ. */
const ENDING_MAX_CHARS = 3;
const STEM_MIN_CHARS = 4;

const fold = (word: string) => word.toLowerCase().normalize("NFD").replaceAll(/\p{M}/gu, "");

/** The beginning that forms of a word share, as far as one can say without a dictionary. */
const stemOf = (word: string) => word.slice(0, Math.max(STEM_MIN_CHARS, word.length - ENDING_MAX_CHARS));

function isLike(word: string, wanted: string): boolean {
  if (word === wanted) return true;
  if (Math.min(word.length, wanted.length) < STEM_MIN_CHARS) return false;
  return Math.abs(word.length - wanted.length) <= ENDING_MAX_CHARS && word.startsWith(stemOf(wanted));
}

/** The text in pieces, with those marked that are a form of a word of the query. What comes out is the text, whole. */
export function markWords(text: string, query: string): MarkedPiece[] {
  const wanted = [...query.matchAll(WORDS)]
    .filter(([word]) => word.length >= WORD_MIN_CHARS || CODE.test(word))
    .map(([word]) => fold(word));
  const pieces: MarkedPiece[] = [];
  const push = (piece: string, isMarked: boolean) => {
    const last = pieces.at(-1);
    if (piece === "") return;
    if (last !== undefined && last.isMarked === isMarked) last.text += piece;
    else pieces.push({ text: piece, isMarked });
  };
  let end = 0;
  for (const match of text.matchAll(WORDS)) {
    const [word] = match;
    push(text.slice(end, match.index), false);
    const folded = fold(word);
    push(
      word,
      wanted.some((other) => isLike(folded, other)),
    );
    end = match.index + word.length;
  }
  push(text.slice(end), false);
  return pieces;
}

/** A piece of a text that goes, comes, or stays. */
export interface DiffPart {
  value: string;
  added: boolean;
  removed: boolean;
}

/** What is longer is shown as before and after: comparing takes longer than reading. */
const COMPARED_MAX_CHARS = 20_000;
/** Where less of the longer text than this stays, single words that stay would only make both unreadable. */
const KEPT_MIN_SHARE = 0.4;

const countSigns = (text: string) => text.replaceAll(/\s/g, "").length;

/** What changes from one text to another, word by word; one after the other where little stays. */
export function diffTexts(before: string, after: string): DiffPart[] {
  const isShort = before.length + after.length <= COMPARED_MAX_CHARS;
  const parts = isShort ? diffWordsWithSpace(before, after) : [];
  const kept = parts.reduce((sum, part) => (part.added || part.removed ? sum : sum + countSigns(part.value)), 0);
  const longest = Math.max(countSigns(before), countSigns(after));
  if (isShort && kept >= longest * KEPT_MIN_SHARE) return parts;
  const lineBreak = before === "" || after === "" ? "" : "\n";
  return [
    { value: before, added: false, removed: true },
    { value: lineBreak, added: false, removed: false },
    { value: after, added: true, removed: false },
  ].filter(({ value }) => value !== "");
}
