import { calendarWords } from "./issue-facts.ts";
import { negationTest } from "./note-words.ts";
import type { NoteWord } from "./note-words.ts";
import type { RepairReading } from "./repair-candidates.ts";
import { isClearCue, pausesOf } from "./repair-cues.ts";
import type { RepairCue } from "./repair-cues.ts";

/** Number of preceding words in which a correction may repeat a word. */
const ALIKE_WITHIN = 6;
/** Number of following words in which a correction may repeat the last word: "ten minutes, no, ten hours". */
const AGAIN_WITHIN = 3;
/** Maximum distance, in words, at which "not" applies to the corrected text. */
const NEAR = 3;

/**
 * Maximum number of words that a correction removes in a statement, which may be one of many without full stops: losing
 * correct text is worse than keeping a slip. Only a correction that withdraws everything removes more.
 */
const STATEMENT_DROPS = 6;
const STATEMENT_REACH = 14;

/** Verbs of reported speech before a quoted "no". */
const SAYS = new Set(
  "say says said answer answers answered reply replies replied wrote sagt sagte sagten antwortet antwortete dit disent répond dice dicen dijo dijeron disse dicono diz dizem zegt zei zeiden mówi powiedział powiedziała говорит сказал сказала сказали каже сказав dedi diyor".split(
    " ",
  ),
);

/** Context that decides the meaning of a position in a statement. */
interface Statement {
  words: readonly NoteWord[];
  cue: RepairCue;
  language: string;
  takesAllBack: boolean;
}

/**
 * Returns a function that tests whether a reading of a position in a statement is possible. Keeping a slip does less
 * harm than removing an intended word: a reading that reverses the meaning is rejected, and an ambiguous word ("no",
 * "wait") must be set off by punctuation, or be followed by text similar to the text before it.
 */
export function readingTest(statement: Statement): (reading: RepairReading) => boolean {
  const { words, cue, language, takesAllBack } = statement;
  const isNegation = negationTest(language);
  const saysNo = words.slice(cue.from, cue.to).some(isNegation);
  const isCorrection = correctsSomething(statement);
  const put = words.slice(cue.to);
  return (reading) => {
    if (reading.how === "keep") return true;
    if (reading.how === "cue") return cue.kind === "pause" || (isCorrection && !saysNo);
    if (!isCorrection) return false;
    // Nothing can be corrected after the last word; everything can only be withdrawn.
    if (put.length === 0 && !takesAllBack) return false;
    if (takesAllBack ? reading.how === "replace" : reachesTooFar(reading, cue)) return false;
    // A remaining negation would apply to the new words.
    if (reading.how === "replace" && words.slice(reading.to, cue.from).some(isNegation)) return false;
    if (reading.how === "replace" && !fitsPosition(words, reading, put, language)) return false;
    const to = reading.how === "drop" ? cue.from : reading.to;
    return takesAllBack || keepsMeaning({ words, from: reading.from, to, put, isNegation });
  };
}

function reachesTooFar(reading: RepairReading, { from }: RepairCue): boolean {
  if (reading.how === "drop") return from - reading.from > STATEMENT_DROPS;
  return reading.how === "replace" && from - reading.from > STATEMENT_REACH;
}

/**
 * Returns whether the text at the end clearly corrects an earlier position: it begins in the same way, or is of the
 * same kind.
 */
function fitsPosition(
  words: readonly NoteWord[],
  { from, to }: { from: number; to: number },
  put: readonly NoteWord[],
  language: string,
): boolean {
  const [old, first] = [words[from], put[0]];
  if (old === undefined || first === undefined) return false;
  if (old.word === first.word) return true;
  const isOne = to - from === 1 && put.length === 1;
  return isOne && (isSameKind(old, first, language) || (from > 0 && isSameName(old, first)));
}

