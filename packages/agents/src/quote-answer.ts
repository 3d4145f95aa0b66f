import type { Source } from "@svc/contracts";
import { SEARCH_LIMIT, percentOf } from "./answer.ts";
import type { Answer, HistoryMessage, Passage, Search, SearchResult } from "./answer.ts";
import { chooseAnswer, isInOtherLanguage } from "./answers/choose-answer.ts";
import type { AnswerPreference, ChosenAnswer } from "./answers/choose-answer.ts";
import { readQuestion } from "./answers/read-question.ts";
import type { AnswerPart } from "./answers/read-passages.ts";
import type { ReadQuestion } from "./answers/read-question.ts";
import { writeAnswer } from "./answers/write-answer.ts";
import { readFollowUp } from "./follow-up.ts";
import type { FollowUp } from "./follow-up.ts";
import { holdsWord } from "./holds-word.ts";
import { questionOf } from "./question-of.ts";
import { sourceOf } from "./source-url.ts";

/** Bonus of a passage of the document that was quoted last, if the question follows up on that. */
const SAME_DOCUMENT_BONUS = 0.5;

/** Bonus of a passage or part that holds all words of a follow-up. */
const KEY_WORDS_BONUS = 3;

/** An answer that holds none of those words may well be one to another question: a person should look at it. */
const MAX_CONFIDENCE_WITHOUT_KEY_WORDS = 0.4;

/** Documents in another language than the question have the same words by chance only: names, numbers. */
const MAX_CONFIDENCE_IN_OTHER_LANGUAGE = 0.2;

/** Below this confidence what was found has next to nothing to do with the question. */
const MIN_CONFIDENCE = 0.1;

/** What speaks for knowledge bases without a single word of a message: less than for those with a poor match. */
const NOTHING_FOUND_ODDS = -4;

/** A word that says what a message is about is at least so rare in everyday language. */
const LEAST_TELLING_RARITY = 0.5;

/** Maximum number of characters of a question that are read. */
const MAX_ASKED_CHARS = 2_000;

/** Maximum number of missing words that a reason names. */
const MAX_NAMED_WORDS = 3;

/**
 * Answers a question in the documents' own words, without a model: the sentence, row or item that answers and what
 * belongs to it, with its sources and a confidence. `text` is null when nothing relevant was found.
 */
export async function quoteAnswer({
  kbIds,
  text,
  history,
  language,
  search,
}: {
  kbIds: readonly string[];
  text: string;
  history: readonly HistoryMessage[];
  language: string | undefined;
  search: Search;
}): Promise<Answer> {
  const asked = questionOf(text);
  const followUp = readFollowUp(asked, history, language);
  const query = followUp?.query ?? asked;
  const found = await search(query, [...kbIds], SEARCH_LIMIT);
  const read = (followUp === null ? asked : `${asked} ${query}`).slice(0, MAX_ASKED_CHARS);
  const question = readQuestion(read, found);
  const chosen = chooseAnswer(question, found, preferenceOf(followUp, history));
  if (chosen === null) {
    return found.hits.length > 0 && found.bestPossible > 0
      ? noAnswer(0, "The relevant passages were already used in this conversation.")
      : noAnswer(0, `No passage matches ${quoteWords(found)}.`);
  }
  const { confidence, caveat } = qualify(chosen, { followUp, question, found });
  const { text: answer, quote } = writeAnswer(chosen, { wantsSteps: question.kind === "steps" });
  const { passage } = chosen.read;
  if (confidence < MIN_CONFIDENCE || answer === "") {
    return noAnswer(
      confidence,
      `No passage covers the question; the closest is "${passage.title}" (${percentOf(confidence)}).${caveat}`,
    );
  }
  return {
    text: answer,
    markdown: passage.markdown,
    sources: [sourceOf(passage, quote)],
    confidence,
    why: `Quotes "${headingOf(passage)}", confidence ${percentOf(confidence)}.${followUp === null ? "" : " The message follows up on an earlier one."}${caveat}`,
  };
}

/** What knowledge bases have for a message. */
export interface Support {
  /** How sure their best answer is, 0 to 1. */
  confidence: number;
  /** What speaks for them against others, in logarithms of odds; 0 is what wrong ones have on average. */
  odds: number;
  /** Rare words of the message that stand in them, with how rare each is, 0 to 1. */
  telling?: ReadonlyMap<string, number>;
}

