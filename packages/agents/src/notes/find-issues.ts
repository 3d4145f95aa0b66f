import { createHash } from "node:crypto";
import { questionWords, stopWords, tokenize } from "@svc/text";
import { dueDateOf, personOf } from "./issue-facts.ts";
import { issueTitle, TITLE_MAX_CHARS } from "./issue-title.ts";
import { isSettled, perLanguage, reportsIssue, severityOf, sourceOf } from "./language-words.ts";
import type { IssueSeverity } from "./language-words.ts";
import { actionOf, clausesOf, RUN_ON_WORDS, topicOf, withoutRunUp } from "./note-parts.ts";
import type { NotePart } from "./note-parts.ts";
import { stemOf, topicTest } from "./note-words.ts";

/** A range of the notes, in UTF-16 offsets. */
export interface NoteQuote {
  start: number;
  end: number;
}

/** An issue that notes report, which may become a ticket. */
export interface NoteIssue {
  /** Deterministic: the same notes give the same ids. */
  clientIssueId: string;
  /** One line. */
  title: string;
  description: string;
  severity: IssueSeverity;
  /** Assignee, if the notes name one. */
  person?: string;
  /** Due date as `YYYY-MM-DD`, if the notes name one. */
  dueDate?: string;
  /** Ranges of the notes that report the issue, in reading order: at least one. */
  quotes: NoteQuote[];
}

/** A part of the notes with its cleaned text. */
export interface CleanPart extends NotePart {
  text: string;
  /** ISO 639-1. */
  language: string;
}

/** Limits of the issues found; lengths are in UTF-16 units. */
export const ISSUE_LIMITS = { issues: 50, titleMaxChars: TITLE_MAX_CHARS, descriptionMaxChars: 4_000 } as const;

/** Maximum number of sentences of one issue. */
const LONGEST_ISSUE = 5;

/** A sentence with at most this many words and a back reference has no topic of its own. */
const SHORT_WORDS = 12;
/** A request with at most this many words belongs to the sentence before it. */
const FEW_WORDS = 5;

/**
 * Finds the issues in notes without a model: each sentence or list item with words for a problem or a task, or with a due
 * date, and the following sentences that continue it. Without such words, returns the first meaningful sentence, or else the first
 * sentence of one or two words. `alsoLanguages` (ISO 639-1) are other possible languages of the parts; `today` is the
 * day of dictation.
 */
export function findIssues(
  notes: string,
  parts: readonly CleanPart[],
  { alsoLanguages, today }: { alsoLanguages: readonly string[]; today: Date },
): NoteIssue[] {
  const groups: CleanPart[][] = [];
  let open: CleanPart[] | null = null;
  for (const part of parts) {
    if (part.kind === "heading" || part.text === "" || DONE.test(part.mark)) {
      open = null;
      continue;
    }
    if (open !== null && open.length < LONGEST_ISSUE && goesOn(open, part, alsoLanguages)) {
      open.push(part);
    } else if (tells(part, alsoLanguages) || hasDeadline(part, today)) {
      if (groups.length === ISSUE_LIMITS.issues) break;
      open = [part];
      groups.push(open);
    } else {
      open = null;
    }
  }
  const undone = parts.filter(({ kind, text, mark }) => kind !== "heading" && !DONE.test(mark) && text !== "");
  const lengthOf = ({ text }: CleanPart) => tokenize(text).length;
  const first =
    undone.find((part) => lengthOf(part) >= MIN_MEANINGFUL_WORDS) ?? undone.find((part) => lengthOf(part) > 0);
  const found = groups.length > 0 ? groups : first === undefined ? [] : [[first]];
  const idOf = createIssueIds(notes, parts);
  return found.map((group) => {
    const texts = group.map(({ text }) => text);
    const text = texts.join(" ");
    const quotes = group.map(({ start, end }) => ({ start, end }));
    const { language = "en", speaker = null } = group[0] ?? {};
    const person = personOf(texts, speaker, language);
    const dueDate = dueDateOf(clausesOf(texts, language), language, today);
    return {
      clientIssueId: idOf(quotes),
      title: titleOf(issueTitle(texts, language) || text),
      description: cut(speaker === null ? text : `${speaker}: ${text}`, ISSUE_LIMITS.descriptionMaxChars),
      severity: severityOf(text),
      ...(person === null ? {} : { person }),
      ...(dueDate === null ? {} : { dueDate }),
      quotes,
    };
  });
}

/** Minimum number of meaningful words. */
const MIN_MEANINGFUL_WORDS = 3;

/** Marks of done items of a list; the other one marks open items. */
const DONE = /\[[xX]\]/;
const TO_DO = /\[ ?\]/;

const tells = ({ mark, text, language }: CleanPart, also: readonly string[]) =>
  TO_DO.test(mark) || reportsIssue(unsettled(text, language), language, ...also);

/** Returns whether a part has a due date: also with verbs that no list has ("Ship the parcels by Friday"). */
const hasDeadline = ({ text, language }: CleanPart, today: Date) =>
  dueDateOf(clausesOf([unsettled(text, language)], language), language, today) !== null;

