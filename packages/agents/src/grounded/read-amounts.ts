import { readFileSync } from "node:fs";
import { foldAccents } from "@svc/text";
import { z } from "zod";
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
