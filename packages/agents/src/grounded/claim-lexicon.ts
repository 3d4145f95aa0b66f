import { readFileSync } from "node:fs";
import { z } from "zod";
import { foldAccents, stopWords } from "@svc/text";
import { createLanguageFiles, phrases } from "../language-files.ts";
import { DIGITS_OF, numbersIn } from "./find-foreign-parts.ts";

/** A number and what it counts: a unit, `clock` for a time of day (then the value is minutes after midnight), or null. */
export interface Amount {
  value: number;
  unit: string | null;
}

const TOKEN =
  /(?<clock>\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.?m\b\.?|uhr\b|h\b)|\b\d{1,2}:\d{2}\b)|(?<number>\d+(?:[.,'’\u00A0\u202F]\d{3}(?!\d))*(?:[.,]\d+)?)|(?<code>`[^`\n]+`|[\p{L}\p{N}]+(?:[_=][\p{L}\p{N}]+)+)|(?<word>[\p{L}\p{M}]+(?:['’-][\p{L}]+)*)|(?<sign>[€$£%])/giu;

/** A token of a text and its offset. */
export interface Token {
  kind: "clock" | "number" | "code" | "word" | "sign";
  text: string;
  index: number;
}

/** Returns the words, numbers, times of day, identifiers and signs of a text, in order. */
export function tokensOf(text: string): Token[] {
  return [...text.matchAll(TOKEN)].flatMap(({ groups = {}, index }) => {
    const [kind, found = ""] = Object.entries(groups).find(([, value]) => value !== undefined) ?? [];
    return kind === undefined ? [] : [{ kind: kind as Token["kind"], text: found, index }];
  });
}

const measuresSchema = z.strictObject({
  /** Number of smaller units in a larger one: `[larger, smaller, factor]`. */
  conversions: z.array(z.tuple([z.string(), z.string(), z.number()])),
  /** Units, days and months by dimension, with their words in all supported languages. */
  words: z.record(z.string(), z.record(z.string(), z.string())),
});

const measures = measuresSchema.parse(
  JSON.parse(readFileSync(new URL("../../data/measures.json", import.meta.url), "utf8")),
);

/** Number of smaller units in a larger one: `[larger, smaller, factor]`. */
export const CONVERSIONS = measures.conversions;

const MEASURE_OF = new Map(
  Object.entries(measures.words).flatMap(([dimension, units]) =>
    Object.entries(units).flatMap(([unit, words]) =>
      words.split(" ").map((word) => [fold(word), { unit, dimension }] as const),
    ),
  ),
);

/** Returns a text in lower case, without accents. */
export function fold(text: string): string {
  return foldAccents(text.toLowerCase());
}

/** Returns the unit, day or month that a token names, with its dimension. */
export function measureAt(tokens: readonly Token[], at: number): { unit: string; dimension: string } | undefined {
  return MEASURE_OF.get(fold(tokens[at]?.text ?? "")) ?? (isSecond(tokens, at) ? SECOND : undefined);
}

const SECOND = { unit: "second", dimension: "time" } as const;

/** Returns the number of a token, in digits or as a word; null if it is none. "one" may be an article. */
export function amountAt(tokens: readonly Token[], at: number): Amount | null {
  const token = tokens[at];
  if (token?.kind === "clock" || token?.kind === "number") return readAmount(tokens, at);
  const digits = DIGITS_OF.get(fold(token?.text ?? ""));
  return digits === undefined || digits === "1" ? null : { value: Number(digits), unit: unitNear(tokens, at) };
}

/**
 * Returns whether "every" before a token expresses a frequency ("every two weeks", "every Monday") rather than "without
 * exception".
 */
export function isFrequency(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at];
  return (
    next !== undefined &&
    (next.kind === "number" ||
      MEASURE_OF.has(fold(next.text)) ||
      DIGITS_OF.has(fold(next.text)) ||
      fold(next.text) === "other")
  );
}

/** "a second one" is not a duration. */
function isSecond(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  return (
    /^(?:second|segundo)$/i.test(tokens[at]?.text ?? "") && /^(?:per|por|each|every|one|1)$/i.test(before?.text ?? "")
  );
}