/** Returns whether the words that announce a correction can do so in their position. */
function correctsSomething({ words, cue, language }: Statement): boolean {
  const { from, to, kind } = cue;
  const [before, behind] = [words[from - 1], words[to]];
  if (before === undefined || (kind === "no" && SAYS.has(before.word))) return false;
  // "On Monday, no, not on Tuesday."
  if (words[to - 1]?.word === "not") return false;
  const isSetBefore = words[from]?.isSetOff === true;
  const isSetBehind = behind?.isSetOff === true || (behind === undefined && isSetBefore);
  if (isSetBefore && isSetBehind && kind !== "pause") return true;
  if (isSameKind(before, behind, language)) return true;
  // "He said no, the bill is wrong" and "no one is there, no staff": the word belongs to one side.
  if (endsInNo(words, cue, language)) return !isSetBehind && beginsAgain(words, cue);
  return isClearCue(words.slice(from, to), language) || isLike(words, cue, language);
}

/** Returns whether the last words are "no" or "not", which usually belong to what follows. */
function endsInNo(words: readonly NoteWord[], { from, to }: RepairCue, language: string): boolean {
  const isNegation = negationTest(language);
  const pauses = pausesOf(language);
  const said = words.slice(from, to).filter(({ word }) => !pauses.has(word));
  // Includes "not that" and "not this".
  return isNegation(said.at(-1)) || said.at(-2)?.word === "not";
}

const isLike = (words: readonly NoteWord[], cue: RepairCue, language: string) =>
  isSameKind(words[cue.from - 1], words[cue.to], language) ||
  isSameName(words[cue.from - 1], words[cue.to]) ||
  beginsAgain(words, cue);

/** Returns whether both are numbers, or both are days or months. */
export function isSameKind(before: NoteWord | undefined, behind: NoteWord | undefined, language: string): boolean {
  if (before === undefined || behind === undefined) return false;
  if (before.kind === "number" && behind.kind === "number") return true;
  const dates = calendarWords(language);
  return dates.has(before.word) && dates.has(behind.word);
}

const isSameName = (before: NoteWord | undefined, behind: NoteWord | undefined) =>
  before?.kind === "name" && behind?.kind === "name";

/** Returns whether the following text begins with a recent word, or soon repeats the last one. */
function beginsAgain(words: readonly NoteWord[], { from, to }: RepairCue): boolean {
  const [last, first] = [words[from - 1]?.word, words[to]?.word];
  if (first === undefined) return false;
  return (
    words.slice(Math.max(0, from - ALIKE_WITHIN), from).some(({ word }) => word === first) ||
    words.slice(to, to + AGAIN_WITHIN).some(({ word }) => word === last)
  );
}

interface Exchange {
  words: readonly NoteWord[];
  /** Start of the removed words; `to` is exclusive. */
  from: number;
  to: number;
  /** The replacement. */
  put: readonly NoteWord[];
  isNegation: (word: NoteWord | undefined) => boolean;
}

/** Returns whether a correction preserves negation: no "not" is lost, added by chance, or left before the new words. */
function keepsMeaning({ words, from, to, put, isNegation }: Exchange): boolean {
  // A negation before a pause does not apply.
  const pause = words.slice(0, from + 1).findLastIndex(({ isSetOff }) => isSetOff);
  if (words.slice(Math.max(0, pause, from - NEAR), from).some(isNegation)) return false;
  const dropped = words.slice(from, to);
  const near = put.slice(0, dropped.length + NEAR);
  const denied = dropped.filter(isNegation).length;
  const deniedAgain = near.filter(isNegation).length;
  if (denied === deniedAgain) return !isNegation(put[0]) || isNegation(dropped[0]);
  // "It is not urgent, wait, it is urgent" repeats everything except "not".
  const again = new Set(near.map(({ word }) => word));
  const isSaidAgain = dropped.every((word) => isNegation(word) || again.has(word.word));
  return isSaidAgain && dropped.length - denied > 1 && dropped[0]?.word === put[0]?.word;
}
