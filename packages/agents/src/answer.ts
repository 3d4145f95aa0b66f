import { hash } from "node:crypto";
import type { Agent, ReplyAuthor, ReviewPolicy, Source } from "@svc/contracts";
import type { ProjectId } from "@svc/store";
import { splitSentences } from "@svc/text";
import { foldWords, lazily, matchWording, phrasesOf } from "./language-files.ts";
import type { WordingMatcher } from "./language-files.ts";
import type { ChatTool, LanguageModel, ModelUsage } from "./models/language-model.ts";
import { JOINED_LANGUAGES, sharedTalk, talkByLanguage } from "./talk/read-talk.ts";

/** Maximum number of words between the helper and the verb. */
const GAP_WORDS = 4;

/** Number of words before the helper in which a negation counts: "nobody of our team". */
const WORDS_BEFORE = 2;

/** Maximum length of a sentence; only the beginning of a text without sentences is read. */
const MAX_SENTENCE_CHARS = 1_500;
const MAX_TEXT_CHARS = 50_000;

/** Maximum number of sentences in the cache. Agents repeat them: fixed replies, and quotes of the same passages. */
const MAX_SENTENCES = 500;
/** Whether a sentence is a promise, by its hash: texts are not kept. */
const promiseByHash = new Map<string, boolean>();

interface Promising {
  matchers: readonly { match: WordingMatcher; canBeNegated: boolean }[];
  conditions: WordingMatcher;
  isUnspaced: boolean;
}

const negating = lazily(() => new Set(phrasesOf(sharedTalk().negations ?? [])));

const languages = lazily((): readonly Promising[] =>
  [...talkByLanguage()].flatMap(([language, { person }]) => {
    if (person === undefined) return [];
    const isUnspaced = JOINED_LANGUAGES.has(language);
    return [
      {
        matchers: person.promises.map((wording) => ({
          match: matchWording(wording, { gap: GAP_WORDS, isUnspaced }),
          canBeNegated: wording.length > 1,
        })),
        conditions: matchWording([person.conditions], { gap: 0, isUnspaced }),
        isUnspaced,
      },
    ];
  }),
);

/**
 * Returns whether a text promises that a person will look, call or write, in one of the languages of `data/talk`.
 * Descriptions ("our team is there on weekdays"), negations ("we will never call you"), questions and offers that
 * depend on the customer ("if you send us the form, a colleague will call") are not promises.
 */
export function promisesPerson(text: string): boolean {
  return splitSentences(text.slice(0, MAX_TEXT_CHARS)).some(
    (sentence) => !/[?？؟;]\s*$/u.test(sentence.text) && isPromiseCached(sentence.text.slice(0, MAX_SENTENCE_CHARS)),
  );
}

/** Returns whether a sentence is a promise; cached. */
function isPromiseCached(sentence: string): boolean {
  const key = hash("sha256", sentence);
  const cached = promiseByHash.get(key);
  if (cached !== undefined) return cached;
  const result = isPromise(foldWords(sentence));
  if (promiseByHash.size >= MAX_SENTENCES) promiseByHash.clear();
  promiseByHash.set(key, result);
  return result;
}

function isPromise(words: string): boolean {
  return languages().some(({ matchers, conditions, isUnspaced }) =>
    matchers.some(({ match, canBeNegated }) => {
      const found = match(words);
      if (found === null) return false;
      const condition = conditions(words);
      if (condition !== null && condition.start < found.end) return false;
      return isUnspaced || !canBeNegated || !isNegated(words, found);
    }),
  );
}

function isNegated(words: string, { start, end }: { start: number; end: number }): boolean {
  const before = words.slice(0, start).trim().split(" ").slice(-WORDS_BEFORE);
  return [...before, ...words.slice(start, end).split(" ")].some((word) => negating().has(word));
}

/** Whether an answer goes out without a person, and why so. */
interface SendingChoice {
  sends: boolean;
  why: string;
  /**
   * True when the answer is sent but an operator must follow up: it promises a person, or the customer asks for one.
   */
  needsPerson?: true;
}

/** Decides by an agent's policy about an answer with this confidence; `why` explains the confidence. */
const POLICIES: Record<ReviewPolicy, (threshold: number, confidence: number, why: string) => SendingChoice> = {
  auto: (_threshold, confidence) => ({ sends: true, why: `sent automatically (confidence ${percentOf(confidence)})` }),
  review: () => ({ sends: false, why: "the agent's answers are always reviewed" }),
  auto_if: (threshold, confidence, why) =>
    confidence >= threshold
      ? { sends: true, why: `confidence ${percentOf(confidence)}` }
      : {
          sends: false,
          why: `confidence ${percentOf(confidence)} (threshold ${percentOf(threshold)}); ${why}`,
        },
};

const ASKED = "the customer asks for a person";
const PROMISED = "the answer promises a follow-up by a person";

/** Number of passages of a search from which an answer is chosen. */
export const SEARCH_LIMIT = 15;

