import { calendarWords } from "./issue-facts.ts";
import { negationTest } from "./repair-words.ts";
import type { NoteWord } from "./note-words.ts";
import type { RepairReading } from "./repair-candidates.ts";
import { isClearCue, pausesOf } from "./repair-cues.ts";
import type { RepairCue } from "./repair-cues.ts";

/** So far back a word is looked for that a correction begins with again. */
const ALIKE_WITHIN = 6;
/** So far behind its beginning a correction may say the last word again: "ten minutes, no, ten hours". */
const AGAIN_WITHIN = 3;
/** A "not" so many words ahead of what is put right still says it of that. */
const NEAR = 3;

/**
 * In a statement, which may be one of many in a row without a full stop, a correction reaches back so many words at
 * most: what is lost of it is worse than a slip that stays. Only what takes back all that was said reaches further.
 */
const STATEMENT_DROPS = 6;
const STATEMENT_REACH = 14;

/** Before a "no" that somebody said. */
const SAYS = new Set(
  "say says said answer answers answered reply replies replied wrote sagt sagte sagten antwortet antwortete dit disent répond dice dicen dijo dijeron disse dicono diz dizem zegt zei zeiden mówi powiedział powiedziała говорит сказал сказала сказали каже сказав dedi diyor".split(
    " ",
  ),
);

/** What of a statement and a place in it decides how the place may be meant. */
interface Statement {
  words: readonly NoteWord[];
  cue: RepairCue;
  language: string;
  takesAllBack: boolean;
}

/**
 * Returns a function that says which readings a place in a statement may have at all. A slip that stays does less harm
 * than a word that goes and was meant: what turns the meaning round stays in any case, and a word that mostly means
 * itself ("no", "wait") has to be set off by the writing, or by what follows being like what came before.
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
    // Behind the last word nothing is put right; only all of it can be taken back.
    if (put.length === 0 && !takesAllBack) return false;
    if (takesAllBack ? reading.how === "replace" : reachesTooFar(reading, cue)) return false;
    // What stays behind the place would deny the new words.
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
 * Whether what is said at the end is surely meant for a place further ahead: it begins as that does, or is one of its
 * kind.
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

/** Whether what announces a correction can do so where it stands. */
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

/** Whether the last words say "no" or "not", which mostly belongs to what follows. */
function endsInNo(words: readonly NoteWord[], { from, to }: RepairCue, language: string): boolean {
  const isNegation = negationTest(language);
  const pauses = pausesOf(language);
  const said = words.slice(from, to).filter(({ word }) => !pauses.has(word));
  // Also "not that" and "not this".
  return isNegation(said.at(-1)) || said.at(-2)?.word === "not";
}

const isLike = (words: readonly NoteWord[], cue: RepairCue, language: string) =>
  isSameKind(words[cue.from - 1], words[cue.to], language) ||
  isSameName(words[cue.from - 1], words[cue.to]) ||
  beginsAgain(words, cue);

/** Two numbers, or two days or months. */
export function isSameKind(before: NoteWord | undefined, behind: NoteWord | undefined, language: string): boolean {
  if (before === undefined || behind === undefined) return false;
  if (before.kind === "number" && behind.kind === "number") return true;
  const dates = calendarWords(language);
  return dates.has(before.word) && dates.has(behind.word);
}

const isSameName = (before: NoteWord | undefined, behind: NoteWord | undefined) =>
  before?.kind === "name" && behind?.kind === "name";

/** Whether what follows begins with a word that was just said, or soon says the last one again. */
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
  /** What is left out: up to and without `to`. */
  from: number;
  to: number;
  /** What stands in its place. */
  put: readonly NoteWord[];
  isNegation: (word: NoteWord | undefined) => boolean;
}

/**
 * Whether as much is denied afterwards as was meant: no "not" is lost, put in by chance, or left where it denies the
 * new.
 */
function keepsMeaning({ words, from, to, put, isNegation }: Exchange): boolean {
  // What a pause divides from it does not deny it.
  const pause = words.slice(0, from + 1).findLastIndex(({ isSetOff }) => isSetOff);
  if (words.slice(Math.max(0, pause, from - NEAR), from).some(isNegation)) return false;
  const dropped = words.slice(from, to);
  const near = put.slice(0, dropped.length + NEAR);
  const denied = dropped.filter(isNegation).length;
  const deniedAgain = near.filter(isNegation).length;
  if (denied === deniedAgain) return !isNegation(put[0]) || isNegation(dropped[0]);
  // "It is not urgent, wait, it is urgent" says all of it again, but for the "not".
  const again = new Set(near.map(({ word }) => word));
  const isSaidAgain = dropped.every((word) => isNegation(word) || again.has(word.word));
  return isSaidAgain && dropped.length - denied > 1 && dropped[0]?.word === put[0]?.word;
}
