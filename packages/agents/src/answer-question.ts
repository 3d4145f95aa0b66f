import type { Agent, Source } from "@svc/contracts";
import { joinDrafts } from "@svc/store";
import { cutText, foldAccents } from "@svc/text";
import { SEARCH_LIMIT, percentOf } from "./answer.ts";
import type { Answer, AnswerModel, HistoryMessage, Passage, Search, SearchResult } from "./answer.ts";
import { chooseAnswer, isInOtherLanguage } from "./answers/choose-answer.ts";
import type { AnswerPreference, ChosenAnswer } from "./answers/choose-answer.ts";
import { lacksYear } from "./answers/find-contradiction.ts";
import { cellsOf } from "./answers/rate-passages.ts";
import type { AnswerPart, ReadPassage } from "./answers/rate-passages.ts";
import { readQuestion } from "./answers/read-question.ts";
import type { ReadQuestion } from "./answers/read-question.ts";
import { writeAnswer } from "./answers/write-answer.ts";
import { readFollowUp } from "./follow-up.ts";
import type { FollowUp } from "./follow-up.ts";
import { answerWithModel, holdIfInstructions } from "./grounded/answer-with-model.ts";
import { streamText } from "./grounded/judge-answer.ts";
import { containsWord } from "./language-files.ts";
import { ModelError } from "./models/model-error.ts";
import { questionOf, separateQuestions } from "./question-of.ts";
import { sourceOf } from "./source-of.ts";
import { classifyMessage, contextAfter } from "./talk/classify-message.ts";
import type { MessageClass } from "./talk/classify-message.ts";
import { isForPerson, replyToTalk, whyOfTalk } from "./talk/recognize-talk.ts";

/** Bonus of a passage of the last quoted document, for a follow-up question. */
const SAME_DOCUMENT_BONUS = 0.5;

/** Bonus of a passage or part that contains all key words of a follow-up. */
const KEY_WORDS_BONUS = 3;

/**
 * Upper bound for an answer that a person should review: without any of those words, without the topic, or without the
 * phone number that was asked for, it may answer another question; without the year of the question its figures may be
 * of another year; and if another document gives other figures, those may be the current ones.
 */
const MAX_DOUBTFUL_CONFIDENCE = 0.4;

/**
 * Upper bound for documents in another language than the question, which share words only by chance: names, numbers.
 */
const MAX_CONFIDENCE_IN_OTHER_LANGUAGE = 0.2;

/** Minimum confidence; below it, the result is hardly related to the question. */
const MIN_CONFIDENCE = 0.1;

/** Odds of knowledge bases without a word of the message: lower than for a poor match. */
const NOTHING_FOUND_ODDS = -4;

/** Minimum rarity of a topic word in everyday language. */
const LEAST_TELLING_RARITY = 0.5;

/** Maximum number of characters of a question that are read. */
const MAX_ASKED_CHARS = 2_000;

/** Maximum length of a question in a reason. */
const MAX_SHOWN_CHARS = 80;

/** Maximum number of missing words listed in a reason. */
const MAX_NAMED_WORDS = 3;

/** What is quoted for. */
interface Quoting {
  kbIds: readonly string[];
  text: string;
  history: readonly HistoryMessage[];
  language: string | undefined;
  search: Search;
}

/**
 * Returns the answer to a message verbatim from the documents, without a model. Each of its questions is answered on
 * its own, and the confidence is that of the least certain answer: a person completes half an answer. What answers the
 * message as a whole is used if it has all of that.
 */
async function quoteAnswer({ text, history, ...quoting }: Quoting): Promise<Answer> {
  const asked = questionOf(text);
  const whole = await quoteOne({ ...quoting, text: asked, history });
  const questions = separateQuestions(asked, quoting.language);
  if (questions.length === 1) return whole;
  const answers: Answer[] = [];
  const said = [...history];
  for (const [at, question] of questions.entries()) {
    const answer = await quoteOne({ ...quoting, text: question, history: said });
    answers.push({ ...answer, why: `${at + 1}. "${cutText(question, MAX_SHOWN_CHARS)}": ${answer.why}` });
    said.push({ author: "customer", text: question });
  }
  const texts = new Set(answers.map(({ text: part }) => part));
  // One sentence for several questions may answer only one of them.
  if (texts.size > 1 && [...texts].every((part) => part !== null && whole.text?.includes(part) === true)) return whole;
  const joined = answers
    .map((answer) => ({ ...answer, text: answer.text ?? "", sources: [...answer.sources] }))
    .reduce((one, other) => ({
      ...joinDrafts(one, other),
      confidence: Math.min(one.confidence, other.confidence),
    }));
  return { ...joined, text: joined.text === "" ? null : joined.text };
}

