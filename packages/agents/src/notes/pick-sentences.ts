import { tokenize } from "@svc/text";
import { stemOf, topicTest } from "./topic-words.ts";

/** What a topic counts each further time that the summary names it, against the time before. */
const SAID_BEFORE = 0.3;

/**
 * In a text of so many words, sentences of fewer than the least say next to nothing, unless they come first; none is longer
 * than a paragraph.
 */
const LONG_TEXT_WORDS = 1_000;
const LEAST_WORDS = 10;
const MOST_WORDS = 60;

/** Of the words, what goes to sentences that come first whatever they are about. */
const FIRST_SHARE = 1 / 3;

interface Candidate {
  place: number;
  /** Its topics, each once. */
  topics: readonly string[];
  words: number;
}

/**
 * The sentences that together cover most of what a text is about, in no more than `maxWords`: a topic counts for as many
 * sentences as name it, and much less once it is covered (submodular coverage, after Lin and Bilmes 2011). Long sentences
 * lose by the square root of their words. Those that come first take a third of the words, if there are so many. Places of
 * the sentences, the best first.
 */
export function pickSentences(
  sentences: readonly { text: string; comesFirst: boolean }[],
  { maxWords, language }: { maxWords: number; language: string },
): number[] {
  const isTopic = topicTest(language);
  const terms = sentences.map(({ text }) => tokenize(text).map(({ term }) => term));
  const topics = terms.map((list) => [...new Set(list.filter(isTopic).map(stemOf))]);
  const isLong = terms.reduce((sum, { length }) => sum + length, 0) >= LONG_TEXT_WORDS;
  const least = isLong ? LEAST_WORDS : 1;
  const most = Math.min(MOST_WORDS, maxWords);
  const isFirst = (place: number) => sentences[place]?.comesFirst === true;
  const left = new Set(
    topics
      .map((list, place): Candidate => ({
        place,
        topics: list,
        words: terms[place]?.length ?? 0,
      }))
      .filter(({ words, place }) => (words >= least || isFirst(place)) && words <= most),
  );
  const worth = countHolders(topics);
  const picked: number[] = [];
  let words = 0;
  for (;;) {
    const urgent = words < maxWords * FIRST_SHARE ? new Set([...left].filter(({ place }) => isFirst(place))) : left;
    const next = findBest(urgent, worth, maxWords - words) ?? findBest(left, worth, maxWords - words);
    if (next === null) return picked;
    left.delete(next);
    picked.push(next.place);
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