const SIGN_BEFORE = /^[€$£]$/;

function readAmount(tokens: readonly Token[], at: number): Amount {
  const { kind, text } = tokens[at] as Token;
  if (kind === "number") return { value: Number([...numbersIn(text)][0] ?? Number.NaN), unit: unitNear(tokens, at) };
  const [, hours = "0", minutes = "0", half = ""] = /(\d{1,2})(?:[:.](\d{2}))?\s?([ap]?)/i.exec(text) ?? [];
  const hour = half === "" ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  return { value: hour * 60 + Number(minutes), unit: "clock" };
}

/** Returns the unit of a number: the sign before it, or one of the next two words ("five working days"). */
function unitNear(tokens: readonly Token[], at: number): string | null {
  const before = tokens[at - 1];
  if (before !== undefined && SIGN_BEFORE.test(before.text)) return MEASURE_OF.get(before.text)?.unit ?? null;
  for (const token of tokens.slice(at + 1, at + 4)) {
    const measure = MEASURE_OF.get(fold(token.text));
    const isCounted = ["time", "money", "data", "weight", "length"].includes(measure?.dimension ?? "");
    if (measure !== undefined) return isCounted ? measure.unit : null;
    if (token.kind === "number" || token.kind === "clock") continue;
    // "a month" after a number is a frequency.
    if (/^(?:a|an|per|pro|je|al|por|each|every|the)$/i.test(token.text)) return null;
  }
  return null;
}

/** Marks the first number of "from 3 to 10 pm" and "von 15 bis 22 Uhr" as a time of day as well. */
export function joinRanges(amounts: readonly Amount[]): Amount[] {
  return amounts.map((amount, index) => {
    const next = amounts[index + 1];
    if (amount.unit !== null || next?.unit !== "clock" || amount.value > 24) return amount;
    const minutes = amount.value * 60;
    return {
      value: next.value >= 720 && amount.value < 12 && minutes + 720 < next.value ? minutes + 720 : minutes,
      unit: "clock",
    };
  });
}

/** A file of `data/turns`: words that negate or restrict a statement; "*" at the end matches any ending. */
const turnsSchema = z.strictObject({ denial: phrases, restriction: phrases });

const turnsOf = createLanguageFiles("turns", turnsSchema);

/** Characters that negate or restrict a text in scripts without spaces. */
const UNSPACED = {
  denial: /[不没沒無无非勿未別别]|ない|なく|ません|ずに|できかね/u,
  restriction: /[只仅僅]|のみ|だけ|以外|除外|除く/u,
} as const;

/** What reverses or narrows a statement. */
type Turn = "denial" | "restriction";

/** Properties of a statement other than its words and numbers. */
export type Mark =
  | "free"
  | "pay"
  | "only"
  | "except"
  | "even"
  | "all"
  | "less"
  | "more"
  | "we"
  | "you"
  | "ask"
  | "secret";

/** Function of a phrase in a statement. */
export type Kind = Mark | "not" | "if" | "unless" | "light" | "turn";

/** The words of a language that decide the meaning of a statement. */
export interface Lexicon {
  phrases: ReadonlyMap<string, Kind>;
  flips: ReadonlyMap<string, string>;
  same: ReadonlyMap<string, string>;
  /** Stop words without distinguishing meaning. */
  empty: ReadonlySet<string>;
  lets: ReadonlySet<string>;
  /** Words that begin another statement within a sentence. */
  turns: readonly string[];
}

const MAX_PHRASE_WORDS = 4;
/** Kinds in ascending precedence: a phrase in two lists has the kind that comes later here. */
const KINDS = "light all free only except if unless even less more we you pay ask secret not".split(" ") as Exclude<
  Kind,
  "turn"
>[];

/**
 * A file of `data/claims`: phrases that decide the meaning of a statement, in lower case except German "Sie" and
 * "Ihnen".
 */
