import { readFileSync } from "node:fs";
import { stopWords } from "@svc/text";
import { isSameKind, readingTest, repairCandidates } from "./repair-candidates.ts";
import type { RepairCandidate, RepairReading } from "./repair-candidates.ts";
import { noteWords, trimEnd, capitalOf } from "./note-words.ts";
import type { NoteWord } from "./note-words.ts";
import { findRepairCues, findFillers, pausesOf } from "./repair-cues.ts";
import type { RepairCue } from "./repair-cues.ts";

/**
 * Weights of each reading of a correction, by the names of `repair-candidates.ts`, in a log-linear model that
 * `eval/src/fit-repairs.ts` fits on the training part of Disfl-QA (Gupta et al. 2021) and a few sentences of our own.
 */
const REPAIR_WEIGHTS = JSON.parse(
  readFileSync(new URL("../../data/repair-weights.json", import.meta.url), "utf8"),
) as Readonly<Record<string, number>>;

/** Maximum depth of nested corrections. */
const MAX_ROUNDS = 4;

/** Number of words before and after a correction that are examined. */
const WINDOW_BEFORE = 40;
const WINDOW_AFTER = 40;

/** Score of a certain reading, above any sum of weights. */
const SURE_SCORE = 100;

/** Words that withdraw everything said before. */
const TAKES_ALL_BACK = new Set("scratch forget rephrase mind streich vergiss vergeet".split(" "));

/** The most likely reading of a correction, and its margin. */
interface Choice {
  cue: RepairCue;
  reading: RepairReading;
  score: number;
}

const scoreOf = ({ features }: RepairCandidate) =>
  features.reduce((sum, [name, value]) => sum + (REPAIR_WEIGHTS[name] ?? 0) * value, 0);

/** Number of corrections left to evaluate, to limit the time for a text full of them. */
interface RepairBudget {
  cues: number;
}

/**
 * Removes what a speaker took back from a sentence: "on Tuesday, no sorry, on Wednesday" becomes "on Wednesday". A
 * correction at the end is moved to the text it corrects. A log-linear model (`REPAIR_WEIGHTS`), fitted on English,
 * scores the readings of each correction; other languages use the same features if their words are supported. Each
 * evaluated position costs 1 of the budget; without budget the rest stays unchanged.
 */
function repairSentence(text: string, language: string, budget: RepairBudget): string {
  let repaired = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const words = noteWords(repaired, language);
    const choice = choose(words, { language, isStatement: !isQuestion(repaired, words) }, budget);
    if (choice === null) break;
    repaired = applyReading(repaired, words, choice);
  }
  return repaired;
}

/** Returns the best reading of all corrections; null if there is none. */
function choose(
  words: readonly NoteWord[],
  { language, isStatement }: { language: string; isStatement: boolean },
  budget: RepairBudget,
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

/** Returns whether a number or day is replaced by another one set off from it: "Ten, no, twelve tables". */
function isExchange(
  words: readonly NoteWord[],
  { from, to }: RepairCue,
  reading: { from: number },
  language: string,
): boolean {
  const [before, behind] = [words[from - 1], words[to]];
  const isSetOff = words[from]?.isSetOff === true && behind?.isSetOff === true;
  // "Eight to four, no, eight to five" repeats more than the last number.
  const isLonger = words[from - 2] !== undefined && words[from - 2]?.word === words[to + 1]?.word;
  return reading.from === from - 1 && isSetOff && !isLonger && isSameKind(before, behind, language);
}

/**
 * Returns whether a text is a question: a question word or verb first and a question mark last. "When they call, no one
 * answers."
 */
const isQuestion = (text: string, [first]: readonly NoteWord[]) =>
  (first?.kind === "ask" || first?.kind === "verb") && /\?\W*$/.test(text);

/** Returns the index of the word that starts over after a withdrawn phrase; -1 if there is none. */
const beginsAgainAt = (words: readonly NoteWord[], { from, to }: RepairCue) =>
  words.slice(0, from).findLastIndex(({ word }) => word === words[to]?.word);

/** Converts a reading of some of the words to positions in all of them. */
function shift(reading: RepairReading, by: number): RepairReading {
  if (reading.how === "drop") return { how: "drop", from: reading.from + by };
  if (reading.how === "replace") return { how: "replace", from: reading.from + by, to: reading.to + by };
  return reading;
}

/** Characters that may stay between words that become adjacent. */
const LOOSE_END = /[\s,;:–—…-]/u;

/** Applies a reading to the text. */
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
  // Final punctuation stays if everything after the position is removed.
  const tail = cue.to >= words.length ? text.slice(endOf(words.length)) : text.slice(startOf(cue.to));
  const head = trimEnd(text.slice(0, startOf(from)), LOOSE_END);
  const between = head === "" || cue.to >= words.length ? "" : " ";
  return `${head === "" ? text.slice(0, startOf(0)) : head}${between}${tail}`;
}

