import { setImmediate as nextTurn } from "node:timers/promises";
import { detectLanguage, stopWords, tokenize } from "@svc/text";
import { ModelError } from "../models/model-error.ts";
import { cleanPart } from "./clean-part.ts";
import { findPassages } from "./find-passages.ts";
import { findIssues, cut } from "./find-issues.ts";
import type { CleanPart, NoteIssue } from "./find-issues.ts";
import { noteParts } from "./note-parts.ts";
import { NOTES_LIMITS, readNotesWithModel } from "./read-notes-with-model.ts";
import type { NotesModel, NotesSummary } from "./read-notes-with-model.ts";
import { stopped, stemOf, topicTest } from "./note-words.ts";
import type { IssueSeverity } from "./issue-words.ts";

/** What a topic counts each further time that the summary names it, against the time before. */
const SAID_BEFORE = 0.3;

/**
 * In a text of so many words, sentences of fewer than the least say next to nothing, unless they come first; none is longer
 * than a paragraph.
 */
const LONG_TEXT_WORDS = 1_000;
const LEAST_SENTENCE_WORDS = 10;
const MOST_WORDS = 60;

/** Of the words, what goes to sentences that come first whatever they are about. */
const FIRST_SHARE = 1 / 3;

interface Candidate {
  position: number;
  /** Its topics, each once. */
  topics: readonly string[];
  words: number;
}

/** Maximum number of words of a summary, and its maximum share of a longer text. */
const SUMMARY_WORDS = 170;
const SUMMARY_SHARE = 0.4;
/** Notes of so few words are their own summary. */
const SHORT_WORDS = 40;

/** In which order things are said. What is no issue is like a normal one. */
const RANKS: Readonly<Record<IssueSeverity, number>> = { urgent: 0, high: 1, normal: 2, low: 3 };

interface Statement {
  text: string;
  severity: IssueSeverity;
  /** Sentences of one issue have its number, any other has one of its own. */
  topic: number;
  position: number;
}

/** A shorter part is taken for one in the language of the notes: names and single words are clear to nobody. */
const LEAST_WORDS = 3;
/** From this share of its words on that are stop words of the language of the notes, a part is in it. */
const CLEARLY_OWN = 0.25;
/** From this confidence on a part is in a language of its own. */
const CLEARLY_OTHER = 0.5;
/** Maximum number of parts that are examined this closely, since that takes longer than all the rest. */
const MAX_DETECTED = 400;

/** From here on a text itself says what language it is in: see `detectLanguage`. */
const CLEAR_LANGUAGE = 0.5;

/** How long it works on notes before other work of the process gets a turn, in milliseconds. */
const TURN_MS = 20;

/** Maximum number of possible corrections that are weighed; further ones stay as they are. */
const MAX_CUES = 300;

/**
 * Makes something of dictated notes: cleaned of fillers, repeats and what the speaker took back, summed up, and the
 * issues that they tell of, each with its places in the notes. With a model it reads better; whenever that gives no
 * usable answer in time, and without one, it is done by rules and statistics. Of longer notes the first 200,000 UTF-16
 * units are looked at. With a `question`, also the places that are most about it. `locale` says the language (BCP 47)
 * where the notes are too short to tell, `date` (`YYYY-MM-DD`) on which day they were dictated; today in UTC without
 * one. Long notes are read in short turns, between which others have theirs; an aborted signal ends it with its reason.
 */
export async function summarizeNotes({
  notes: given,
  locale,
  date,
  question,
  model = null,
  signal,
}: {
  notes: string;
  locale?: string | undefined;
  date?: string | undefined;
  question?: string | undefined;
  model?: NotesModel | null;
  /** Ends the work where there is no model, whose own signal does it else. */
  signal?: AbortSignal | undefined;
}): Promise<NotesSummary> {
  // Never with half a character at the end.
  const notes = given.slice(0, NOTES_LIMITS.maxChars).replace(/[\uD800-\uDBFF]$/, "");
  const { language, confidence } = detectLanguage(notes, locale);
  const parts = await cleanParts(notes, language, model?.signal ?? signal);
  const isClear = confidence >= CLEAR_LANGUAGE;
  const today = date === undefined ? new Date() : new Date(`${date}T00:00:00Z`);
  const issues = findIssues(notes, parts, {
    alsoLanguages: isClear ? [] : ["en", ...(locale === undefined ? [] : [detectLanguage("", locale).language])],
    today,
  });
  const own: NotesSummary = {
    cleanedText: joinParts(parts),
    summary: sumUp(parts, issues, language),
    issues,
    ...(question === undefined ? {} : { passages: findPassages(parts, question, language) }),
  };
  if (model === null || parts.length === 0) return own;
  try {
    const { usage, ...read } = await readNotesWithModel({ notes, language, parts, own, today, model });
    return { ...own, ...read, model: { usage, fallback: null } };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return {
      ...own,
      model: { usage: null, fallback: `The model ${model.model.id} returned no answer: ${error.message}.` },
    };
  }
}

async function cleanParts(notes: string, language: string, signal: AbortSignal | undefined): Promise<CleanPart[]> {
  const budget = { cues: MAX_CUES };
  const languageOf = partLanguages(language);
  const pause = createPause(signal);
  const parts: CleanPart[] = [];
  for (const part of noteParts(notes, language)) {
    await pause();
    const said = notes.slice(part.start, part.end);
    const own = languageOf(said);
    parts.push({ ...part, language: own, text: part.kind === "heading" ? said : cleanPart(said, own, budget) });
  }
  return parts;
}

/**
 * Makes the function that lets others have their turn where it is time for that; it rejects with the signal's reason.
 */