/**
 * Returns what a sentence does not report as settled: clauses of a sentence without full stops, otherwise all or
 * nothing.
 */
function unsettled(text: string, language: string): string {
  if (!isSettled(text, language)) return text;
  const clauses = text.split(/\s+/).length > RUN_ON_WORDS ? clausesOf([text], language) : [];
  return clauses.filter((clause) => !isSettled(clause, language)).join(", ");
}

const linkWords = perLanguage(({ goesOn, next, nextSpoken = [], refersBack }) => ({
  next: new RegExp(`^${sourceOf([...next, ...nextSpoken])}`, "iu"),
  goesOn: new RegExp(`^${sourceOf(goesOn)}`, "iu"),
  refersBack: new RegExp(sourceOf(refersBack), "u"),
}));

/** Returns whether a part continues the issue of those before it, in the same paragraph. */
function goesOn(open: readonly CleanPart[], part: CleanPart, also: readonly string[]): boolean {
  const { language, text } = part;
  if (part.kind === "item" || part.begins === "paragraph" || part.speaker !== open[0]?.speaker) return false;
  const words = linkWords(language);
  if (unsettled(text, language) === "" || words.next.test(text)) return false;
  const said = withoutRunUp(text, language);
  if (words.goesOn.test(text) || words.goesOn.test(said)) return true;
  if (tells(part, also)) {
    const { length } = said.split(/\s+/);
    // "The water is empty. Somebody order bottles."
    const isRequest = length <= FEW_WORDS && asks(part) && !open.some(asks);
    const isBack = length <= SHORT_WORDS && words.refersBack.test(said) && topicOf(said, language) === null;
    if (!isRequest && !isBack) return false;
    return severityOf(text) !== "urgent" || severityOf(open.map((one) => one.text).join(" ")) !== "low";
  }
  const common = stopWords(language);
  const topicsOf = (one: string) => tokenize(one).flatMap(({ term }) => (common.has(term) ? [] : [term]));
  const known = new Set(open.flatMap((one) => topicsOf(one.text)));
  return topicsOf(text).some((term) => known.has(term));
}

/** Returns whether a part states a task. */
const asks = ({ text, language }: CleanPart) =>
  clausesOf([text], language).some((clause) => actionOf(withoutRunUp(clause, language), language) !== null);

/** Returns one line without its final punctuation, unless it is nothing else, cut at a word. */
export function titleOf(text: string): string {
  const line = cut(text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), ISSUE_LIMITS.titleMaxChars);
  return line.replace(/[.,;:!]+$/, "") || line;
}

/** Returns the beginning of a text, cut at a word if possible. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = text
    .slice(0, maxChars - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, "");
  const atWord = head.replace(/\s+\S*$/u, "");
  return `${atWord.length > maxChars / 2 ? atWord : head}…`;
}

/**
 * Creates ids from the words of the part where an issue's first quote begins, so that they do not depend on its title;
 * a second issue of the same words gets another id.
 */
export function createIssueIds(notes: string, parts: readonly NotePart[]): (quotes: readonly NoteQuote[]) => string {
  const counts = new Map<string, number>();
  return ([first]) => {
    const start = first?.start ?? 0;
    const part = parts.findLast((one) => one.start <= start);
    const said = part === undefined ? notes : notes.slice(part.start, part.end);
    const words = tokenize(said)
      .map(({ term }) => term)
      .join(" ");
    const number = (counts.get(words) ?? 0) + 1;
    counts.set(words, number);
    const hash = createHash("sha256")
      .update(JSON.stringify([words, number]))
      .digest("hex");
    return `note-${hash.slice(0, 24)}`;
  };
}

/** Maximum number of returned passages. */
const MAX_PASSAGES = 10;

/** Maximum number of words in a passage of one line. */
const PASSAGE_WORDS = 80;

/** BM25 parameter: how soon repetitions of a word stop counting. Speech repeats itself. */
const SATURATION = 1.2;
const LENGTH = 0.3;

/**
 * Neighbouring text counts for a passage, more if it is closer, and returned passages are apart: in long notes a topic
 * extends over several lines. Both distances grow with the notes, up to a maximum.
 */
const BESIDE = { weight: 0.3, share: 40, most: 8 } as const;
const APART = { share: 50, most: 10 } as const;

/**
 * Query expansion: people ask in other words than were spoken, so words near the best matches are added to the query if
 * they occur there at least `least` times. The other fields limit the matches, their distance, the added words and
 * their weight.
 */
const WIDEN = { positions: 20, near: 2, words: 20, weight: 0.3, least: 2 } as const;

interface Passage extends NoteQuote {
  text: string;
}

/** Passages as lists of stems, and the number of passages that contain each. */
interface Index {
  stems: readonly (readonly string[])[];
  holders: ReadonlyMap<string, number>;
  averageLength: number;
}

/**
 * Finds the passages of notes that are most relevant to a question, best first, without duplicates: by shared words,
 * weighted by rarity (BM25), by the neighbouring text, and by query expansion. None if the notes contain no word of the
 * question. On the meetings of QMSum (dev), one of ten passages is in the requested part for 86 % of the questions.
 */
