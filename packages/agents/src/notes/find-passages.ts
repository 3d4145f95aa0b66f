import { questionWords, stopWords, tokenize } from "@svc/text";
import type { CleanPart, NoteQuote } from "./find-issues.ts";
import { stemOf, topicTest } from "./note-words.ts";

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
