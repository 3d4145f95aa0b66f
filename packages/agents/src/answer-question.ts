import type { Agent, Source } from "@svc/contracts";
import { tokenize } from "@svc/text";
import type { Answer, HistoryMessage, Passage, Search, SearchResult } from "./answer.ts";
import { pickQuotes } from "./pick-quotes.ts";
import type { PickedQuotes } from "./pick-quotes.ts";
import { replyToSmallTalk } from "./small-talk.ts";

/** Passages that a search brings; the best of the first few is the one with the best sentence as well. */
const SEARCH_LIMIT = 5;
const CANDIDATES = 3;

/** What a passage's best sentence counts against the passage as a whole when the first few are compared. */
const SENTENCE_WEIGHT = 0.15;

/**
 * A passage that scores this share of what could be scored is as sure as can be. Half of it divides best what a
 * knowledge base answers from what it does not: there the confidence is 0.5.
 */
const CERTAIN_SCORE_SHARE = 0.5;

/** Of the answers that look certain, about one in ten quotes the wrong passage all the same. */
const MAX_CONFIDENCE = 0.9;

/** Below this confidence what was found has next to nothing to do with the question. */
const MIN_CONFIDENCE = 0.3;

const SMALL_TALK_CONFIDENCE = 0.95;

/** A message of at most so many words that begins like this goes on with what was asked before. */
const FOLLOW_UP_MAX_WORDS = 8;
const FOLLOW_UP_BEGINNINGS = new Set([
  "and",
  "or",
  "but",
  "also",
  "und",
  "oder",
  "aber",
  "et",
  "ou",
  "mais",
  "y",
  "o",
  "pero",
]);
const FOLLOW_UP_PHRASES = [
  "what about",
  "how about",
  "was ist mit",
  "wie ist es mit",
  "qu'en est il",
  "qué hay de",
  "qué pasa con",
];

/**
 * Answers a question from the agent's knowledge bases in the documents' own words, without a model: the best passage
 * cut to its best sentences, with its sources and a confidence. An agent with a fixed reply answers that to anything;
 * a mere greeting, thanks or goodbye is answered in its language. `text` is null when nothing relevant was found.
 * `history` is the conversation so far, oldest first; it is used to understand "And on Windows?".
 */
export async function answerQuestion(question: {
  agent: Agent;
  text: string;
  history?: readonly HistoryMessage[];
  search: Search;
}): Promise<Answer> {
  const { agent, text, history = [], search } = question;
  // Whoever writes a fixed reply may use Markdown, as in an answer.
  if (agent.fixedReply !== null) return plainAnswer(agent.fixedReply, 1, "The agent has a fixed reply.", true);
  const smallTalk = replyToSmallTalk(text);
  if (smallTalk !== null) {
    return plainAnswer(
      smallTalk.text,
      SMALL_TALK_CONFIDENCE,
      `The message is nothing but a ${smallTalk.topic}.`,
      false,
    );
  }
  if (agent.kbIds.length === 0) return noAnswer(0, `The agent ${agent.name} has no knowledge base to answer from.`);

  const found = await search(withContext(text, history), agent.kbIds, SEARCH_LIMIT);
  const best = choosePassage(found);
  if (best === null) return noAnswer(0, `Nothing in the knowledge bases matches ${quoteWords(found)}.`);
  const confidence = Math.min(MAX_CONFIDENCE, best.score / found.bestPossible / CERTAIN_SCORE_SHARE);
  const percent = Math.round(confidence * 100);
  if (confidence < MIN_CONFIDENCE || best.picked.text === "") {
    return noAnswer(
      confidence,
      `The best passage, in "${best.passage.title}", has too little of the question (${percent} %).`,
    );
  }
  return {
    text: best.picked.text,
    markdown: best.passage.markdown,
    sources: best.picked.quotes.map((quote) => sourceOf(best.passage, quote)),
    confidence,
    why: `Quotes "${placeOf(best.passage)}", ${percent} % sure.`,
  };
}

interface Candidate {
  passage: Passage;
  picked: PickedQuotes;
  /** Score of the best passage of the search, which tells how sure it is. */
  score: number;
}

/** Of the first passages, the one that scores best together with its best sentence. */
function choosePassage({ hits, bestPossible, words }: SearchResult): Candidate | null {
  const score = hits[0]?.score ?? 0;
  if (bestPossible <= 0) return null;
  const candidates = hits.slice(0, CANDIDATES).map((passage) => {
    const picked = pickQuotes(passage, words);
    return { passage, picked, score, value: passage.score / bestPossible + SENTENCE_WEIGHT * picked.share };
  });
  return candidates.reduce<(typeof candidates)[number] | null>(
    (best, next) => (best === null || next.value > best.value ? next : best),
    null,
  );
}

/** The question, with the customer's message before it when it goes on with that. */
function withContext(text: string, history: readonly HistoryMessage[]): string {
  const previous = history.findLast(({ author }) => author === "customer")?.text;
  return previous !== undefined && isFollowUp(text) ? `${previous}\n${text}` : text;
}

function isFollowUp(text: string): boolean {
  if (text.length > 200) return false;
  const terms = tokenize(text).map(({ term }) => term);
  if (terms.length === 0 || terms.length > FOLLOW_UP_MAX_WORDS) return false;
  const start = `${terms.join(" ")} `;
  return FOLLOW_UP_BEGINNINGS.has(terms[0] ?? "") || FOLLOW_UP_PHRASES.some((phrase) => start.startsWith(`${phrase} `));
}

function sourceOf(passage: Passage, quote: string): Source {
  const { title, url, documentId, chunkId } = passage;
  return { title, ...(url === undefined ? {} : { url }), documentId, chunkId, quote };
}

/** Title and headings of a passage; a first heading that is the title is not said twice. */
function placeOf({ title, headingPath }: Passage): string {
  return [title, ...(headingPath[0] === title ? headingPath.slice(1) : headingPath)].join(" › ");
}

function quoteWords({ words }: SearchResult): string {
  if (words.length === 0) return "the message, which has no words to search for";
  const shown = words.slice(0, 5).map(({ word }) => `"${word}"`);
  return words.length > shown.length
    ? `${shown.join(", ")} and ${words.length - shown.length} more words`
    : shown.join(", ");
}

function plainAnswer(text: string, confidence: number, why: string, markdown: boolean): Answer {
  return { text, markdown, sources: [], confidence, why };
}

function noAnswer(confidence: number, why: string): Answer {
  return { text: null, markdown: false, sources: [], confidence, why };
}
