import { foldAccents, tokenize } from "@svc/text";

/** Sources of the addresses and numbers of a claim. */
interface KnownParts {
  /** The texts that the claim cites, and the agent's instructions. */
  texts: readonly string[];
  /** The customer's question: a claim may repeat its numbers, but not its addresses. */
  question: string;
}

/** A part of a claim that none of its sources contains. */
interface ForeignPart {
  /** A `number` may be a mistake; the other kinds are how injected text does harm. */
  kind: "link" | "image" | "HTML" | "email address" | "phone number" | "number";
  text: string;
}

// The text before `](` may contain brackets itself, so it is optional.
const TARGET = /(?:(!?)\[(?:\\.|[^\][\\]){0,500})?\]\(\s*<?\s*([^()<>\s]{1,1000})/g;
// Definitions may also be in quotes and list items.
const REFERENCE = /^[ \t>*+-]*(?:\d{1,3}[.)][ \t]+)?\[(?:\\.|[^\][\\]){1,999}\]:\s*<?\s*(\S{1,1000})/gm;
/** Markdown makes a link of this whatever its scheme is. */
const AUTOLINK = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]{0,1000})>/gi;
const ADDRESS =
  /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s<>"'`)\]}]{1,1000}|\b(?:javascript|data|vbscript|tel|sms|mailto|file):[^\s<>"')]{1,200}/gi;
// A host may also follow "//" without a scheme; after a single "/" it is a file of a path.
const DOMAIN =
  /(?:(?<![\p{L}\p{N}@./-])|(?<=(?<![\p{L}\p{N}:./])\/\/))(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}(?:\/[^\s<>"'`)\]}]{0,500})?(?![\p{L}\p{N}@])/gu;
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu;
const PHONE = /(?<![\p{L}\p{N}])\+?\(?\p{Nd}[\p{Nd}\s()./–-]{5,24}\p{Nd}(?!\p{N})/gu;
// A tag, a comment, the beginning of an HTML block, and text that the next claim could turn into a tag or a link.
const HTML =
  /<(?:\/?[a-z][a-z0-9-]*(?:[\s/][^>]{0,2000})?|[!?][^>]{0,2000})>|^[ \t>*+-]*<(?:\/?[a-z][a-z0-9-]*(?=[\s/]|$)|[!?])|(?:<(?:\/?[a-z][a-z0-9-]*|[!?])[^>]{0,2000}|\]\([^)]{0,2000})(?![\s\S])/gim;
/** Code blocks and code spans; one that is not closed, or begins with `\`, is not code. */
const CODE = /^[ \t]*(`{3,})[^`\n]*\n[\s\S]*?^[ \t]*\1`*[ \t]*$|(?<![\\`])(`+)(?!`)[^\n]*?(?<!`)\2(?!`)/gm;
/** Character references hide characters from the other patterns; these are harmless. */
const REFERENCES = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi;
const HARMLESS =
  /^&(?:amp|lt|gt|quot|apos|nbsp|ndash|mdash|hellip|larr|rarr|copy|reg|trade|euro|times|deg|#39|#x27|#34|#160);$/i;
const NUMBER = /\p{Nd}+(?:[.,'’\u00A0\u202F ]\p{Nd}{3}(?!\p{Nd}))*(?:[.,]\p{Nd}+)?/gu;
const LIST_NUMBER = /^[ \t>]*\d{1,3}[.)][ \t]/gm;

const MIN_PHONE_DIGITS = 7;

/** Returns the links, images, HTML, addresses and numbers of a claim that none of its sources contains. */
export function findForeignParts(text: string, { texts, question }: KnownParts): ForeignPart[] {
  const given = withPlainDots(texts.join("\n"));
  const foreign: ForeignPart[] = [];
  const claim = withPlainDots(text);
  const links = linksOf(given);
  const emails = new Set(emailsIn(given));
  for (const email of emailsIn(claim)) {
    if (!emails.has(email)) foreign.push({ kind: "email address", text: email });
  }
  for (const { text, isImage } of linksIn(claim)) {
    if (!isKnownLink(text, links)) foreign.push({ kind: isImage ? "image" : "link", text });
  }
  const prose = claim.replace(CODE, "");
  for (const tag of prose.match(HTML) ?? []) foreign.push({ kind: "HTML", text: tag });
  for (const reference of prose.match(REFERENCES) ?? []) {
    if (!HARMLESS.test(reference) && !given.includes(reference)) foreign.push({ kind: "HTML", text: reference });
  }
  const said = `${given}\n${question}`;
  const digits = phonesIn(said);
  const phones = phonesIn(claim).filter((phone) => !digits.some((known) => known.includes(phone)));
  for (const phone of phones) foreign.push({ kind: "phone number", text: phone });
  const numbers = new Set([...numbersIn(said), ...numberWordsIn(said)]);
  for (const number of numbersIn(claim.replace(PHONE, (found) => (isPhone(found) ? " " : found))))
    if (!numbers.has(number)) foreign.push({ kind: "number", text: number });
  return foreign;
}

/** Removes invisible characters and normalizes dots: browsers accept several as the dot of an address. */
function withPlainDots(text: string): string {
  return text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/[\u2024\uFE52\uFF0E]/g, ".")
    .replace(/(?<=[a-z\d-])[\u3002\uFF61](?=[a-z])/gi, ".");
}

/** The pattern is slow on text without spaces, and most texts contain no address. */
function emailsIn(text: string): string[] {
  return text.includes("@") ? (text.match(EMAIL) ?? []).map((found) => found.toLowerCase()) : [];
}

function linksIn(text: string): { text: string; isImage: boolean }[] {
  const withoutEmails = text.includes("@") ? text.replace(EMAIL, " ") : text;
  const targets = [...withoutEmails.matchAll(TARGET)].map(([, mark, target = ""]) => ({
    text: target,
    isImage: mark === "!",
  }));
  const rest = withoutEmails.replace(TARGET, " ");
  const others = [
    ...[...rest.matchAll(REFERENCE), ...rest.matchAll(AUTOLINK)].map(([, target = ""]) => target),
    ...(rest.match(ADDRESS) ?? []),
    ...(rest.replace(ADDRESS, " ").match(DOMAIN) ?? []),
  ];
  return [...targets, ...others.map((found) => ({ text: found, isImage: false }))];
}

/** Returns every address in a text, in normalized form. */
function linksOf(text: string): readonly string[] {
  return linksIn(text).map((link) => formOf(link.text));
}

function formOf(link: string): string {
  return link
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/^www\./, "")
    .replace(/[.,;:!?*_]+$/, "")
    .replace(/\/$/, "");
}

