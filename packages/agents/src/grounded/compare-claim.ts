import { CONVERSIONS } from "./read-amounts.ts";
import { detectLanguage, foldAccents, splitSentences } from "@svc/text";
import {
  compareBest,
  compareTurns,
  SAME,
  different,
  holdsForm,
  isSameAmount,
  unsure,
  worstOf,
} from "./compare-statements.ts";
import type { Comparison } from "./compare-statements.ts";
import { numbersIn, numberWordsIn } from "./find-foreign-parts.ts";
import { findQuote, findQuotePosition } from "./find-quote.ts";
import { lexiconFor } from "./claim-lexicon.ts";
import { readStatements } from "./read-statement.ts";
import type { Amount } from "./read-amounts.ts";
import type { Statement } from "./read-statement.ts";

/** A quote as it stands in a passage. */
export interface QuotedText {
  quote: string;
  /** The whole passage. */
  text: string;
  /** Title and headings of the passage. */
  title: string;
}

/** From this confidence on, the language of a claim is not only guessed. */
const CLEAR_LANGUAGE = 0.5;

/** The language of a text shows in its beginning. */
const MAX_DETECTED_CHARS = 1_000;

/** Languages that write every noun with a capital letter, which says nothing about names there. */
const CAPITAL_NOUNS: ReadonlySet<string> = new Set(["de", "lb"]);

/** So much of what a statement says has to stand in what it quotes, or it is about something else. */
const MIN_SHARE = 1 / 4;

/** A shorter statement may well say it in other words alone. */
const MIN_WORDS = 3;

/** What says more than this at once is no single claim, and takes long to compare. */
const MAX_STATEMENTS = 40;

/**
 * Compares a claim with the sentences that its quotes stand in: denials, restrictions, conditions, exceptions, numbers
 * with their units, days, names, and who acts. A true quote must not carry a false statement. `known` (the question, the
 * agent's instructions) may lend numbers to the claim, which are then unsure. `language` is that of the question.
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
    holds: holdsForm(
      readStatements(`${sentences}\n${titles.replaceAll(" › ", "\n")}`, theirs).flatMap(({ words }) => [...words]),
      theirs,
    ),
    knows: holdsForm(
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
  // Words of other languages are not known in full: only what stands there letter by letter is sure.
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
  /** The quoted sentences, and the passages that they stand in, folded. */
  text: string;
  passage: string;
  holds: (word: string) => boolean;
  /** Whether the question or the instructions have a word. */
  knows: (word: string) => boolean;
  /** Numbers of titles, the question and the instructions. */
  lent: ReadonlySet<number>;
}

/** Returns the sentences of the passage in which the quote stands, from the beginning of the first to the end of the last. */
export function quotedSentences({ quote, text }: Pick<QuotedText, "quote" | "text">): string {
  const position = findQuotePosition(quote, text);
  if (position === null) return quote;
  const sentences = splitSentences(text).filter(({ start, end }) => start < position.end && end > position.start);
  const found = text.slice(position.start, position.end);
  // "… at 2:00. They are …" is not always cut: what begins and ends as a sentence is one.
  const isWhole =
    sentences[0]?.start === position.start &&
    /[.!?]["”»)]?$/u.test(found) &&
    /^\s+\p{Lu}|^\s*$/u.test(text.slice(position.end, position.end + 20));
  return isWhole ? found : sentences.map((sentence) => sentence.text).join(" ");
}

function numbersOf(text: string): ReadonlySet<number> {
  return new Set([...numbersIn(text), ...numberWordsIn(text)].map(Number));
}

/** Numbers with their units, and units, days and months by themselves: all of them have to stand in the source. */
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

/** Names, what is asked for, and how much of the words the source has. */
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
