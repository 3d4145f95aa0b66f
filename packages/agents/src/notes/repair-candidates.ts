import { calendarWords } from "./issue-facts.ts";
import { negationTest } from "./note-words.ts";
import type { NoteWord, WordKind } from "./note-words.ts";
import { isClearCue, pausesOf } from "./repair-cues.ts";
import type { RepairCue } from "./repair-cues.ts";

/**
 * A reading of a correction: it is none (`keep`); only the words that announce it are removed (`cue`); the words from
 * `from` on are removed as well (`drop`); or the following words replace those from `from` up to `to`, and the rest
 * stays (`replace`).
 */
export type RepairReading =
  | { how: "keep" }
  | { how: "cue" }
  | { how: "drop"; from: number }
  | { how: "replace"; from: number; to: number };

/** A reading with its features, by name. */
export interface RepairCandidate {
  reading: RepairReading;
  features: readonly (readonly [name: string, value: number])[];
}

/** Maximum number of words that a correction takes back. */
const MAX_BACK = 30;
/** Maximum length of a correction at the end that belongs to an earlier position, in words. */
const MAX_REPLACEMENT = 8;
/** Maximum number of words by which it may be longer than what it replaces. */
const MAX_LONGER = 3;

type Kinds = readonly (WordKind | undefined)[];
type Features = (readonly [name: string, value: number])[];

/** Lower bounds of the length classes, in words. */
const LENGTH_STEPS = [1, 2, 3, 4, 5, 7, 10, 14];
const stepOf = (length: number) => LENGTH_STEPS.filter((from) => length >= from).length;

/** Feature for two words that become adjacent. */
const join = (left: WordKind | undefined, right: WordKind | undefined) =>
  [`join:${left ?? "end"}>${right ?? "end"}`, 1] as const;

/** Words in most sentences, whose repetition means nothing. */
const COMMON = new Set(["of", "the", "in", "to", "a"]);

/** Returns all readings of a correction, with their features. `isWhole` is true if the words begin a sentence. */
export function repairCandidates(words: readonly NoteWord[], cue: RepairCue, isWhole: boolean): RepairCandidate[] {
  const said = words.slice(0, cue.from);
  const put = words.slice(cue.to);
  const kinds = { said: said.map(({ kind }) => kind), put: put.map(({ kind }) => kind) };
  const isStatement = !asks(words);
  const candidates: RepairCandidate[] = [
    { reading: { how: "keep" }, features: keepFeatures(words, cue) },
    {
      reading: { how: "cue" },
      features: [
        [`cue:${cue.kind}`, 1],
        ...(isStatement ? [[`cueStatement:${cue.kind}`, 1] as const] : []),
        join(kinds.said.at(-1), kinds.put[0]),
        ...(put.length === 0 ? [["cueLast", 1] as const] : []),
        ...(said.length === 0 ? [["cueFirst", 1] as const] : []),
      ],
    },
  ];
  for (let from = Math.max(0, said.length - MAX_BACK); from < said.length; from += 1) {
    candidates.push({ reading: { how: "drop", from }, features: dropFeatures({ said, put, kinds, from, isWhole }) });
  }
  if (put.length > 0 && put.length <= MAX_REPLACEMENT && said.length > 2) {
    const last = said.length - 1;
    for (let from = Math.max(0, said.length - MAX_BACK); from < said.length; from += 1) {
      for (let to = from + 1; to <= Math.min(last, from + put.length + MAX_LONGER); to += 1) {
        candidates.push({
          reading: { how: "replace", from, to },
          features: replaceFeatures({ said, put, kinds, from, to }),
        });
      }
    }
  }
  return candidates;
}

/** Returns whether words begin with a question word or a verb. */
const asks = ([first]: readonly NoteWord[]) => first?.kind === "ask" || first?.kind === "verb";

/** Features for keeping the words: a correction is more likely in a question than in a statement. */
function keepFeatures(words: readonly NoteWord[], { from, to, kind }: RepairCue): Features {
  const isSetOff = words[from]?.isSetOff === true || words[to]?.isSetOff === true;
  return [
    [`keep:${kind}`, 1],
    ...(asks(words) ? [] : [[`keepStatement:${kind}`, 1] as const]),
    ...(isSetOff ? [[`keepSetOff:${kind}`, 1] as const] : []),
  ];
}

interface Parts {
  said: readonly NoteWord[];
  put: readonly NoteWord[];
  kinds: { said: Kinds; put: Kinds };
  from: number;
}