/**
 * Returns whether an address is known, as a whole or as the beginning of a path: "acme.example" of "acme.example/help".
 */
function isKnownLink(link: string, known: readonly string[]): boolean {
  const form = formOf(link);
  return known.some((one) => one === form || (one.startsWith(form) && /^[/?#]/.test(one.slice(form.length))));
}

function phonesIn(text: string): string[] {
  return (text.match(PHONE) ?? []).filter(isPhone).map((phone) => digitsOf(phone).replace(/\D/g, ""));
}

/** Dates and amounts use the same characters, so only numbers with a prefix are phone numbers. */
function isPhone(found: string): boolean {
  const plain = digitsOf(found);
  const isDate = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?!\d)/.test(plain);
  return /^[+(0]/.test(plain) && !isDate && plain.replace(/\D/g, "").length >= MIN_PHONE_DIGITS;
}

/** A numeric date, in any order. */
const DATE = /(?<!\p{Nd})(\p{Nd}{1,4})([./-])(\p{Nd}{1,2})\2(\p{Nd}{2,4})(?!\p{Nd})/gu;

/**
 * Returns numbers without separators and leading zeros: 1,000 equals 1000, and 05 equals 5; those of a date
 * individually.
 */
export function numbersIn(text: string): Set<string> {
  const found = text.replace(LIST_NUMBER, "").replace(DATE, "$1 / $3 / $4").match(NUMBER) ?? [];
  return new Set(
    found.flatMap((number) => {
      const plain = digitsOf(number);
      const fraction = /[.,](\d{1,2}|\d{4,})$/.exec(plain);
      const whole = fraction === null ? plain : plain.slice(0, fraction.index);
      const digits = whole.replace(/\D/g, "").replace(/^0+(?=\d)/, "");
      const cents = fraction?.[1]?.replace(/0+$/, "") ?? "";
      return [cents === "" ? digits : `${digits}.${cents}`];
    }),
  );
}

/** Number words, which people and models often write in digits: "three in the afternoon" is 3 p.m. */
const NUMBER_WORDS: Readonly<Record<string, string>> = {
  "1": "one once eins ein eine einen einem einer einmal un une uno una um uma een",
  "2": "two twice zwei zweimal deux dos due dois duas twee",
  "3": "three drei trois tres tre três drie",
  "4": "four vier quatre cuatro quattro quatro",
  "5": "five fünf cinq cinco cinque vijf",
  "6": "six sechs seis sei zes",
  "7": "seven sieben sept siete sette sete zeven",
  "8": "eight acht huit ocho otto oito",
  "9": "nine neun neuf nueve nove negen",
  "10": "ten zehn dix diez dieci dez tien",
  "11": "eleven elf onze undici",
  "12": "twelve zwölf douze doce dodici doze twaalf dozen",
  "13": "thirteen dreizehn treize trece tredici treze dertien",
  "14": "fourteen vierzehn quatorze catorce quattordici catorze veertien",
  "15": "fifteen fünfzehn quinze quince quindici vijftien",
  "16": "sixteen sechzehn seize dieciséis sedici dezesseis zestien",
  "17": "seventeen siebzehn diecisiete diciassette zeventien",
  "18": "eighteen achtzehn dieciocho diciotto achttien",
  "19": "nineteen neunzehn diecinueve diciannove negentien",
  "20": "twenty zwanzig vingt veinte venti vinte twintig",
  "24": "vierundzwanzig veinticuatro",
  "30": "thirty dreißig dreissig trente treinta trenta trinta dertig",
  "40": "forty vierzig quarante cuarenta quaranta quarenta veertig",
  "50": "fifty fünfzig cinquante cincuenta cinquanta cinquenta vijftig",
  "60": "sixty sechzig soixante sesenta sessanta sessenta zestig",
  "90": "ninety neunzig noventa novanta negentig",
  "100": "hundred hundert ciento cien cento honderd",
};
/** Words for numbers, folded, with their digits. */
export const DIGITS_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(NUMBER_WORDS).flatMap(([digits, words]) =>
    words.split(" ").map((word) => [foldAccents(word), digits] as const),
  ),
);

/** Returns the numbers that a text writes as words, in digits. */
export function numberWordsIn(text: string): string[] {
  return tokenize(text).flatMap(({ term }) => DIGITS_OF.get(foldAccents(term)) ?? []);
}

/** Replaces the digits of any script by ASCII digits. */
function digitsOf(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => String(valueOf(digit)));
}

/** The digits of a script are consecutive from zero; mathematical digits are several sets in a row. */
function valueOf(digit: string): number {
  const point = digit.normalize("NFKC").codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(point - value - 1))) value += 1;
  return value;
}

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
