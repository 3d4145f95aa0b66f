import { CONVERSIONS, lexiconFor } from "./claim-lexicon.ts";
import type { Amount } from "./claim-lexicon.ts";
import { detectLanguage, foldAccents, splitSentences } from "@svc/text";
import {
  compareBest,
  compareTurns,
  SAME,
  different,
  containsForm,
  isSameAmount,
  unsure,
  worstOf,
} from "./compare-statements.ts";
import type { Comparison } from "./compare-statements.ts";
import { findQuote, findQuotePosition, numbersIn, numberWordsIn } from "./find-foreign-parts.ts";
import { readStatements } from "./read-statement.ts";
import type { Statement } from "./read-statement.ts";

/** A quote as it occurs in a passage. */
export interface QuotedText {
  quote: string;
  /** The whole passage. */
  text: string;
  /** Title and headings of the passage. */
  title: string;
}

/** Minimum confidence of a detected language. */
const CLEAR_LANGUAGE = 0.5;

/** Number of characters read to detect a language. */
const MAX_DETECTED_CHARS = 1_000;

/** Languages that capitalize every noun, so that a capital does not mark a name. */
const CAPITAL_NOUNS: ReadonlySet<string> = new Set(["de", "lb"]);

/** Minimum share of a statement's words that its quote contains; otherwise the quote is about something else. */
const MIN_SHARE = 1 / 4;

/** A shorter statement may have no words in common with its source. */
const MIN_WORDS = 3;

/** A text with more statements is not a single claim, and slow to compare. */
const MAX_STATEMENTS = 40;

/**
 * Compares a claim with the sentences that contain its quotes: negations, restrictions, conditions, exceptions, numbers
 * with their units, days, names and actors. A correct quote must not support a wrong statement. Numbers of the claim
 * may also come from `known` (the question, the agent's instructions); they are then unsure. `language` is that of the
 * question.
 */
export function compareClaim(
  claim: string,
  quoted: readonly QuotedText[],
  { known, language }: { known: string; language: string },
): Comparison {
  if (quoted.length === 0) return SAME;
  const sentences = [...new Set(quoted.map(quotedSentences))].join("\n");
  const titles = quoted.map(({ title }) => title).join("\n");
  const passages = quoted.map(({ text }) => text).join("\n");
  const { language: own, confidence } = detectLanguage(claim, language);
  const theirs = detectLanguage(passages.slice(0, MAX_DETECTED_CHARS), own).language;
  const said = readStatements(claim, own);
  const source: Source = {
    statements: readStatements(sentences, theirs),
    text: foldAccents(sentences.toLowerCase()),
    passage: foldAccents(passages.toLowerCase()),
    holds: containsForm(
      readStatements(`${sentences}\n${titles.replaceAll(" › ", "\n")}`, theirs).flatMap(({ words }) => [...words]),
      theirs,
    ),
    knows: containsForm(
      readStatements(known, own).flatMap(({ words }) => [...words]),
      own,
    ),
    lent: numbersOf(`${titles}\n${known}`),
  };
  const amounts = said.map((one) => compareAmounts(one, source));
  if (own !== theirs) {
    const turns = compareTurns(said, source.statements);
    return worstOf([...amounts, turns, unsure("it is in another language than its source")]);
  }
  if (Math.max(said.length, source.statements.length) > MAX_STATEMENTS) {
    return worstOf([...amounts, unsure("it says too much at once to be compared")]);
  }
  // Other languages are not fully supported: only a verbatim quote is sure.
  const isKnown = lexiconFor(own) !== undefined || findQuote(claim, sentences) !== null;
  const compared = said.map((one) =>
    worstOf([compareWords(one, source, confidence >= CLEAR_LANGUAGE), compareBest(one, source.statements)]),
  );
  return worstOf([
    ...amounts,
    ...compared,
    ...(said.length === 0 ? [unsure("it has no words to compare")] : []),
    ...(isKnown ? [] : [unsure("words of its language cannot be compared")]),
  ]);
}

