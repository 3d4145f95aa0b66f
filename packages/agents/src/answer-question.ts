import type { Agent, Source } from "@svc/contracts";
import { PASSAGE_LIMIT } from "./answer.ts";
import type { Answer, HistoryMessage, Passage, Search, SearchResult } from "./answer.ts";
import { readFollowUp } from "./follow-up.ts";
import { holdsWord } from "./holds-word.ts";
import { pickQuotes } from "./pick-quotes.ts";
import type { PickedQuotes } from "./pick-quotes.ts";
import { replyToSmallTalk } from "./small-talk.ts";
import { sourceUrl } from "./source-url.ts";

/** Of the first few passages that a search brings, the best is the one with the best sentence as well. */
const CANDIDATES = 3;

/** What counts for a passage of a document that the last answer quoted, when the question goes on with that. */
const SAME_DOCUMENT_BONUS = 0.1;

/** What counts for a passage that holds all that a question which goes on with another is about. */
const KEY_WORDS_BONUS = 0.3;

/** A passage that holds none of those words may well answer another question: a person should look at it. */
const MAX_CONFIDENCE_WITHOUT_KEY_WORDS = 0.4;

/** What a passage's best sentence counts against the passage as a whole when the first few are compared. */
const SENTENCE_WEIGHT = 0.15;

/**
 * How sure an answer is: by the passage's share of the best possible score, and by the share of the question's words
 * that its best sentence holds, which counts less. What a knowledge base answers and what it does not are divided best
 * by this sum; some way below and above it an answer is hardly ever right, or wrong.
 */
const OWN_SHARE_WEIGHT = 0.3;
const EVEN_EVIDENCE = 0.31;
const EVIDENCE_STEEPNESS = 9;

/** Of the answers that look certain, some quote the wrong passage all the same. */
const MAX_CONFIDENCE = 0.95;

/** Below this confidence what was found has next to nothing to do with the question. */
const MIN_CONFIDENCE = 0.25;

const SMALL_TALK_CONFIDENCE = 0.95;

const GOES_ON = " The message goes on with an earlier one.";

/**
 * Answers a question from the agent's knowledge bases in the documents' own words, without a model: the best passage
 * cut to its best sentences, with its sources and a confidence. An agent with a fixed reply answers that to anything;
 * a mere greeting, thanks or goodbye is answered in its language. `text` is null when nothing relevant was found.
 * `history` is what was said in the chat before the question, oldest first: with it "And on Windows?" is understood, and
 * "Why?" is not answered with what was said already; ten utterances are plenty. `language` is that of the chat (ISO
 * 639-1), for words that several languages share.
 */
export async function answerQuestion(question: {
  agent: Agent;
  text: string;
  history?: readonly HistoryMessage[];
  language?: string | null;
  search: Search;
}): Promise<Answer> {
  const { agent, text, history = [], search } = question;
  const language = question.language ?? undefined;
  // Whoever writes a fixed reply may use Markdown, as in an answer.
  if (agent.fixedReply !== null) return plainAnswer(agent.fixedReply, 1, "The agent has a fixed reply.", true);
  const smallTalk = replyToSmallTalk(text, { language });
  if (smallTalk !== null) {
    return plainAnswer(
      smallTalk.text,
      SMALL_TALK_CONFIDENCE,
      `The message is nothing but a ${smallTalk.topic}.`,
      false,
    );
  }
  if (agent.kbIds.length === 0) return noAnswer(0, `The agent ${agent.name} has no knowledge base to answer from.`);

  const followUp = readFollowUp(text, history, language);
  const found = await search(followUp?.query ?? text, agent.kbIds, PASSAGE_LIMIT);
  const said = followUp === null ? [] : lastSources(history);
  const best = choosePassage(found, {
    said,
    wanted: followUp?.wanted ?? [],
    keyWords: followUp?.keyWords ?? [],
  });
  if (best === null) {
    return found.hits.length > 0 && found.bestPossible > 0
      ? noAnswer(0, "What the knowledge bases say about it was answered before.")
      : noAnswer(0, `Nothing in the knowledge bases matches ${quoteWords(found)}.`);
  }
  const confidence = confidenceOf(best, found);
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
    sources: best.picked.quotes.map(({ text: quote, part }) => sourceOf(best.passages[part] ?? best.passage, quote)),
    confidence,
    why: `Quotes "${placeOf(best.passage)}", ${percent} % sure.${followUp === null ? "" : GOES_ON}`,
  };
}

interface Candidate {
  passage: Passage;
  /** With the others that were found of its section, in reading order. */
  passages: readonly Passage[];
  picked: PickedQuotes;
  /** Score of the best passage of the search, which tells how sure it is. */
  score: number;
  /** The share that it has of the words that an answer has to hold after an earlier question; 1 where there are none. */
  keyShare: number;
}

