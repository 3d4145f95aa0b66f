/** Letters that Unicode does not decompose and that people type without their stroke or as two letters. */
const SPECIAL: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "TH",
  ł: "l",
  Ł: "L",
  ħ: "h",
  Ħ: "H",
  ı: "i",
};

/** The optional vowel signs of Arabic and its sign that widens a word, as the content of a class of a RegExp. */
const ARABIC_SIGNS = String.raw`\u064B-\u0652\u0670\u0640`;

const ALL_ARABIC_SIGNS = new RegExp(`[${ARABIC_SIGNS}]`, "g");

/**
 * The text without accents, for comparing what people write with and without them: `Größe` → `Grosse`, `ёлка` →
 * `елка`, `Ελλάδα` → `Ελλαδα`. Marks are dropped from Latin and Greek letters and from ё, and the optional vowel signs
 * from Arabic; elsewhere (й, Indic vowels, Japanese voicing) they make another letter and stay.
 * The result is in NFC. Its length may differ from that of the text.
 */
export function foldAccents(text: string): string {
  // Most words have nothing to fold, and the full check takes ten times as long.
  if (isAscii(text)) return text;
  return text
    .normalize("NFD")
    .replace(/([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, "$1")
    .replace(/([еЕ])\u0308/g, "$1")
    .replace(ALL_ARABIC_SIGNS, "")
    .normalize("NFC")
    .replace(/[ßẞæÆœŒøØđĐðÐþÞłŁħĦı]/g, (letter) => SPECIAL[letter] ?? letter);
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** A word with parts that are joined by marks: `K-1050`, `covid-19`, `SVC_DATA_DIR`. */
const JOINED = /(?<![\p{L}\p{N}])[\p{L}\p{N}]{1,12}(?:[-_/.][\p{L}\p{N}]{1,12}){1,3}(?![\p{L}\p{N}])/gu;

/** Minimum number of letters of a part that is a word of its own. */
const WORD = /^\p{L}{4,}$/u;

/**
 * The names with letters and digits that a text joins by marks, such as those of articles and errors, each as one word
 * in lower case (`K-1050` → `k1050`) with its place and those of its parts that are words as well. Takes time in
 * proportion to the text.
 */
export function findCodes(text: string): { term: string; start: number; end: number; words: string[] }[] {
  return Array.from(text.matchAll(JOINED), ({ 0: code, index }) => {
    const parts = code
      .normalize("NFKC")
      .toLowerCase()
      .split(/[-_/.]/);
    return {
      term: parts.join(""),
      start: index,
      end: index + code.length,
      words: parts.filter((part) => WORD.test(part)),
    };
  }).filter(({ term }) => /\p{L}/u.test(term) && /\p{N}/u.test(term));
}

/** Number of characters of a word that count; longer words are not typed in full. */
const MAX_WORD_CHARS = 64;

/**
 * The different words of a text in the form in which a search by words compares them: lower case, without accents, the
 * first 64 characters of each, in the order in which they come first.
 */
export function searchWords(text: string): string[] {
  return [...new Set(tokenize(text).map(({ term }) => formOf(term)))];
}

function formOf(term: string): string {
  const folded = foldAccents(term);
  return folded.length <= MAX_WORD_CHARS ? folded : Array.from(folded).slice(0, MAX_WORD_CHARS).join("");
}

/** A word or number of a text. */
export type Token = {
  /**
   * The word in its form for comparing: lower case by Unicode's rules without a locale, compatibility forms unified
   * (NFKC), typographic apostrophes as `'`, the English possessive dropped (`user's` → `user`). Accents stay; see
   * `foldAccents`.
   */
  readonly term: string;
  /** Offset of its first UTF-16 unit in the text. */
  readonly start: number;
  /** Offset behind its last UTF-16 unit. */
  readonly end: number;
};

/**
 * A number with its separators, or a run of letters, marks and digits with apostrophes within. Each position is looked
 * at a constant number of times, whatever the text.
 */
const RUN =
  /\p{N}+(?:[.,]\p{N}+)*(?![\p{L}\p{M}\p{N}])|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’ʼ][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;

/** Scripts that put no spaces between words: ICU's dictionaries find the words in them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * What English joins with an apostrophe. Any other Latin word is cut there: `l'eau` → l, eau; `Ankara'da` → ankara, da.
 */
const ENGLISH_CLITIC = /^(?:t|s|re|ve|ll|d|m)$/i;

/**
 * ICU's time grows with the square of what it is given at once (14 s for 100,000 characters), so long texts are given
 * in parts. Real ones are much shorter, since punctuation ends them.
 */
const LONGEST_SEGMENTED_CHARS = 1000;

const wordSegmenter = new Intl.Segmenter("und", { granularity: "word" });

/**
 * The words and numbers of a text in any script, in order, without overlap. Punctuation, symbols and emoji are left
 * out; `3.14` and `1,000` stay whole; `e-mail` is two tokens and `iphone15` one. Takes time in proportion to the text.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(RUN)) {
    const run = match[0];
    if (UNSPACED.test(run)) addSegments(tokens, run, match.index);
    else if (/['’ʼ]/.test(run)) addPieces(tokens, run, match.index);
    else addToken(tokens, run, match.index, run.length);
  }
  return tokens;
}

function addSegments(tokens: Token[], run: string, offset: number): void {
  for (let from = 0; from < run.length;) {
    const part = wellFormedPart(run, from);
    for (const { segment, index, isWordLike } of wordSegmenter.segment(part)) {
      if (isWordLike === true) addToken(tokens, segment, offset + from + index, segment.length);
    }
    from += part.length;
  }
}

/** Returns the next part of a run, one unit longer if it would split a surrogate pair. */
function wellFormedPart(run: string, from: number): string {
  const end = from + LONGEST_SEGMENTED_CHARS;
  const splitsPair = (run.codePointAt(end - 1) ?? 0) > 0xff_ff;
  return run.slice(from, splitsPair ? end + 1 : end);
}

/** Splits a run at the apostrophes that do not belong to a word. */
function addPieces(tokens: Token[], run: string, offset: number): void {
  let start = 0;
  let end = 0;
  let word = "";
  const flush = (): void => addToken(tokens, word, offset + start, end - start);
  let position = 0;
  for (const piece of run.split(/['’ʼ]/)) {
    if (word === "" || isSeparate(piece)) {
      if (word !== "") flush();
      start = position;
      word = piece;
    } else if (!/^s$/i.test(piece)) {
      word += `'${piece}`;
    }
    end = position + piece.length;
    position = end + 1;
  }
  flush();
}

/** In Cyrillic and other scripts the apostrophe is a letter or close to one (`п'ять`). */
function isSeparate(piece: string): boolean {
  return /^[\p{Script=Latin}\p{N}]/u.test(piece) && !ENGLISH_CLITIC.test(piece);
}

/** A term with more than apostrophes, and the signs that `foldAccents` drops: a line of tatweel (`ــــ`) is no word. */
const HAS_CONTENT = new RegExp(`[^${ARABIC_SIGNS}'’ʼ]`);

function addToken(tokens: Token[], word: string, start: number, length: number): void {
  const term = toTerm(word);
  if (HAS_CONTENT.test(term)) tokens.push({ term, start, end: start + length });
}

function toTerm(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  // Lower case of İ is i with a dot above, which no other spelling of the word has; NFKC may turn a sign into words.
  const term = word
    .normalize("NFKC")
    .toLowerCase()
    .replace(/i\u0307/g, "i")
    .replace(/\s+/g, "");
  return term.normalize("NFC");
}

/** Number of final letters that may differ: endings such as -s, -ing, -en, -tion. */
const MAX_ENDING_CHARS = 3;

/** Words that share fewer initial letters are different words. */
const MIN_STEM_CHARS = 4;

/**
 * Returns whether two words in lower case are equal or look like forms of one word, in any language: they differ only
 * in a short ending. Coarser than a stemmer, but sufficient to find the words of a question in a passage that a search
 * with a real stemmer has chosen.
 */
export function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  // A different number is a different thing.
  if (/\p{N}/u.test(one) || /\p{N}/u.test(other)) return false;
  const shorter = Math.min(one.length, other.length);
  let same = 0;
  while (same < shorter && one[same] === other[same]) same += 1;
  return same >= MIN_STEM_CHARS && Math.max(one.length, other.length) - same <= MAX_ENDING_CHARS;
}

/** Similarity of two texts, each 0 to 1. */
export interface TokenScores {
  /**
   * Tokens that both have, whatever their order, as the harmonic mean of precision and recall: the F1 of SQuAD (Rajpurkar
   * et al. 2016), and of ROUGE-1.
   */
  f1: number;
  /** The longest sequence of tokens that both have in this order: the F1 of ROUGE-L (Lin 2004). */
  rougeL: number;
}

const f1 = (hits: number, given: number, wanted: number) => (hits === 0 ? 0 : (2 * hits) / (given + wanted));

/** Compares two lists of tokens. Takes time proportional to the product of their lengths: cut long ones. */
export function compareTokens(given: readonly string[], wanted: readonly string[]): TokenScores {
  return {
    f1: f1(countShared(given, wanted), given.length, wanted.length),
    rougeL: f1(longestCommon(given, wanted), given.length, wanted.length),
  };
}

function countShared(given: readonly string[], wanted: readonly string[]): number {
  const left = new Map<string, number>();
  for (const token of wanted) left.set(token, (left.get(token) ?? 0) + 1);
  let shared = 0;
  for (const token of given) {
    const count = left.get(token) ?? 0;
    if (count === 0) continue;
    shared += 1;
    left.set(token, count - 1);
  }
  return shared;
}

/** Length of the longest sequence that both have in this order. */
function longestCommon(one: readonly string[], other: readonly string[]): number {
  let row = new Uint32Array(other.length + 1);
  let next = new Uint32Array(other.length + 1);
  for (const token of one) {
    for (const [position, wanted] of other.entries()) {
      next[position + 1] =
        token === wanted ? (row[position] ?? 0) + 1 : Math.max(row[position + 1] ?? 0, next[position] ?? 0);
    }
    [row, next] = [next, row];
  }
  return row[other.length] ?? 0;
}
