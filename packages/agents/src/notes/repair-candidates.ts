import type { NoteWord, WordKind } from "./note-words.ts";
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