const claimsSchema = z.strictObject({
  /** Denies. */
  not: phrases,
  /** Means the opposite of the word after the colon: "closed:open". */
  flips: phrases,
  /** Costs nothing. */
  free: phrases,
  /** Restricts. */
  only: phrases,
  except: phrases,
  /** Begins a condition. */
  if: phrases,
  unless: phrases,
  /** Removes a condition. */
  even: phrases,
  /** Without exception. */
  all: phrases,
  /** Upper limit of a number or a time. */
  less: phrases,
  /** Lower limit of a number or a time. */
  more: phrases,
  /** Names the actor. */
  we: phrases,
  you: phrases,
  /** Bears costs. */
  pay: phrases,
  /** What a text asks its reader to do. */
  ask: phrases,
  /** Secrets that no reply may ask for. */
  secret: phrases,
  /** Stop words that distinguish things. */
  telling: phrases,
  /** Addresses the reader rather than describing somebody. */
  lets: phrases,
  /** Carries no meaning by itself. */
  light: phrases,
  /** Groups of words with one meaning. */
  same: z.array(z.string()),
  /** Begins another statement within a sentence. */
  turns: phrases,
});
type ClaimWords = z.infer<typeof claimsSchema>;

const wordsOf = createLanguageFiles("claims", claimsSchema);
const lexicons = new Map<string, Lexicon>();

function lexiconOf(language: string, words: ClaimWords): Lexicon {
  const kinds = new Map<string, Kind>();
  for (const kind of KINDS) for (const phrase of words[kind]) kinds.set(foldOwn(phrase), kind);
  for (const phrase of words.turns) kinds.set(foldOwn(phrase), "turn");
  const telling = new Set(words.telling.map(fold));
  const groups = words.same.map((group) => group.split(" ").map((word) => foldOwn(word.replace("-", " "))));
  return {
    phrases: kinds,
    flips: new Map(words.flips.map((pair) => pair.split(":").map(fold) as [string, string])),
    same: new Map(groups.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const))),
    empty: new Set([...stopWords(language)].map(fold).filter((word) => !telling.has(word))),
    lets: new Set(words.lets.map(fold)),
    turns: words.turns,
  };
}

/**
 * Folds a phrase. German "Sie" is "you" while "sie" is not, so capitalized words in the list are matched with their
 * case.
 */
function foldOwn(phrase: string): string {
  return /^(?:Sie|Ihnen)$/.test(phrase) ? phrase : fold(phrase);
}

/** Returns the lexicon of a language; undefined if the language is not fully supported. */
export function lexiconFor(language: string): Lexicon | undefined {
  const known = lexicons.get(language);
  const words = known === undefined ? wordsOf(language) : null;
  if (words === null) return known;
  const lexicon = lexiconOf(language, words);
  lexicons.set(language, lexicon);
  return lexicon;
}

/** Returns the kind of the longest phrase at a position and its length in tokens; null if no phrase begins there. */
export function phraseAt(
  tokens: readonly Token[],
  at: number,
  { phrases }: Lexicon,
): { kind: Kind; length: number } | null {
  for (let length = Math.min(MAX_PHRASE_WORDS, tokens.length - at); length > 0; length -= 1) {
    const texts = tokens.slice(at, at + length).map(({ text }) => text);
    const kind = phrases.get(texts.join(" ")) ?? phrases.get(texts.map(fold).join(" "));
    if (kind !== undefined) return { kind, length };
  }
  return null;
}

/** Returns whether a text negates or restricts its statement; null if its language is not supported. */
export function hasTurn(text: string, turn: Turn, language: string): boolean | null {
  if (language === "zh" || language === "ja") return UNSPACED[turn].test(text);
  // Norwegian has two codes: "nb" is Bokmål.
  const known = turnsOf(language === "nb" ? "no" : language)?.[turn].map(foldAccents);
  if (known === undefined) return null;
  const words = foldAccents(text.toLowerCase().replace(/[’ʼ]/g, "'")).match(/[\p{L}\p{M}']+/gu) ?? [];
  return words.some((word) => {
    // "can't", "n'est", "l'aucun": the parts before and after the apostrophe are words as well.
    if (turn === "denial" && language === "en" && word.endsWith("n't")) return true;
    return word.split("'").some((part) => known.some((one) => isWord(part, one)));
  });
}

function isWord(word: string, listed: string): boolean {
  return listed.endsWith("*") ? word.startsWith(listed.slice(0, -1)) : word === listed;
}