function createPause(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return nextTurn().then(() => {
      signal?.throwIfAborted();
      since = performance.now();
    });
  };
}

const BETWEEN = { nothing: "", word: " ", line: "\n", paragraph: "\n\n" } as const;

function joinParts(parts: readonly CleanPart[]): string {
  return parts
    .filter(({ text }) => text !== "")
    .map(
      (part, index) =>
        `${index === 0 ? "" : BETWEEN[part.begins]}${part.mark}${part.kind === "sentence" ? stopped(part.text) : part.text}`,
    )
    .join("");
}

/** Returns a function that detects the language (ISO 639-1) of a part of notes, which are mostly in one. */
function partLanguages(language: string): (text: string) => string {
  const common = stopWords(language);
  let detected = 0;
  return (text) => {
    const words = tokenize(text);
    const isOwn = words.filter(({ term }) => common.has(term)).length >= CLEARLY_OWN * words.length;
    if (words.length < LEAST_WORDS || isOwn || detected >= MAX_DETECTED) return language;
    detected += 1;
    const found = detectLanguage(text, language);
    return found.confidence >= CLEARLY_OTHER ? found.language : language;
  };
}

/**
 * What notes say in short, in their own sentences: all of short ones, else those that cover most of what they are
 * about. What hurts most comes first, then what says most; sentences of one issue stay together, in their order.
 */
function sumUp(parts: readonly CleanPart[], issues: readonly NoteIssue[], language: string): string {
  const said = statementsOf(parts, issues);
  const words = said.reduce((sum, { text }) => sum + tokenize(text).length, 0);
  const maxWords = Math.min(SUMMARY_WORDS, Math.max(SHORT_WORDS, Math.round(words * SUMMARY_SHARE)));
  const picked =
    words <= SHORT_WORDS
      ? []
      : pickSentences(
          said.map(({ text, severity }) => ({ text, comesFirst: severity === "urgent" })),
          { maxWords, language },
        );
  const chosen = picked.length === 0 ? said : picked.flatMap((position) => said[position] ?? []);
  const order = new Map<number, number>();
  for (const { topic } of chosen) if (!order.has(topic)) order.set(topic, order.size);
  const orderOf = ({ topic }: Statement) => order.get(topic) ?? 0;
  return cut(
    chosen
      .toSorted((a, b) => RANKS[a.severity] - RANKS[b.severity] || orderOf(a) - orderOf(b) || a.position - b.position)
      .map(({ text }) => stopped(text))
      .join(" "),
    NOTES_LIMITS.summaryMaxChars,
  );
}

function statementsOf(parts: readonly CleanPart[], issues: readonly NoteIssue[]): Statement[] {
  const issueAt = new Map(
    issues.flatMap(({ severity, quotes }, topic) => quotes.map(({ start }) => [start, { severity, topic }] as const)),
  );
  return parts.flatMap(({ kind, text, start }, position): Statement[] => {
    if (kind === "heading" || text === "") return [];
    return [{ text, position, ...(issueAt.get(start) ?? { severity: "normal", topic: issues.length + position }) }];
  });
}

/**
 * The sentences that together cover most of what a text is about, in no more than `maxWords`: a topic counts for as many
 * sentences as name it, and much less once it is covered (submodular coverage, after Lin and Bilmes 2011). Long sentences
 * lose by the square root of their words. Those that come first take a third of the words, if there are so many. Places of
 * the sentences, the best first.
 */
function pickSentences(
  sentences: readonly { text: string; comesFirst: boolean }[],
  { maxWords, language }: { maxWords: number; language: string },
): number[] {
  const isTopic = topicTest(language);
  const terms = sentences.map(({ text }) => tokenize(text).map(({ term }) => term));
  const topics = terms.map((list) => [...new Set(list.filter(isTopic).map(stemOf))]);
  const isLong = terms.reduce((sum, { length }) => sum + length, 0) >= LONG_TEXT_WORDS;
  const least = isLong ? LEAST_SENTENCE_WORDS : 1;
  const most = Math.min(MOST_WORDS, maxWords);
  const isFirst = (position: number) => sentences[position]?.comesFirst === true;
  const left = new Set(
    topics
      .map((list, position): Candidate => ({
        position,
        topics: list,
        words: terms[position]?.length ?? 0,
      }))
      .filter(({ words, position }) => (words >= least || isFirst(position)) && words <= most),
  );
  const worth = countHolders(topics);
  const picked: number[] = [];
  let words = 0;
  for (;;) {
    const urgent =
      words < maxWords * FIRST_SHARE ? new Set([...left].filter(({ position }) => isFirst(position))) : left;
    const next = findBest(urgent, worth, maxWords - words) ?? findBest(left, worth, maxWords - words);
    if (next === null) return picked;
    left.delete(next);
    picked.push(next.position);
    words += next.words;
    for (const topic of next.topics) worth.set(topic, (worth.get(topic) ?? 0) * SAID_BEFORE);
  }
}

/** By topic: how many sentences name it. */
function countHolders(topics: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of topics) for (const topic of list) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  return counts;
}

/** The sentence that adds most for its length, of those that still fit; of equal ones the first. */
function findBest(left: ReadonlySet<Candidate>, worth: ReadonlyMap<string, number>, maxWords: number) {
  let best: Candidate | null = null;
  let most = -1;
  for (const candidate of left) {
    if (candidate.words > maxWords) continue;
    const gain = candidate.topics.reduce((sum, topic) => sum + (worth.get(topic) ?? 0), 0);
    const value = gain / Math.sqrt(candidate.words);
    if (value > most) [best, most] = [candidate, value];
  }
  return best;
}
