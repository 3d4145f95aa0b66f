import { setImmediate as nextTurn } from "node:timers/promises";
import { detectLanguage, stopWords, tokenize } from "@svc/text";
import { ModelError } from "../models/model-error.ts";
import { cleanPart } from "./repair-sentence.ts";
import { cut, findIssues, findPassages } from "./find-issues.ts";
import type { CleanPart, NoteIssue } from "./find-issues.ts";
import { noteParts } from "./note-parts.ts";
import { NOTES_LIMITS, readNotesWithModel } from "./read-notes-with-model.ts";
import type { NotesModel, NotesSummary } from "./read-notes-with-model.ts";
import { stopped, stemOf, topicTest } from "./note-words.ts";
import type { IssueSeverity } from "./language-words.ts";

/** Weight of each further mention of a topic in the summary, relative to the previous one. */
const SAID_BEFORE = 0.3;

/** In a text of this length, short sentences are skipped unless they come first; the maximum is that of a paragraph. */
const LONG_TEXT_WORDS = 1_000;
const LEAST_SENTENCE_WORDS = 10;
const MOST_WORDS = 60;

/** Share of the words reserved for the first sentences. */
const FIRST_SHARE = 1 / 3;

interface Candidate {
  position: number;
  /** Its distinct topics. */
  topics: readonly string[];
  words: number;
}

/** Maximum number of words of a summary, and its maximum share of a longer text. */
const SUMMARY_WORDS = 170;
const SUMMARY_SHARE = 0.4;
/** Notes with at most this many words are their own summary. */
const SHORT_WORDS = 40;

/** Order of severities in a summary. A sentence outside an issue counts as normal. */
const RANKS: Readonly<Record<IssueSeverity, number>> = { urgent: 0, high: 1, normal: 2, low: 3 };

interface Statement {
  text: string;
  severity: IssueSeverity;
  /** Number of its issue, or a number of its own. */
  topic: number;
  position: number;
}

/** A shorter part has the language of the notes: the language of names and single words cannot be detected. */
const LEAST_WORDS = 3;
/** Share of stop words of the notes' language from which a part is in that language. */
const CLEARLY_OWN = 0.25;
/** Minimum confidence that a part has a language of its own. */
const CLEARLY_OTHER = 0.5;
/** Maximum number of parts whose language is detected, because that takes longer than everything else. */
const MAX_DETECTED = 400;

/** Minimum confidence of a detected language: see `detectLanguage`. */
const CLEAR_LANGUAGE = 0.5;

/** Time after which the work yields to the event loop, in milliseconds. */
const TURN_MS = 20;

/** Maximum number of possible corrections that are evaluated; further ones stay unchanged. */
const MAX_CUES = 300;

/**
 * Processes dictated notes: cleans them of fillers, repetitions and withdrawn text, summarizes them, and finds the
 * issues with their positions. A model gives better results; without one, or without usable output in time, rules and
 * statistics are used. Only the first 200,000 UTF-16 units are read. With a `question`, also returns the most relevant
 * passages. `locale` (BCP 47) is the language if the notes are too short to detect it, `date` (`YYYY-MM-DD`) the day of
 * dictation, today in UTC by default. Yields to the event loop regularly; rejects with the reason of an aborted signal.
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
  /** Aborts the work if there is no model, whose own signal is used otherwise. */
  signal?: AbortSignal | undefined;
}): Promise<NotesSummary> {
  // Never ends with half a surrogate pair.
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

/** Returns the function that yields to the event loop when its time is up; it rejects with the signal's reason. */
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

/** Returns a function that detects the language (ISO 639-1) of a part of notes, which mostly have one language. */
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
 * Summarizes notes in their own sentences: short notes as a whole, otherwise the sentences that cover most topics. The
 * most severe issues come first, then the most informative sentences; those of one issue stay together in their order.
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
 * Picks the sentences that together cover most topics within `maxWords`: a topic is worth the number of sentences that
 * name it, and much less once it is covered (submodular coverage, after Lin and Bilmes 2011). Scores are divided by the
 * square root of the length. The first sentences get a third of the words, if there are enough. Returns indexes, best
 * first.
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

/** Counts the sentences that name each topic. */
function countHolders(topics: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of topics) for (const topic of list) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  return counts;
}

/** Returns the fitting sentence that adds most for its length; of equal ones the first. */
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
