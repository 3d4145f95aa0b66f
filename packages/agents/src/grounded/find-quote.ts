/** A quote as a model gives it may leave out so much between its parts ("…"). */
const MAX_SPAN_CHARS = 800;

/** What says less than this shows nothing. Scripts that put no spaces between words say more in a character. */
const MIN_QUOTE_CHARS = 6;
const MIN_UNSPACED_CHARS = 3;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** What counts of a text: letters, marks, digits and what changes an amount. */
const COUNTED = /[\p{L}\p{M}\p{N}%‰°€$£¥]/u;

/** Within a word these are nothing: the soft hyphen, joiners and marks that turn text. */
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/u;

/** A text as it is compared: words with one space between them, and where each character of it stands. */
interface Folded {
  text: string;
  /** Places in the text itself, one for each character. */
  starts: number[];
  ends: number[];
}

/**
 * Finds a quote in a text: white space, punctuation, typographic quotes, case and Markdown marks do not count, words
 * and numbers do. Returns the passage of the text as it is; null if it does not hold the quote, or when the quote says
 * next to nothing.
 */
export function findQuote(quote: string, text: string): string | null {
  const position = findQuotePosition(quote, text);
  return position === null ? null : text.slice(position.start, position.end);
}

/** A place in a text: UTF-16 offsets. */
export interface QuotePosition {
  start: number;
  end: number;
}

/** As `findQuote`: where it stands, at the earliest from an offset on. */
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

/** All parts in their order, close to each other. */
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

/** Where whole words begin; in scripts without spaces any place will do. */
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

/** The addresses of Markdown links and images, and numbers of list items: readers do not see them in a sentence. */
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
    // One character may become several, as ﬁ does.
    for (const unit of sign.normalize("NFKC").toLowerCase().split("")) {
      folded.push(unit);
      starts.push(start);
      ends.push(at);
    }
  }
  return { text: folded.join(""), starts, ends };
}

/** With the marks that belong to what was found: the full stop behind it, emphasis and quotes around it. */
function withMarks(text: string, { start, end }: QuotePosition): QuotePosition {
  const before = /[*_`"'“„«(‘¿¡]{0,4}$/u.exec(text.slice(Math.max(0, start - 4), start))?.[0] ?? "";
  const behind = /^[*_`"'”“»)’.!?。！？…]{0,5}/u.exec(text.slice(end, end + 5))?.[0] ?? "";
  return { start: start - before.length, end: end + behind.length };
}
