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
