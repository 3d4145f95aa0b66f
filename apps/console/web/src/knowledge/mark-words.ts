import { diffWordsWithSpace } from "diff";
import { fold } from "../ui/find-text.ts";

/** A part of a text, and whether it matches a searched word. */
export interface MarkedPiece {
  text: string;
  isMarked: boolean;
}

const WORDS = /[\p{L}\p{N}]+/gu;
/** Shorter words are too common, except those with digits and acronyms, such as E07 and VPN. */
const WORD_MIN_CHARS = 4;
const CODE = /\p{N}|^\p{Lu}{2,}$/u;
/** Forms of a word begin with the same letters; at most this many differ at the end. */
const ENDING_MAX_CHARS = 3;
const STEM_MIN_CHARS = 4;

/** Returns the common beginning of the forms of a word, approximated without a dictionary. */
const stemOf = (word: string) => word.slice(0, Math.max(STEM_MIN_CHARS, word.length - ENDING_MAX_CHARS));

function isLike(word: string, wanted: string): boolean {
  if (word === wanted) return true;
  if (Math.min(word.length, wanted.length) < STEM_MIN_CHARS) return false;
  return Math.abs(word.length - wanted.length) <= ENDING_MAX_CHARS && word.startsWith(stemOf(wanted));
}

/**
 * Splits a text into parts, and marks those that are a form of a word of the query. The parts together are the whole
 * text.
 */
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

/** A deleted, inserted, or unchanged part of a text. */
export interface DiffPart {
  value: string;
  added: boolean;
  removed: boolean;
}

/** Longer texts are shown as before and after, because comparing them would be slow. */
const COMPARED_MAX_CHARS = 20_000;
/**
 * Minimum unchanged share of the longer text; below it, single unchanged words would make the comparison unreadable.
 */
const KEPT_MIN_SHARE = 0.4;

const countSigns = (text: string) => text.replaceAll(/\s/g, "").length;

/** Returns the changes from one text to another, word by word; the two whole texts if little is unchanged. */
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