function dropFeatures({ said, put, kinds, from, isWhole }: Parts & { isWhole: boolean }): Features {
  const dropped = said.slice(from);
  const { length } = dropped;
  const [first, second] = put;
  const firstKind = kinds.put[0];
  const before = said[from - 1];
  const features: Features = [
    ["drop", 1],
    [`drop${stepOf(length)}`, 1],
  ];
  const add = (name: string, value: number) => features.push([name, value]);
  if (from === 0 && isWhole) {
    add("restart", 1);
    add(`restart:${firstKind ?? "end"}`, 1);
    add(`restart${put.length < 3 ? put.length : put.length < 6 ? 3 : 6}`, 1);
    if (first?.isCapital === true) add("restartCapital", 1);
  } else {
    features.push(join(kinds.said[from - 1], firstKind));
    if (before !== undefined && before.word === first?.word) add("twice", 1);
    if (firstKind === "ask" && kinds.said[from] !== "ask") add("askWithin", 1);
  }
  if (first !== undefined && dropped[0]?.word === first.word) add(from === 0 ? "sameFirstOfAll" : "sameFirst", 1);
  add(firstKind !== undefined && kinds.said[from] === firstKind ? `likeFirst:${firstKind}` : "unlikeFirst", 1);
  if (second !== undefined && dropped[1]?.word === second.word) add("sameSecond", 1);
  const counterpart = put[length - 1];
  if (counterpart !== undefined && counterpart.kind === kinds.said.at(-1)) add("likeLast", 1);
  if (counterpart !== undefined && counterpart.word === dropped.at(-1)?.word) add("sameLast", 1);
  const alike = countAlike(kinds.said.slice(from), kinds.put);
  add("alike", alike / length);
  if (alike === length) add("allAlike", 1);
  const near = new Set(put.slice(0, length + 3).map(({ word }) => word));
  add("repeats", dropped.filter(({ word }) => near.has(word)).length / length);
  const anywhere = new Set(put.map(({ word }) => word));
  const left = said.slice(0, from).filter(({ word }) => anywhere.has(word) && !COMMON.has(word)).length;
  add("repeatsLeft", Math.min(3, left));
  if (put.length === 0) add("dropsAll", 1);
  if (put.length <= 2) add("shortEnd", stepOf(length));
  return features;
}

function replaceFeatures({ said, put, kinds, from, to }: Parts & { to: number }): Features {
  const replaced = said.slice(from, to);
  const last = put.length - 1;
  const [firstKind, lastKind] = [kinds.put[0], kinds.put[last]];
  const features: Features = [
    ["replaceWords", put.length],
    ["replaceLonger", Math.max(0, replaced.length - put.length)],
    ["replaceShorter", Math.max(0, put.length - replaced.length)],
  ];
  const add = (name: string, value = 1) => features.push([name, value]);
  add(kinds.said[from] === firstKind ? "replaceLikeFirst" : "replaceUnlikeFirst");
  add(kinds.said[to - 1] === lastKind ? "replaceLikeLast" : "replaceUnlikeLast");
  if (replaced[0]?.word === put[0]?.word) add("replaceSameFirst");
  if (replaced.at(-1)?.word === put[last]?.word) add("replaceSameLast");
  if (kinds.put.includes("ask")) add("replaceAsk");
  if (from === 0) add("replaceAtStart");
  const known = new Set(put.map(({ word }) => word));
  add("replaceRepeats", replaced.filter(({ word }) => known.has(word)).length);
  add("replaceAlike", countAlike(kinds.said.slice(from, to), kinds.put) / Math.max(replaced.length, put.length));
  const [left, right] = [kinds.said[from - 1], kinds.said[to]];
  if (from > 0) features.push(join(left, firstKind));
  features.push(join(lastKind, right));
  if (left === "article" && firstKind === "article") add("replaceTwoArticles");
  if (from > 0 && said[from - 1]?.word === put[0]?.word) add("replaceTwice");
  if (left === "name" && kinds.said[from] === "name") add("replaceSplitsLeft");
  if (right === "name" && kinds.said[to - 1] === "name") add("replaceSplitsRight");
  add("replaceBack", (said.length - to) / 10);
  const isOwner = (word: NoteWord | undefined) => word?.word.endsWith("'s") === true;
  if (isOwner(replaced.at(-1)) === isOwner(put[last])) add("replaceSameCase");
  return features;
}

/** Counts the words of the same kind in the same position. */
function countAlike(one: Kinds, other: Kinds): number {
  return one.filter((kind, position) => kind === other[position]).length;
}

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
