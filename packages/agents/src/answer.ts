import type { ProjectId } from "@svc/store";
import type { ChatTool, LanguageModel, ModelUsage } from "./models/language-model.ts";
import type { ReplyAuthor, Source, Agent, ReviewPolicy } from "@svc/contracts";
import { promisesPerson } from "./promises-person.ts";

/** Whether an answer goes out without a person, and why so. */
export interface SendingChoice {
  sends: boolean;
  why: string;
  /** True when it is sent, and a person has to look all the same: it promises one, or the customer asks for one. */
  needsPerson?: true;
}

/** What an agent's policy says about an answer of this confidence; `why` says how the agent came to it. */
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

/** Passages of a search among which an answer is chosen. */
export const SEARCH_LIMIT = 15;

/** Number of earlier messages that is enough to know what a message refers to. */
export const HISTORY_LIMIT = 10;

/** A passage of a knowledge base, as a search finds it. */
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
  /** Its place among the passages of its document, from 0: those that follow each other are read together. */
  ordinal?: number;
  score: number;
  /** Cosine of its embedding and the question's, -1 to 1; absent without embeddings. */
  similarity?: number;
}

/** What a search found, best first. */
export interface SearchResult {
  hits: Passage[];
  /** The score of a passage that matched the query as well as could be. */
  bestPossible: number;
  /** What the query was searched for, and how rare each word is: the rarer the heavier. */
  words: { word: string; weight: number }[];
  /** Passages in the knowledge bases that were searched; many where it is not said. */
  passageCount?: number;
  /** Languages of the documents that were searched (ISO 639-1), where they are known. */
  languages?: readonly string[];
}

/** Searches knowledge bases: the query, where to search, and how many passages are wanted at most. */
export type Search = (query: string, kbIds: string[], limit: number) => Promise<SearchResult>;

/** What an agent answers. */
export interface Answer {
  /** Null when it has nothing to say. */
  text: string | null;
  markdown: boolean;
  /** Where the answer has what it says: each quote stands in its document word for word. */
  sources: Source[];
  /** 0 to 1. Meant to be compared with the agent's threshold: from 0.5 on the passage most likely answers. */
  confidence: number;
  /** How it came to that, for an operator. */
  why: string;
  /** True when a person has to answer, whatever the agent's policy says: the customer asks for one, or needs one. */
  needsPerson?: true;
  /** What a language model had to do with it; absent where none was asked. */
  model?: ModelPart;
}

/** What a language model had to do with an answer. */
export interface ModelPart {
  /** Null where the call cost nothing that is known of. */
  usage: ModelUsage | null;
  /** Why the answer was made without it all the same; null when it is the model's. */
  fallback: string | null;
  /** True when a person has to look, whatever the agent's policy says; `why` says the reason. */
  mustReview?: true;
}

/**
 * Returns a confidence as people read it: in whole percent, never rounded up, so that one that misses a threshold does
 * not look as if it reached it.
 */
export function percentOf(confidence: number): string {
  return `${Math.floor(confidence * 100 + 1e-9)}%`;
}

/** Hears what an answer says so far, while it is being made: what came before `offset`, and then `text`. */
export type OnText = (piece: { offset: number; text: string }) => void;

/** What was said in the conversation so far. */
export interface HistoryMessage {
  author: "customer" | ReplyAuthor;
  text: string;
  /** What a reply has quoted. */
  sources?: readonly Source[];
}

/**
 * Whether an agent's answer goes out without a person, in a conversation that no person has: when it says something,
 * nothing in it asks for a person, and the agent's policy allows it. A promise of a person is kept: such an answer is
 * held, or, where it goes out whatever it says (a fixed reply, the policy `auto`), a person has to look behind it.
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

/** What came of a call of a tool: `text` says what it was called with and is data, written by others. */
export interface CallResult {
  /** Name of the tool. */
  tool: string;
  text: string;
}

/** The language model that an answer may be made with, and for whom. */
export interface AnswerModel {
  model: LanguageModel;
  project: ProjectId;
  /** Null where no ticket is worked on. */
  ticketId: string | null;
  tools?: readonly ChatTool[];
  /** What came of calls of tools that people have decided about, for this message. */
  results?: readonly CallResult[];
  /** Ends what is on its way; `answerQuestion` then rejects with its reason. */
  signal: AbortSignal;
  onText?: OnText;
}