interface Source {
  statements: readonly Statement[];
  /** The quoted sentences and their passages, folded. */
  text: string;
  passage: string;
  holds: (word: string) => boolean;
  /** Returns whether the question or the instructions contain a word. */
  knows: (word: string) => boolean;
  /** Numbers of titles, the question and the instructions. */
  lent: ReadonlySet<number>;
}

/** Returns the whole sentences of the passage that contain the quote. */
export function quotedSentences({ quote, text }: Pick<QuotedText, "quote" | "text">): string {
  const position = findQuotePosition(quote, text);
  if (position === null) return quote;
  const sentences = splitSentences(text).filter(({ start, end }) => start < position.end && end > position.start);
  const found = text.slice(position.start, position.end);
  // "… at 2:00. They are …" is not always split: text that begins and ends like a sentence is one.
  const isWhole =
    sentences[0]?.start === position.start &&
    /[.!?]["”»)]?$/u.test(found) &&
    /^\s+\p{Lu}|^\s*$/u.test(text.slice(position.end, position.end + 20));
  return isWhole ? found : sentences.map((sentence) => sentence.text).join(" ");
}

function numbersOf(text: string): ReadonlySet<number> {
  return new Set([...numbersIn(text), ...numberWordsIn(text)].map(Number));
}

/** Compares numbers with their units, and units, days and months alone: the source must contain all of them. */
function compareAmounts({ amounts, measures }: Statement, { statements, lent }: Source): Comparison {
  const given = statements.flatMap((statement) => statement.amounts);
  const units = new Map(statements.flatMap((statement) => [...statement.measures]));
  for (const amount of amounts) {
    if (given.some((one) => isSameAmount(amount, one, units))) continue;
    if (given.some(({ value }) => value === amount.value)) return different(`${amount.value} has another unit there`);
    return lent.has(amount.value)
      ? unsure(`the number ${amount.value} is not in the quoted sentence`)
      : different(`the number ${amount.value} is not in the quoted sentence`);
  }
  for (const [unit, dimension] of measures) {
    if (units.has(unit) || isConverted(unit, given)) continue;
    const others = [...units].filter(([, kind]) => kind === dimension);
    return others.length > 0
      ? different(`"${unit}" is not in the quoted sentence, "${others[0]?.[0] ?? ""}" is`)
      : unsure(`"${unit}" is not in the quoted sentence`);
  }
  return SAME;
}

function isConverted(unit: string, given: readonly Amount[]): boolean {
  return CONVERSIONS.some(
    ([large, small]) =>
      (unit === large && given.some((one) => one.unit === small)) ||
      (unit === small && given.some((one) => one.unit === large)),
  );
}

/** Compares names, requests, and the share of the words that the source contains. */
function compareWords(one: Statement, { holds, knows, text, passage }: Source, isClear: boolean): Comparison {
  const code = [...one.codes].find((word) => !text.includes(word));
  if (code !== undefined)
    return (passage.includes(code) ? unsure : different)(`"${code}" is not in the quoted sentence`);
  const name = CAPITAL_NOUNS.has(one.language)
    ? undefined
    : [...one.names].find((word) => !holds(word) && !text.includes(word));
  const missing = [...one.words].filter((word) => !holds(word));
  if (one.marks.has("secret") && missing.length > 0) return different("it asks for a secret");
  if (one.marks.has("ask") && missing.length > 0)
    return different("it asks for something that the quoted sentence does not ask for");
  const share = one.words.size === 0 ? 1 : 1 - missing.length / one.words.size;
  if (share < MIN_SHARE && one.words.size >= MIN_WORDS) {
    return (isClear ? different : unsure)("the cited passage is about something else");
  }
  if (name !== undefined) return (knows(name) ? unsure : different)(`the name ${name} is not in the quoted sentence`);
  if (one.words.size === 0 && one.amounts.length === 0) return unsure("it has no words to compare");
  if (missing.length > 0) return unsure(`"${missing.join(", ")}" is not in the quoted sentence`);
  return SAME;
}