/** Number of earlier messages needed to resolve references in a message. */
export const HISTORY_LIMIT = 10;

/** A passage of a knowledge base, as returned by a search. */
export interface Passage {
  documentId: string;
  chunkId: string;
  title: string;
  url?: string;
  headingPath: string[];
  /** The passage as it stands in its document. */
  text: string;
  /** Whether `text` is Markdown; else it is plain text. */
  markdown: boolean;
  /** The page of a paged document, such as a PDF, on which it begins, from 1. */
  page?: number | null;
  /** Position among the passages of its document, from 0. Consecutive passages are read together. */
  ordinal?: number;
  score: number;
  /** Cosine of its embedding and the question's, -1 to 1; absent without embeddings. */
  similarity?: number;
}

/** Result of a search, best passage first. */
export interface SearchResult {
  hits: Passage[];
  /** Score of a passage that matches the query perfectly. */
  bestPossible: number;
  /** Words that were searched for, and their weights: the rarer the word, the higher the weight. */
  words: { word: string; weight: number }[];
  /** Number of passages in the searched knowledge bases; a large number is assumed if it is absent. */
  passageCount?: number;
  /** Languages of the searched documents (ISO 639-1), if known. */
  languages?: readonly string[];
}

/** Searches knowledge bases and returns at most `limit` passages. */
export type Search = (query: string, kbIds: string[], limit: number) => Promise<SearchResult>;

/** An agent's answer. */
export interface Answer {
  /** Null if there is no answer. */
  text: string | null;
  markdown: boolean;
  /** Sources of the answer; each quote occurs in its document verbatim. */
  sources: Source[];
  /**
   * 0 to 1, compared with the agent's threshold. From 0.5 the passage is more likely than not to answer the question.
   */
  confidence: number;
  /** Explains the confidence to an operator. */
  why: string;
  /** True when a person must answer regardless of the agent's policy: the customer asks for one or needs one. */
  needsPerson?: true;
  /** Part of the language model in this answer; absent if no model was called. */
  model?: ModelPart;
}

/** What a language model contributed to an answer. */
export interface ModelPart {
  /** Null if the call had no known cost. */
  usage: ModelUsage | null;
  /** Why the answer does not come from the model; null if it does. */
  fallback: string | null;
  /** True when a person must review the answer regardless of the agent's policy; `why` gives the reason. */
  mustReview?: true;
}

/**
 * Returns a confidence as a whole percentage. Always rounds down, so that a confidence below the threshold does not
 * look as if it reached it.
 */
export function percentOf(confidence: number): string {
  return `${Math.floor(confidence * 100 + 1e-9)}%`;
}

/** Receives the answer as it is generated: `text` replaces everything from `offset` on. */
export type OnText = (piece: { offset: number; text: string }) => void;

/** A message of the conversation so far. */
export interface HistoryMessage {
  author: "customer" | ReplyAuthor;
  text: string;
  /** Sources that a reply quoted. */
  sources?: readonly Source[];
}

/**
 * Returns whether an agent's answer is sent without review in a conversation that no operator has taken over: it has
 * text, nothing in it asks for a person, and the agent's policy allows it. An answer that promises a person is held. If
 * it is sent anyway (a fixed reply, the policy `auto`), an operator must follow up.
 */
export function sendsAnswer(
  { reviewPolicy, autoThreshold, fixedReply }: Pick<Agent, "reviewPolicy" | "autoThreshold" | "fixedReply">,
  { text, confidence, why, needsPerson, model }: Pick<Answer, "text" | "confidence" | "why" | "needsPerson" | "model">,
): SendingChoice {
  if (text === null) return { sends: false, why };
  if (model?.mustReview === true) return { sends: false, why };
  const choice = POLICIES[reviewPolicy](autoThreshold, confidence, why);
  if (!choice.sends) return choice;
  if (needsPerson === true) {
    return fixedReply === null ? { sends: false, why } : { ...choice, why: `${choice.why}; ${ASKED}`, needsPerson };
  }
  if (!promisesPerson(text)) return choice;
  return fixedReply === null && reviewPolicy !== "auto"
    ? { sends: false, why: PROMISED }
    : { ...choice, why: `${choice.why}; ${PROMISED}`, needsPerson: true };
}

/** Result of a tool call. `text` says what the tool was called with. It is untrusted data. */
export interface CallResult {
  /** Name of the tool. */
  tool: string;
  text: string;
}

/** The language model for an answer, and the project and ticket it is called for. */
export interface AnswerModel {
  model: LanguageModel;
  project: ProjectId;
  /** Null if the call is not for a ticket. */
  ticketId: string | null;
  tools?: readonly ChatTool[];
  /** Results of tool calls that people have approved or rejected, for this message. */
  results?: readonly CallResult[];
  /** Aborts the work in progress; `answerQuestion` then rejects with its reason. */
  signal: AbortSignal;
  onText?: OnText;
}
