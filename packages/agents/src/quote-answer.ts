import type { Source } from "@svc/contracts";
import { PASSAGE_LIMIT } from "./answer.ts";
import type { Answer, HistoryMessage, Passage, Search, SearchResult } from "./answer.ts";
import { readFollowUp } from "./follow-up.ts";
import { asksForSteps } from "./asks-for-steps.ts";
import { holdsPart, holdsWord } from "./holds-word.ts";
import { readNaming } from "./naming-words.ts";
import type { Naming } from "./naming-words.ts";
import { pickQuotes } from "./pick-quotes.ts";
import type { PickedQuotes } from "./pick-quotes.ts";
import { questionOf } from "./question-of.ts";
import { sourceOf } from "./source-of.ts";

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

/**
 * Where the words that are missing in a passage and name what is asked about weigh so much of the question, or all that
 * it holds weighs so little, it most likely answers something else: its confidence counts by this factor, which keeps
 * it below one half.
 */
const MAX_MISSING_SHARE = 0.3;
const MAX_MISSING_KEYWORDS = 0.5;
const MIN_HELD_SHARE = 0.35;
const MISSING_FACTOR = 0.5;

/** However many words of a question are missing, so much of it counts. */
const MIN_COUNTED = 0.3;

/** A word with letters and digits, such as the name of a model or an error. */
const CODE = /^(?=.*\p{L})(?=.*\p{N})/u;

/** In a larger knowledge base the words that it does not have are so much rarer that search scores tell. */
const SMALL_BASE_PASSAGES = 400;

/** What a missing word counts that names nothing: documents use other verbs and adjectives than those who ask. */
const OTHER_WORD_FACTOR = 0.5;

/** What counts for a passage with steps where somebody asks how to do what its title or headings are about. */
const STEPS_BONUS = 0.15;
const MIN_TOPIC_SHARE = 0.4;

/** Of the answers that look certain, some quote the wrong passage all the same. */
const MAX_CONFIDENCE = 0.95;

/** Below this confidence what was found has next to nothing to do with the question. */
const MIN_CONFIDENCE = 0.25;

/** What a question is about is named in so many characters. */
const MAX_NAMING_CHARS = 2_000;

const GOES_ON = " The message goes on with an earlier one.";

/**
 * Answers a question in the documents' own words, without a model: the best passage cut to its best sentences, with its
 * sources and a confidence. `text` is null when nothing relevant was found.
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
  const found = await search(query, [...kbIds], PASSAGE_LIMIT);
  const said = followUp === null ? [] : lastSources(history);
  const best = choosePassage(found, {
    wantsSteps: asksForSteps(query),
    said,
    wanted: followUp?.wanted ?? [],
    keyWords: followUp?.keyWords ?? [],
  });
  if (best === null) {
    return found.hits.length > 0 && found.bestPossible > 0
      ? noAnswer(0, "What the knowledge bases say about it was answered before.")
      : noAnswer(0, `Nothing in the knowledge bases matches ${quoteWords(found)}.`);
  }
  const { confidence, evident } = confidenceOf(best, found, readNaming(asked.slice(0, MAX_NAMING_CHARS)));
  const percent = Math.round(confidence * 100);
  if (Math.max(confidence, evident) < MIN_CONFIDENCE || best.picked.text === "") {
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
  /** Whether it has the steps that the question asks for. */
  isHowTo: boolean;
}

/**
 * Of the first passages, the one that scores best together with its best sentence. After an earlier question, one that
 * holds what the new one is about and one of the document that was quoted last are preferred, and who wants more than
 * was said gets no quotes again.
 */
function choosePassage(
  { hits, bestPossible, words }: SearchResult,
  before: { wantsSteps: boolean; said: readonly Source[]; wanted: readonly string[]; keyWords: readonly string[] },
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
      const isHowTo = before.wantsSteps && hasSteps(passage) && topicShare(passage, words) >= MIN_TOPIC_SHARE;
      const bonus =
        (documents.has(passage.documentId) ? SAME_DOCUMENT_BONUS : 0) +
        (isAlone ? 0 : KEY_WORDS_BONUS * keyShare) +
        (isHowTo ? STEPS_BONUS : 0);
      const value = passage.score / bestPossible + SENTENCE_WEIGHT * picked.share + bonus;
      return { passage, passages, picked, score, keyShare, isHowTo, value };
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

/**
 * From 0 to `MAX_CONFIDENCE`, growing strictly with what speaks for the answer; 0.5 where it is as likely as not. In a
 * small knowledge base a word that stands nowhere is hardly rarer than any other: there it counts which words are missing
 * in the passage. `evident` is the confidence without regard to them.
 */
function confidenceOf(
  { score, passage, passages, picked, keyShare, isHowTo }: Candidate,
  { bestPossible, words, passageCount = Infinity }: SearchResult,
  naming: Naming,
): { confidence: number; evident: number } {
  const isSmall = passageCount <= SMALL_BASE_PASSAGES;
  const holds = holdsPart([passage.title, ...passage.headingPath, ...passages.map(({ text }) => text)].join("\n"));
  const missing = words.filter(({ word, weight }) => weight > 0 && !holds(word));
  const total = weightOf(words);
  const measures = isSmall ? weightOf(missing.filter(({ word }) => naming.measures.has(word))) : 0;
  const named = isSmall ? weightOf(missing.filter(({ word }) => naming.words.has(word))) : 0;
  const other = Math.max(0, weightOf(missing) - named - measures);
  const counted = isSmall && total > 0 ? Math.max(1 - (measures + OTHER_WORD_FACTOR * other) / total, MIN_COUNTED) : 1;
  const evidence = (score / bestPossible + OWN_SHARE_WEIGHT * picked.ownShare) / counted;
  const evident = MAX_CONFIDENCE / (1 + Math.exp(-EVIDENCE_STEEPNESS * (evidence - EVEN_EVIDENCE)));
  // Whoever has the very code that is asked for, or the steps for what is to be done, answers in other words as well.
  const isSure = isHowTo || words.some(({ word }) => CODE.test(word) && holds(word));
  const isElse =
    named > (naming.areKeywords ? MAX_MISSING_KEYWORDS : MAX_MISSING_SHARE) * (total - measures) ||
    weightOf(missing) - measures > (1 - MIN_HELD_SHARE) * (total - measures);
  const confidence = isElse && !isSure ? MISSING_FACTOR * evident : evident;
  return { confidence: keyShare > 0 ? confidence : Math.min(confidence, MAX_CONFIDENCE_WITHOUT_KEY_WORDS), evident };
}

function weightOf(words: readonly { weight: number }[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0);
}

const STEPS = /^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+\S/m;

function hasSteps({ text }: Passage): boolean {
  return STEPS.test(text);
}

/** The share of the question's words, by weight, that title and headings hold. */
function topicShare({ title, headingPath }: Passage, words: readonly { word: string; weight: number }[]): number {
  const holds = holdsWord([title, ...headingPath].join("\n"));
  return weightOf(words.filter(({ word }) => holds(word))) / Math.max(weightOf(words), Number.MIN_VALUE);
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

function noAnswer(confidence: number, why: string): Answer {
  return { text: null, markdown: false, sources: [], confidence, why };
}