/**
 * Of the first passages, the one that scores best together with its best sentence. After an earlier question, one that
 * holds what the new one is about and one of the document that was quoted last are preferred, and who wants more than
 * was said gets no quotes again.
 */
function choosePassage(
  { hits, bestPossible, words }: SearchResult,
  before: { said: readonly Source[]; wanted: readonly string[]; keyWords: readonly string[] },
): Candidate | null {
  if (bestPossible <= 0) return null;
  const documents = new Set(before.said.map(({ documentId }) => documentId));
  const quotes = new Set(before.said.map(({ quote }) => quote));
  const pick = (passage: Passage) => {
    const passages = sectionOf(passage, hits);
    return { passage, passages, picked: pickQuotes({ ...passage, texts: passages.map(({ text }) => text) }, words) };
  };
  const isNew = ({ picked }: { picked: PickedQuotes }): boolean => picked.quotes.some(({ text }) => !quotes.has(text));
  const isAlone = before.keyWords.length === 0;
  const considered = isAlone ? hits.slice(0, CANDIDATES).map(pick) : hits.map(pick);
  const candidates = before.wanted.length > 0 ? considered.filter(isNew) : considered;
  // Where embeddings have a say in the order, the first need not have the highest score.
  const score = Math.max(0, ...candidates.map(({ passage }) => passage.score));
  return candidates
    .map(({ passage, passages, picked }) => {
      const isWanted = before.wanted.length === 0 || shareHeld(passage, before.wanted) > 0;
      const keyShare = isAlone ? 1 : isWanted ? shareHeld(passage, before.keyWords) : 0;
      const bonus =
        (documents.has(passage.documentId) ? SAME_DOCUMENT_BONUS : 0) + (isAlone ? 0 : KEY_WORDS_BONUS * keyShare);
      const value = passage.score / bestPossible + SENTENCE_WEIGHT * picked.share + bonus;
      return { passage, passages, picked, score, keyShare, value };
    })
    .reduce<(Candidate & { value: number }) | null>(
      (best, next) => (best === null || next.value > best.value ? next : best),
      null,
    );
}

/**
 * The passages that a section was cut into because it was too long for one, as far as they were found and follow each
 * other, in reading order. Where their places are not known, their ids tell the order: they grow.
 */
function sectionOf(passage: Passage, hits: readonly Passage[]): Passage[] {
  const headings = JSON.stringify(passage.headingPath);
  const isSibling = (hit: Passage): boolean =>
    hit.documentId === passage.documentId && JSON.stringify(hit.headingPath) === headings;
  const siblings = hits.filter(isSibling).sort((a, b) => placeIn(a, b) || (a.chunkId < b.chunkId ? -1 : 1));
  let start = siblings.indexOf(passage);
  let end = start + 1;
  while (start > 0 && followsOn(siblings[start - 1], siblings[start])) start -= 1;
  while (end < siblings.length && followsOn(siblings[end - 1], siblings[end])) end += 1;
  return siblings.slice(start, end);
}

function placeIn(a: Passage, b: Passage): number {
  return (a.ordinal ?? 0) - (b.ordinal ?? 0);
}

function followsOn(one: Passage | undefined, next: Passage | undefined): boolean {
  return one?.ordinal === undefined || next?.ordinal === undefined || next.ordinal === one.ordinal + 1;
}

function shareHeld({ title, headingPath, text }: Passage, words: readonly string[]): number {
  const holds = holdsWord([title, ...headingPath, text].join("\n"));
  return words.filter(holds).length / words.length;
}

/** What the last reply that quoted anything has quoted. */
function lastSources(history: readonly HistoryMessage[]): readonly Source[] {
  return history.findLast(({ sources = [] }) => sources.length > 0)?.sources ?? [];
}

/** From 0 to `MAX_CONFIDENCE`, growing strictly with what speaks for the answer; 0.5 where it is as likely as not. */
function confidenceOf({ score, picked, keyShare }: Candidate, { bestPossible }: SearchResult): number {
  const evidence = score / bestPossible + OWN_SHARE_WEIGHT * picked.ownShare;
  const confidence = MAX_CONFIDENCE / (1 + Math.exp(-EVIDENCE_STEEPNESS * (evidence - EVEN_EVIDENCE)));
  return keyShare > 0 ? confidence : Math.min(confidence, MAX_CONFIDENCE_WITHOUT_KEY_WORDS);
}

function sourceOf(passage: Passage, quote: string): Source {
  const { title, url, documentId, chunkId, page = null } = passage;
  return { title, ...(url === undefined ? {} : { url: sourceUrl(url, { quote, page }) }), documentId, chunkId, quote };
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