/** Returns what was found for a question that stands for itself says for the knowledge bases that were searched. */
export function supportOf(asked: string, found: SearchResult): Support {
  const question = readQuestion(asked.slice(0, MAX_ASKED_CHARS), found);
  const chosen = chooseAnswer(question, found);
  if (chosen === null) return { confidence: 0, odds: NOTHING_FOUND_ODDS, telling: new Map() };
  const telling = question.words.filter(({ rarity, isUnknown }) => rarity >= LEAST_TELLING_RARITY && !isUnknown);
  return {
    confidence: qualify(chosen, { followUp: null, question, found }).confidence,
    odds: Math.max(chosen.routing, NOTHING_FOUND_ODDS + 1),
    telling: new Map(telling.map(({ term, rarity }) => [term, rarity])),
  };
}

/** Returns which passages and parts a follow-up prefers, and what it does not want again. */
function preferenceOf(followUp: FollowUp | null, history: readonly HistoryMessage[]): AnswerPreference {
  if (followUp === null) return {};
  const { wanted, keyWords } = followUp;
  const said = lastSources(history);
  const documents = new Set(said.map(({ documentId }) => documentId));
  return {
    bonusOf: (passage) =>
      (documents.has(passage.documentId) ? SAME_DOCUMENT_BONUS : 0) +
      KEY_WORDS_BONUS * (shareHeld(passage, keyWords) + shareHeld(passage, wanted)),
    partBonusOf: (passage, part) =>
      KEY_WORDS_BONUS * (shareHeld(passage, keyWords, part) + shareHeld(passage, wanted, part)),
    ...(wanted.length === 0
      ? {}
      : {
          wasSaid: (passage, { start, end }) => {
            const part = passage.text.slice(start, end);
            return said.some(({ chunkId, quote }) => chunkId === passage.chunkId && quote.includes(part));
          },
        }),
  };
}

/** The confidence with what only the conversation and the languages tell, and what lowered it. */
function qualify(
  { confidence, missing, best, read: { passage } }: ChosenAnswer,
  { followUp, question, found }: { followUp: FollowUp | null; question: ReadQuestion; found: SearchResult },
): { confidence: number; caveat: string } {
  if (isInOtherLanguage(question, found)) {
    return {
      confidence: Math.min(confidence, MAX_CONFIDENCE_IN_OTHER_LANGUAGE),
      caveat: " The documents and the question are in different languages.",
    };
  }
  const named = missing.slice(0, MAX_NAMED_WORDS).map((word) => `"${word}"`);
  const caveat = named.length === 0 ? "" : ` The passage does not mention ${named.join(", ")}.`;
  const { keyWords = [], wanted = [] } = followUp ?? {};
  const isElsewhere =
    (keyWords.length > 0 && shareHeld(passage, keyWords, best) === 0) ||
    (wanted.length > 0 && shareHeld(passage, wanted) === 0);
  return { confidence: isElsewhere ? Math.min(confidence, MAX_CONFIDENCE_WITHOUT_KEY_WORDS) : confidence, caveat };
}

/** Returns which share of words stands in the title, the headings or the text of a passage, or of a part of it. */
function shareHeld({ title, headingPath, text }: Passage, words: readonly string[], part?: AnswerPart): number {
  if (words.length === 0) return 0;
  const holds = holdsWord([title, ...headingPath, text.slice(part?.start, part?.end)].join("\n"));
  return words.filter(holds).length / words.length;
}

/** What the last reply that quoted anything has quoted. */
function lastSources(history: readonly HistoryMessage[]): readonly Source[] {
  return history.findLast(({ sources = [] }) => sources.length > 0)?.sources ?? [];
}

/** Title and headings of a passage; a first heading that is the title is not said twice. */
function headingOf({ title, headingPath }: Passage): string {
  return [title, ...(headingPath[0] === title ? headingPath.slice(1) : headingPath)].join(" › ");
}

function quoteWords({ words }: SearchResult): string {
  if (words.length === 0) return "the message, which has no searchable words";
  const shown = words.slice(0, 5).map(({ word }) => `"${word}"`);
  return words.length > shown.length
    ? `${shown.join(", ")} and ${words.length - shown.length} more words`
    : shown.join(", ");
}

function noAnswer(confidence: number, why: string): Answer {
  return { text: null, markdown: false, sources: [], confidence, why };
}