/**
 * Returns the answer to one question verbatim from the documents: the sentence, row or item and its context, with
 * sources and a confidence. `text` is null if nothing relevant was found.
 */
async function quoteOne({ kbIds, text: asked, history, language, search }: Quoting): Promise<Answer> {
  const followUp = readFollowUp(asked, history, language);
  const query = followUp?.query ?? asked;
  const found = await search(query, [...kbIds], SEARCH_LIMIT);
  const read = (followUp === null ? asked : `${asked} ${query}`).slice(0, MAX_ASKED_CHARS);
  const question = readQuestion(read, found);
  const chosen = chooseAnswer(question, found, preferenceOf(question, followUp, history));
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

/** How well knowledge bases match a message. */
export interface Support {
  /** Confidence of their best answer, 0 to 1. */
  confidence: number;
  /** Evidence for them over others, in log odds; wrong ones have 0 on average. */
  odds: number;
  /** Rare words of the message that occur in them, with their rarity, 0 to 1. */
  telling?: ReadonlyMap<string, number>;
}

/** Returns how well the searched knowledge bases match a self-contained question. */
export function supportOf(asked: string, found: SearchResult): Support {
  const question = readQuestion(asked.slice(0, MAX_ASKED_CHARS), found);
  const chosen = chooseAnswer(question, found);
  if (chosen === null) return { confidence: 0, odds: NOTHING_FOUND_ODDS, telling: new Map() };
  const telling = question.words.filter(({ rarity, isUnknown }) => rarity >= LEAST_TELLING_RARITY && !isUnknown);
  return {
    // What makes an answer doubtful does not change what the message is about.
    confidence: isInOtherLanguage(question, found)
      ? Math.min(chosen.confidence, MAX_CONFIDENCE_IN_OTHER_LANGUAGE)
      : chosen.confidence,
    odds: Math.max(chosen.routing, NOTHING_FOUND_ODDS + 1),
    telling: new Map(telling.map(({ term, rarity }) => [term, rarity])),
  };
}

/** Returns the passages and parts that a follow-up prefers, and those it should not repeat. */
function preferenceOf(
  question: ReadQuestion,
  followUp: FollowUp | null,
  history: readonly HistoryMessage[],
): AnswerPreference {
  if (followUp === null) return {};
  const { wanted, keyWords } = followUp;
  const said = lastSources(history);
  const documents = new Set(said.map(({ documentId }) => documentId));
  return {
    bonusOf: (passage) =>
      (documents.has(passage.documentId) ? SAME_DOCUMENT_BONUS : 0) +
      KEY_WORDS_BONUS * (shareHeld(question, keyWords, passage) + shareHeld(question, wanted, passage)),
    partBonusOf: (passage, part) =>
      KEY_WORDS_BONUS * (shareHeld(question, keyWords, passage, part) + shareHeld(question, wanted, passage, part)),
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

/** Adjusts the confidence for the conversation and the languages, with the reason. */
function qualify(
  chosen: ChosenAnswer,
  { followUp, question, found }: { followUp: FollowUp | null; question: ReadQuestion; found: SearchResult },
): { confidence: number; caveat: string } {
  const { confidence, missing, otherwise } = chosen;
  if (isInOtherLanguage(question, found)) {
    return {
      confidence: Math.min(confidence, MAX_CONFIDENCE_IN_OTHER_LANGUAGE),
      caveat: " The documents and the question are in different languages.",
    };
  }
  const named = missing.slice(0, MAX_NAMED_WORDS).map((word) => `"${word}"`);
  const unmentioned = named.length === 0 ? "" : ` The passage does not mention ${named.join(", ")}.`;
  const contradiction = otherwise === null ? "" : ` "${headingOf(otherwise)}" gives other figures.`;
  return {
    confidence: isDoubtful(chosen, question, followUp) ? Math.min(confidence, MAX_DOUBTFUL_CONFIDENCE) : confidence,
    caveat: unmentioned + contradiction,
  };
}

/** Returns whether a person should review an answer, see `MAX_DOUBTFUL_CONFIDENCE`. */
function isDoubtful(
  { best, others, missesTopic, otherwise, read }: ChosenAnswer,
  question: ReadQuestion,
  followUp: FollowUp | null,
): boolean {
  const { passage } = read;
  const { keyWords = [], wanted = [] } = followUp ?? {};
  const parts = [best, ...others];
  return (
    otherwise !== null ||
    !parts.some((part) => mayAnswer(question, read, part)) ||
    (best.kind === "row" && (lacksDuration(question, read, parts) || passesOver(question, read, parts))) ||
    lacksYear(question, passage) ||
    // A follow-up names the topic of the earlier question too.
    (missesTopic && followUp === null) ||
    (keyWords.length > 0 && parts.every((part) => shareHeld(question, keyWords, passage, part) === 0)) ||
    (wanted.length > 0 && shareHeld(question, wanted, passage) === 0)
  );
}

/** Returns whether a part, as far as it is shown, may answer a question for a price or the like. */
function mayAnswer(question: ReadQuestion, read: ReadPassage, part: AnswerPart): boolean {
  const { text, terms } = shownOf(read, part);
  return question.mayAnswer(text, [...terms, ...read.headingTerms, ...read.titleTerms]);
}

/** Returns the text of a part, without hidden columns, and its words with those of its column headers. */
function shownOf({ passage }: ReadPassage, part: AnswerPart): { text: string; terms: string[] } {
  const { start, end, terms, columns, heads = [] } = part;
  const isShown = (_: unknown, at: number) => columns?.includes(at) !== false;
  const text =
    columns === undefined ? passage.text.slice(start, end) : cellsOf(passage.text, part).filter(isShown).join("\n");
  return { text, terms: [...terms, ...heads.filter(isShown).flat()] };
}

/** Returns whether a question asks how long something takes, and none of the rows of a table says so. */
function lacksDuration(question: ReadQuestion, read: ReadPassage, rows: readonly AnswerPart[]): boolean {
  const shown = rows.map((row) => shownOf(read, row));
  return question.kind === "duration" && !shown.some(({ text, terms }) => question.containsKind(text, terms));
}

/**
 * Returns whether a passage holds a telling word of a question after these parts and not in them: "refund", below the table
 * of courses whose row is quoted.
 */
function passesOver(
  question: ReadQuestion,
  { headingTerms, titleTerms, parts: all }: ReadPassage,
  parts: readonly AnswerPart[],
): boolean {
  const placesOf = (terms: readonly string[]) =>
    terms.flatMap((term) => [...question.positionsOf(term), ...question.synonymPositionsOf(term)]);
  const termsIn = (list: readonly AnswerPart[]) => list.flatMap(({ terms, heads = [] }) => [...terms, ...heads.flat()]);
  const shown = new Set(placesOf([...termsIn(parts), ...headingTerms, ...titleTerms]));
  // What comes before a table introduces it.
  const end = Math.max(...parts.map((part) => part.end));
  const others = all.filter(({ kind, start }) => kind !== "row" && start >= end);
  return placesOf(others.flatMap(({ terms }) => [...terms])).some(
    (place) => !shown.has(place) && (question.words[place]?.rarity ?? 0) >= LEAST_TELLING_RARITY,
  );
}

/**
 * Returns the share of words of a question, or of synonyms, in the title, the headings or the text of a passage, or of a
 * part of it. The columns of a table belong to each of its rows.
 */
function shareHeld(
  question: ReadQuestion,
  words: readonly string[],
  { title, headingPath, text }: Passage,
  part?: AnswerPart,
): number {
  if (words.length === 0) return 0;
  // The header of the first column says what the rows are.
  const heads = part?.heads?.slice(1).flat() ?? [];
  const holds = containsWord([title, ...headingPath, text.slice(part?.start, part?.end), ...heads].join("\n"));
  const meant = new Set([...(part?.terms ?? []), ...heads].flatMap((term) => question.synonymPositionsOf(term)));
  const isMeant = (word: string) => meant.has(question.words.findIndex(({ term }) => term === foldAccents(word)));
  return words.filter((word) => holds(word) || isMeant(word)).length / words.length;
}

/** Returns the sources of the last reply that has any. */
function lastSources(history: readonly HistoryMessage[]): readonly Source[] {
  return history.findLast(({ sources = [] }) => sources.length > 0)?.sources ?? [];
}

/** Returns title and headings of a passage; a first heading equal to the title is not repeated. */
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

/** Result of a search without knowledge bases. */
const NOTHING: SearchResult = { hits: [], bestPossible: 0, words: [] };

/**
 * Returns the answer to a question from the agent's knowledge bases: by a language model if there is one, grounded in
 * passages; otherwise, and whenever the model gives no usable answer in time, verbatim from the documents. An agent with a fixed
 * reply always answers with that reply. A request for a person, a complaint or a statement to a person gets no answer
 * but `needsPerson`; small talk and questions about the assistant are answered in their language. `text` is null if
 * nothing relevant was found. `history` contains the previous messages of the chat, oldest first: with it "And on
 * Windows?" is understood, and "Why?" does not repeat the previous answer; ten messages are enough. `language` is that
 * of the chat (ISO 639-1), for words that exist in several languages. Only the agent's own knowledge bases are
 * searched.
 */
export async function answerQuestion(question: {
  agent: Agent;
  text: string;
  history?: readonly HistoryMessage[];
  language?: string | null;
  /** What `classifyMessage` says of the text after this history, if it is known. */
  said?: MessageClass | null;
  search: Search;
  model?: AnswerModel | null;
}): Promise<Answer> {
  const { agent, text, history = [], model = null } = question;
  const language = question.language ?? undefined;
  // A fixed reply may contain Markdown, as an answer may.
  const said = question.said ?? classifyMessage(text, { language, ...contextAfter(history) });
  const asked = said.kind === "person" ? { needsPerson: true as const } : {};
  if (agent.fixedReply !== null) {
    return { ...plainAnswer(agent.fixedReply, 1, "The agent has a fixed reply.", true), ...asked };
  }
  if (isForPerson(said.kind)) return { ...plainAnswer(null, 0, whyOfTalk(said.kind), false), needsPerson: true };
  const talk = replyToTalk(said, { language, agents: [agent] });
  if (talk !== null) return talk;
  const hasTools = model !== null && (model.tools ?? []).length > 0;
  if (agent.kbIds.length === 0 && !hasTools) {
    return plainAnswer(null, 0, `The agent ${agent.name} has no knowledge base to answer from.`, false);
  }
  const search: Search = (query, kbIds, limit) =>
    kbIds.length === 0 ? Promise.resolve(NOTHING) : question.search(query, kbIds, limit);
  const quoting: { answer?: Promise<Answer> } = {};
  const quote = (query?: string) =>
    query === undefined
      ? (quoting.answer ??= quoteAnswer({ kbIds: agent.kbIds, text, history, language, search }))
      : quoteAnswer({ kbIds: agent.kbIds, text: query, history: [], language: undefined, search });
  if (model === null) return quote();
  const stream = streamText(model.onText);
  try {
    return await answerWithModel({ agent, text, history, language, search, quote, model, stream });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const quoted = holdIfInstructions(await quote());
    stream.become(quoted.model?.mustReview === true ? "" : (quoted.text ?? ""));
    // The provider's message is for operators, so it is only in the trace.
    const why = `${model.model.id} gave no usable answer (${error.fault}), so the documents are quoted instead. ${quoted.why}`;
    const fallback = `${error.fault}: ${error.message}`;
    return { ...quoted, why, model: { usage: null, ...quoted.model, fallback } };
  }
}

function plainAnswer(text: string | null, confidence: number, why: string, markdown: boolean): Answer {
  return { text, markdown, sources: [], confidence, why };
}
