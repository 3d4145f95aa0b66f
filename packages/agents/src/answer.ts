import type { ProjectId } from "@svc/store";
import type { ChatTool, LanguageModel, ModelUsage } from "./models/language-model.ts";
import type { ReplyAuthor, Source, Agent, ReviewPolicy } from "@svc/contracts";
import { promisesPerson } from "./promises-person.ts";

/** Whether an answer goes out without a person, and why so. */
export interface SendingChoice {
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
