import { readFileSync } from "node:fs";
import { isSameKind, readingTest } from "./may-be-meant.ts";
import { noteWords, trimEnd } from "./note-words.ts";
import type { NoteWord } from "./note-words.ts";
import { repairCandidates } from "./repair-candidates.ts";
import type { RepairCandidate, RepairReading } from "./repair-candidates.ts";
import { findRepairCues } from "./repair-cues.ts";
import type { RepairCue } from "./repair-cues.ts";

/**
 * What speaks for each reading of a correction, by the names of `repair-candidates.ts`: weights of a log-linear model that
 * `eval/src/fit-repairs.ts` fits on the training part of Disfl-QA (Gupta et al. 2021) and a few sentences of our own.
 */
const REPAIR_WEIGHTS = JSON.parse(
  readFileSync(new URL("../../data/repair-weights.json", import.meta.url), "utf8"),
) as Readonly<Record<string, number>>;

/** Maximum depth of corrections within corrections. */
const MAX_ROUNDS = 4;

/** What is said before and behind a correction decides; of what goes on for longer, so many words are looked at. */
const WINDOW_BEFORE = 40;
const WINDOW_AFTER = 40;

/** More than any sum of weights: this reading is the one. */
const SURE_SCORE = 100;

/** What takes back all that was said. */
const TAKES_ALL_BACK = new Set("scratch forget rephrase mind streich vergiss vergeet".split(" "));

/** How a correction is most likely meant, and how clearly so. */
interface Choice {
  cue: RepairCue;
  reading: RepairReading;
  score: number;
}

const scoreOf = ({ features }: RepairCandidate) =>
  features.reduce((sum, [name, value]) => sum + (REPAIR_WEIGHTS[name] ?? 0) * value, 0);

/** Counts how many corrections are weighed, so that a text of nothing else takes no longer than one that is meant. */
export interface MendBudget {
  cues: number;
}

/**
 * A sentence without what its speaker took back: "on Tuesday, no sorry, on Wednesday" becomes "on Wednesday". Also a
 * correction at the end that belongs further ahead is put there. Each reading of each correction is scored by a
 * log-linear model (`REPAIR_WEIGHTS`) that was fitted on English; in other languages it goes by the same signs, where
 * their words are known. Costs the budget one for each place that is weighed; at none left, the rest stays as it is.
 */
export function mendSentence(text: string, language: string, budget: MendBudget): string {
  let mended = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const words = noteWords(mended, language);
    const choice = choose(words, { language, isStatement: !isQuestion(mended, words) }, budget);
    if (choice === null) break;
    mended = applyReading(mended, words, choice);
  }
  return mended;
}

/** The reading that fits best of all corrections; null where none is meant. */
function choose(
  words: readonly NoteWord[],
  { language, isStatement }: { language: string; isStatement: boolean },
  budget: MendBudget,
): Choice | null {
  let best: Choice | null = null;
  for (const cue of findRepairCues(words, language)) {
    if (budget.cues <= 0) break;
    budget.cues -= 1;
    const offset = Math.max(0, cue.from - WINDOW_BEFORE);
    const window = words.slice(offset, cue.to + WINDOW_AFTER);
    const near = { ...cue, from: cue.from - offset, to: cue.to - offset };
    const takesAllBack = words.slice(cue.from, cue.to).some(({ word }) => TAKES_ALL_BACK.has(word));
    const mayBeMeant = readingTest({ words: window, cue: near, language, takesAllBack });
    const again = takesAllBack && isStatement ? beginsAgainAt(window, near) : -1;
    for (const candidate of repairCandidates(window, near, offset === 0)) {
      if (isStatement && !mayBeMeant(candidate.reading)) continue;
      if (again !== -1 && (candidate.reading.how !== "drop" || candidate.reading.from !== again)) continue;
      const isSure =
        isStatement && candidate.reading.how === "drop" && isExchange(window, near, candidate.reading, language);
      const score = scoreOf(candidate) + (isSure ? SURE_SCORE : 0);
      if (best === null || score > best.score) best = { cue, reading: shift(candidate.reading, offset), score };
    }
  }
  return best === null || best.reading.how === "keep" ? null : best;
}

/** "Ten, no, twelve tables": a number or day set off from the one that takes its place. */
function isExchange(
  words: readonly NoteWord[],
  { from, to }: RepairCue,
  reading: { from: number },
  language: string,
): boolean {
  const [before, behind] = [words[from - 1], words[to]];
  const isSetOff = words[from]?.isSetOff === true && behind?.isSetOff === true;
  // "Eight to four, no, eight to five" says more than the last number again.
  const isLonger = words[from - 2] !== undefined && words[from - 2]?.word === words[to + 1]?.word;
  return reading.from === from - 1 && isSetOff && !isLonger && isSameKind(before, behind, language);
}

/**
 * A question begins with a word that asks, or with a verb, and ends in a question mark: "When they call, no one
 * answers."
 */
const isQuestion = (text: string, [first]: readonly NoteWord[]) =>
  (first?.kind === "ask" || first?.kind === "verb") && /\?\W*$/.test(text);

/** Index of the word that starts over after a withdrawn phrase; -1 if there is none. */
const beginsAgainAt = (words: readonly NoteWord[], { from, to }: RepairCue) =>
  words.slice(0, from).findLastIndex(({ word }) => word === words[to]?.word);

/** A reading of a part of the words, by the places of all of them. */
function shift(reading: RepairReading, by: number): RepairReading {
  if (reading.how === "drop") return { how: "drop", from: reading.from + by };
  if (reading.how === "replace") return { how: "replace", from: reading.from + by, to: reading.to + by };
  return reading;
}

/** What may stand between words that come to stand beside each other: not what divided them from what went. */
const LOOSE_END = /[\s,;:–—…-]/u;

/** The text as a reading has it. */
export function applyReading(
  text: string,
  words: readonly NoteWord[],
  { cue, reading }: Pick<Choice, "cue" | "reading">,
): string {
  if (reading.how === "keep") return text;
  const startOf = (position: number) => words[position]?.start ?? text.length;
  const endOf = (position: number) => words[position - 1]?.end ?? 0;
  if (reading.how === "replace") {
    const put = text.slice(startOf(cue.to), endOf(words.length));
    const head = text.slice(0, startOf(reading.from));
    const rest = text.slice(endOf(reading.to), endOf(cue.from));
    return `${head}${put}${rest}${text.slice(endOf(words.length))}`;
  }
  const from = reading.how === "drop" ? reading.from : cue.from;
  // The mark that ends the sentence stays where everything behind the place goes.
  const tail = cue.to >= words.length ? text.slice(endOf(words.length)) : text.slice(startOf(cue.to));
  const head = trimEnd(text.slice(0, startOf(from)), LOOSE_END);
  const between = head === "" || cue.to >= words.length ? "" : " ";
  return `${head === "" ? text.slice(0, startOf(0)) : head}${between}${tail}`;
}
