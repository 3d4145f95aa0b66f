/** Maximum length that a model may omit between two parts of a quote ("…"). */
const MAX_SPAN_CHARS = 800;

/** Minimum length of a quote that proves anything. Scripts without spaces need fewer characters. */
const MIN_QUOTE_CHARS = 6;
const MIN_UNSPACED_CHARS = 3;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Characters that are compared: letters, marks, digits and signs that change an amount. */
const COUNTED = /[\p{L}\p{M}\p{N}%‰°€$£¥]/u;

/** Ignored within a word: the soft hyphen, joiners and bidi marks. */
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/u;

/** A text normalized for comparison: words separated by one space, and the position of each character. */
interface Folded {
  text: string;
  /** Offset of each character in the original text. */
  starts: number[];
  ends: number[];
}

/**
 * Finds a quote in a text, ignoring white space, punctuation, typographic quotes, case and Markdown. Returns the
 * matching part of the text; null if there is none, or if the quote is too short to prove anything.
 */
export function findQuote(quote: string, text: string): string | null {
  const position = findQuotePosition(quote, text);
  return position === null ? null : text.slice(position.start, position.end);
}

/** A range of a text, in UTF-16 offsets. */
interface QuotePosition {
  start: number;
  end: number;
}

/** Returns the position that `findQuote` matches, at or after an offset. */
export function findQuotePosition(quote: string, text: string, from = 0): QuotePosition | null {
  const parts = quote
    .split(/…|\[?\.\.\.\]?/)
    .map((part) => foldQuote(part))
    .filter((part) => part !== "");
  const isTelling = parts.length > 0 && parts.every(saysSomething);
  if (!isTelling) return null;
  for (const skipsTargets of [true, false]) {
    const position = findParts(parts, fold(text, skipsTargets), from);
    if (position !== null) return withMarks(text, position);
  }
  return null;
}

function saysSomething(folded: string): boolean {
  return folded.length >= (UNSPACED.test(folded) ? MIN_UNSPACED_CHARS : MIN_QUOTE_CHARS);
}

/** Finds all parts in their order, close to each other. */
function findParts(parts: readonly string[], folded: Folded, atLeast: number): QuotePosition | null {
  const first = folded.starts.findIndex((position) => position >= atLeast);
  if (first === -1) return null;
  let from = first;
  let start = -1;
  let end = -1;
  for (const part of parts) {
    const at = indexOfWords(folded.text, part, from);
    if (at === -1) return null;
    if (start === -1) start = folded.starts[at] ?? 0;
    from = at + part.length;
    end = folded.ends[from - 1] ?? start;
  }
  return parts.length > 1 && end - start > MAX_SPAN_CHARS ? null : { start, end };
}

/** Finds words at a word boundary; in scripts without spaces at any position. */
function indexOfWords(text: string, words: string, from: number): number {
  const first = words[0] ?? "";
  const last = words.at(-1) ?? "";
  for (let at = text.indexOf(words, from); at !== -1; at = text.indexOf(words, at + 1)) {
    const before = text[at - 1] ?? " ";
    const after = text[at + words.length] ?? " ";
    if ((before === " " || UNSPACED.test(first)) && (after === " " || UNSPACED.test(last))) return at;
  }
  return -1;
}

function foldQuote(quote: string): string {
  return fold(quote, true).text;
}

/** Addresses of Markdown links and images, and numbers of list items, which are not part of a sentence. */
const TARGETS = /\]\([^()\s]{0,1000}(?:\s+"[^"]{0,200}")?\)|^[ \t>]*\d{1,3}[.)][ \t]/gmu;
const LIST_NUMBERS = /^[ \t>]*\d{1,3}[.)][ \t]/gmu;

function fold(text: string, skipsTargets: boolean): Folded {
  const skipped = new Uint8Array(text.length);
  for (const { index, 0: found } of text.matchAll(skipsTargets ? TARGETS : LIST_NUMBERS)) {
    skipped.fill(1, index, index + found.length);
  }
  const folded: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let isBetween = false;
  let at = 0;
  for (const sign of text) {
    const start = at;
    at += sign.length;
    if (INVISIBLE.test(sign)) continue;
    if (skipped[start] === 1 || !COUNTED.test(sign)) {
      isBetween = folded.length > 0;
      continue;
    }
    if (isBetween) {
      folded.push(" ");
      starts.push(start);
      ends.push(start);
    }
    isBetween = false;
    // One character may become several, for example ﬁ.
    for (const unit of sign.normalize("NFKC").toLowerCase().split("")) {
      folded.push(unit);
      starts.push(start);
      ends.push(at);
    }
  }
  return { text: folded.join(""), starts, ends };
}

/** Extends a match by the punctuation, emphasis and quotation marks around it. */
function withMarks(text: string, { start, end }: QuotePosition): QuotePosition {
  const before = /[*_`"'“„«(‘¿¡]{0,4}$/u.exec(text.slice(Math.max(0, start - 4), start))?.[0] ?? "";
  const behind = /^[*_`"'”“»)’.!?。！？…]{0,5}/u.exec(text.slice(end, end + 5))?.[0] ?? "";
  return { start: start - before.length, end: end + behind.length };
}