export function findPassages(parts: readonly CleanPart[], question: string, language: string): NoteQuote[] {
  const passages = passagesOf(parts);
  const index = indexOf(passages);
  const asked = new Map(askedWords(question, language).map((stem) => [stem, 1]));
  const first = scoreAll(index, asked);
  const scores = scoreAll(
    index,
    new Map([...relatedWords(passages, index, { asked, scores: first, language }), ...asked]),
  );
  const apart = within(passages.length / APART.share, APART.most);
  const picked: number[] = [];
  for (const position of bestPositions(scores)) {
    if (picked.length === MAX_PASSAGES) break;
    if (picked.every((other) => Math.abs(other - position) >= apart)) picked.push(position);
  }
  return picked.flatMap((position) => {
    const passage = passages[position];
    return passage === undefined ? [] : [{ start: passage.start, end: passage.end }];
  });
}

const within = (count: number, most: number) => Math.max(1, Math.min(most, Math.round(count)));

/** Combines the parts of each line. */
function passagesOf(parts: readonly CleanPart[]): Passage[] {
  const passages: Passage[] = [];
  let words = 0;
  for (const { start, end, text: said, mark, begins } of parts) {
    // The question may name the speaker.
    const text = `${mark}${said}`;
    const count = text.split(/\s+/).length;
    const last = passages.at(-1);
    words += count;
    if (last !== undefined && (begins === "word" || begins === "nothing") && words <= PASSAGE_WORDS) {
      last.end = end;
      last.text += ` ${text}`;
    } else {
      passages.push({ start, end, text });
      words = count;
    }
  }
  return passages;
}

function indexOf(passages: readonly Passage[]): Index {
  const stems = passages.map(({ text }) => tokenize(text).map(({ term }) => stemOf(term)));
  const holders = new Map<string, number>();
  for (const list of stems) for (const stem of new Set(list)) holders.set(stem, (holders.get(stem) ?? 0) + 1);
  const averageLength = stems.reduce((sum, { length }) => sum + length, 0) / Math.max(1, stems.length);
  return { stems, holders, averageLength };
}

function askedWords(question: string, language: string): string[] {
  const common = stopWords(language);
  const asking = questionWords(language);
  return tokenize(question).flatMap(({ term }) => (common.has(term) || asking.has(term) ? [] : [stemOf(term)]));
}

/** Scores each passage for weighted words, with its neighbouring text. */
function scoreAll({ stems, holders, averageLength }: Index, weights: ReadonlyMap<string, number>): number[] {
  const own = stems.map((list) => {
    const counts = new Map<string, number>();
    for (const stem of list) if (weights.has(stem)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
    const norm = SATURATION * (1 - LENGTH + (LENGTH * list.length) / Math.max(1, averageLength));
    let score = 0;
    for (const [stem, count] of counts) {
      const held = holders.get(stem) ?? 0;
      const rarity = Math.log(1 + (stems.length - held + 0.5) / (held + 0.5));
      score += ((weights.get(stem) ?? 0) * rarity * count * (SATURATION + 1)) / (count + norm);
    }
    return score;
  });
  const reach = within(own.length / BESIDE.share, BESIDE.most);
  return own.map((score, position) => {
    let sum = score;
    for (let step = 1; step <= reach; step += 1) {
      const weight = BESIDE.weight * (1 - (step - 1) / reach);
      sum += weight * ((own[position - step] ?? 0) + (own[position + step] ?? 0));
    }
    return sum;
  });
}

/** Returns the positions with a score, best first; of equal ones the earlier first. */
function bestPositions(scores: readonly number[]): number[] {
  return scores
    .flatMap((score, position) => (score > 0 ? [{ score, position }] : []))
    .toSorted((a, b) => b.score - a.score || a.position - b.position)
    .map(({ position }) => position);
}

/** Returns words that are frequent near the matches and rare elsewhere, with their weights. */
function relatedWords(
  passages: readonly Passage[],
  { holders }: Index,
  { asked, scores, language }: { asked: ReadonlyMap<string, number>; scores: readonly number[]; language: string },
): [stem: string, weight: number][] {
  const isTopic = topicTest(language);
  const near = new Set<number>();
  for (const position of bestPositions(scores).slice(0, WIDEN.positions)) {
    for (let other = position - WIDEN.near; other <= position + WIDEN.near; other += 1) near.add(other);
  }
  const counts = new Map<string, number>();
  for (const position of near) {
    const terms = tokenize(passages[position]?.text ?? "").map(({ term }) => term);
    for (const stem of new Set(terms.filter(isTopic).map(stemOf))) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  const related = [...counts]
    .filter(([stem, count]) => count >= WIDEN.least && !asked.has(stem))
    .map(([stem, count]): [string, number] => [stem, count * Math.log(passages.length / (holders.get(stem) ?? 1))])
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, WIDEN.words);
  const most = Math.max(Number.EPSILON, related[0]?.[1] ?? 0);
  return related.map(([stem, worth]) => [stem, (WIDEN.weight * worth) / most]);
}
