import { detectLanguage, splitSentences } from "@svc/text";
import { holdsWord } from "../holds-word.ts";
import { numbersIn, numberWordsIn } from "./find-foreign-parts.ts";
import { findQuotePlace } from "./find-quote.ts";
import { hasTurn } from "./turning-words.ts";

/** A quote as it stands in a passage. */
export interface QuotedText {
  quote: string;
  /** The whole passage. */
  text: string;
  /** Title and headings of the passage. */
  title: string;
}

/** Languages that write every noun with a capital letter, which says nothing about names there. */
const CAPITAL_NOUNS: ReadonlySet<string> = new Set(["de", "lb"]);

/** The language of a text shows in its beginning. */
const MAX_DETECTED_CHARS = 1_000;

/**
 * Compares a claim with the sentences that it quotes, and returns in words what certainly differs, or null. A claim
 * differs where it has a negation, a restriction ("only"), a number or a name that the quoted sentences do not have, or
 * lacks one that its quotes have: a true quote must not carry a false statement. `known` (the question, the agent's
 * instructions) may lend numbers and names to the claim. `language` is that of the question.
 */
export function findDifference(
  claim: string,
  quoted: readonly QuotedText[],
  { known, language }: { known: string; language: string },
): string | null {
  if (quoted.length === 0) return null;
  const quotes = quoted.map(({ quote }) => quote).join("\n");
  const sentences = quoted.map(quotedSentences).join("\n");
  const titles = quoted.map(({ title }) => title).join("\n");
  const own = detectLanguage(claim, language).language;
  const theirs = detectLanguage(
    quoted
      .map(({ text }) => text)
      .join("\n")
      .slice(0, MAX_DETECTED_CHARS),
    own,
  ).language;

  for (const [turn, name] of [
    ["denial", "negation"],
    ["restriction", "restriction"],
  ] as const) {
    const [claims, says] = [hasTurn(claim, turn, own), hasTurn(sentences, turn, theirs)];
    if (claims === true && says === false) return `it has a ${name} that the quoted sentence does not have`;
    if (claims === false && says === true) return `it lacks a ${name} of the quoted sentence`;
  }

  const lent = `${sentences}\n${titles}\n${known}`;
  const addedNumber = missingNumber(claim, lent);
  if (addedNumber !== null) return `the number ${addedNumber} does not stand in the quoted sentence`;
  const droppedNumber = missingNumber(quotes, `${claim}\n${titles}\n${known}`);
  if (droppedNumber !== null) return `it lacks the number ${droppedNumber} of its quote`;

  // Names are translated, too.
  if (own !== theirs || CAPITAL_NOUNS.has(own)) return null;
  const addedName = missingName(claim, lent);
  if (addedName !== null) return `the name ${addedName} does not stand in the quoted sentence`;
  const droppedName = missingName(quotes, `${claim}\n${titles}\n${known}`);
  return droppedName === null ? null : `it lacks the name ${droppedName} of its quote`;
}

/** The sentences of the passage in which the quote stands, from the beginning of the first to the end of the last. */
function quotedSentences({ quote, text }: QuotedText): string {
  const place = findQuotePlace(quote, text);
  if (place === null) return quote;
  return splitSentences(text)
    .filter(({ start, end }) => start < place.end && end > place.start)
    .map((sentence) => sentence.text)
    .join(" ");
}

/** The first number of a text that does not stand in another one, in digits or in words. */
function missingNumber(text: string, other: string): string | null {
  const there = new Set([...numbersIn(other), ...numberWordsIn(other)]);
  return [...numbersIn(text)].find((number) => !there.has(number)) ?? null;
}

/** A word with a capital letter that does not begin a sentence, a line, a quotation or a bracket. */
const NAME = /(?<=[\p{L}\p{N},;] )(?!I\b)\p{Lu}[\p{L}\p{M}\p{N}’'-]+/gu;

/** The first name of a text that does not stand in another one in any form. */
function missingName(text: string, other: string): string | null {
  const holds = holdsWord(other);
  return [...text.matchAll(NAME)].map(([name]) => name).find((name) => !holds(name.toLowerCase())) ?? null;
}