/** Words that may correctly be repeated. */
const SAID_TWICE = new Set(
  "that had very so no yes really bye ha is was die der das sie dass nous vous muy sí si molto sempre heel".split(" "),
);

/** Of these, a slip at the beginning of a sentence: "the man that that concerns", but not "that that man". */
const SLIPS_AT_START = new Set("that der die das dass".split(" "));

/** Maximum length of a repetition that is one slip, in words. */
const LONGEST_REPEAT = 4;

/**
 * Cleans a part of dictated notes: removes withdrawn text, filler sounds and repeated words, and capitalizes the first
 * letter. Returns it unchanged if nothing would be left.
 */
export function cleanPart(text: string, language: string, budget: RepairBudget): string {
  const repaired = repairSentence(text.replaceAll(TRANSCRIPT_MARKS, " "), language, budget);
  const cleaned = tidy(withoutRepeats(withoutPauses(repaired, language), language));
  return cleaned === ""
    ? ""
    : cleaned.replace(
        /^([^\p{L}\p{N}]*)(\p{L})/u,
        (_, before: string, letter: string) => before + capitalOf(letter, language),
      );
}

function withoutPauses(text: string, language: string): string {
  const pauses = pausesOf(language);
  const words = noteWords(text, language);
  const spans = [...words.filter(({ word }) => pauses.has(word)), ...findFillers(words, language)];
  return without(
    text,
    spans.toSorted((a, b) => a.start - b.start),
  );
}

/** Removes spans with the comma after each, and the one before it if it was between two. */
function without(text: string, spans: readonly Pick<NoteWord, "start" | "end">[]): string {
  let kept = "";
  let from = 0;
  for (const { start, end } of spans) {
    const commas = COMMAS.exec(text.slice(end, end + MAX_COMMAS))?.[0].length ?? 0;
    const before = text.slice(from, start);
    kept += commas === 0 ? before : before.replace(/[,，、،]\s*$/, " ");
    from = end + commas;
  }
  return kept + text.slice(from);
}

const COMMAS = /^[,…，、،]+/;
const MAX_COMMAS = 10;

/**
 * Removes the first occurrence of a phrase that is repeated immediately. A single word is removed only if it is not a
 * topic word: "test test" may be intended.
 */
function withoutRepeats(text: string, language: string): string {
  const words = noteWords(text, language);
  const common = stopWords(language);
  const dropped: Pick<NoteWord, "start" | "end">[] = [];
  for (let position = 0; position < words.length; position += 1) {
    for (let length = LONGEST_REPEAT; length > 0; length -= 1) {
      if (!isRepeat(words, position, length, common)) continue;
      const [first, last] = [words[position], words[position + length]];
      if (first !== undefined && last !== undefined) dropped.push({ start: first.start, end: last.start });
      position += length - 1;
      break;
    }
  }
  return without(text, dropped);
}

function isRepeat(words: readonly NoteWord[], position: number, length: number, common: ReadonlySet<string>): boolean {
  const [first] = words.slice(position, position + 1);
  if (first === undefined) return false;
  const isMeant = SAID_TWICE.has(first.word) && !(position === 0 && SLIPS_AT_START.has(first.word));
  if (length === 1 && (!common.has(first.word) || isMeant)) return false;
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [words[position + index], words[position + length + index]];
    if (one === undefined || other === undefined || one.word !== other.word) return false;
    // Numbers are repeated intentionally, as in "40 40".
    if (one.kind === "number" || other.isSetOff) return false;
  }
  return true;
}

/** Matches annotations of transcription programs: `{vocalsound}`, `[laughter]`. */
const TRANSCRIPT_MARKS =
  /\{[a-z ]{1,40}\}|\[(?:laughter|laughs|inaudible|noise|silence|pause|music|applause|crosstalk)\]/giu;

function tidy(text: string): string {
  const begun = text
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ +([,;:.!?])/g, "$1")
    .replaceAll(/,(?:\s*,)+/g, ",")
    .replace(/^[\s,;:]+/, "");
  return trimEnd(begun, /[\s,;]/).replace(/,([.!?])$/, "$1");
}
