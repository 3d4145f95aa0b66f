import { readFileSync } from "node:fs";
import type { Passage, SearchResult } from "../answer.ts";
import { ratePassages } from "./rate-passages.ts";
import type { Figures, RatedPart, RatedPassage } from "./rate-passages.ts";
import { cellsOf, termsOf } from "./read-passages.ts";
import type { AnswerPart, ReadPassage } from "./read-passages.ts";
import type { ReadQuestion } from "./read-question.ts";

/** The weights of figures, by name. */
type Weights = Readonly<Record<string, number>>;

/** What `eval/src/fit-answers.ts` has fitted. */
export interface AnswerWeights {
  /** Which part of which passage answers. */
  choice: Weights;
  /** Whether what was chosen answers: `bias`, and the figures that `gateFigures` returns. */
  gate: Weights;
  /**
   * Which of several groups of knowledge bases a question is for, by the same figures; a wrong one has 0 on average.
   */
  route: Weights;
}

/** What is to be answered with, and how sure that is. */
export interface ChosenAnswer {
  read: ReadPassage;
  /** The part that answers, and then those that are added, in reading order. */
  best: AnswerPart;
  others: readonly AnswerPart[];
  /** 0 to 1: in how many of such cases the answer is right. */
  confidence: number;
  /** What speaks for these knowledge bases against others, in logarithms of odds; a wrong one has 0 on average. */
  routing: number;
  /** Words of the question, as they are written there, that the passage has in no form and no other word for, rarest first. */
  missing: readonly string[];
}

/** What is known of the conversation: passages to prefer, and those to leave out. */
export interface AnswerPreference {
  /** Added to what speaks for a passage; -Infinity leaves it out. */
  bonusOf?: (passage: Passage) => number;
  /** Added to what speaks for a part of a passage. */
  partBonusOf?: (passage: Passage, part: AnswerPart) => number;
  /** Parts of an answer that were said already. */
  wasSaid?: (passage: Passage, part: AnswerPart) => boolean;
}

/** Maximum length of an answer, unless its best part alone is longer, and of the parts added to it. */
const MAX_ANSWER_CHARS = 420;
const MAX_OTHER_PARTS = 2;

/** A part that speaks so much less for itself than the best one is not added to it, in logarithms of odds. */
const MAX_PART_GAP = 2.5;

/** What follows the best part in its paragraph is added up to this length. */
const MAX_FOLLOWING_CHARS = 260;

/**
 * What one standard deviation of similarity among the passages found speaks for a passage: models differ in how high
 * their similarities are, less in their order. One without an embedding counts as a little less similar than the
 * others.
 */
const SIMILARITY_BONUS = 0.6;
const UNKNOWN_SIMILARITY = -0.5;

/** Words more common than this in everyday language ("work", "want", "still") say little by their absence. */
const LEAST_MISSED_RARITY = 0.45;

/** Passages of a knowledge base whose size is not said. */
const USUAL_PASSAGES = 200;

/** A lead over the next passage beyond this says no more. */
const MAX_MARGIN = 4;

/** No answer is surer: some quote the wrong passage all the same. */
const MAX_CONFIDENCE = 0.97;

/** An answer that lacks a code of the question (a model, an error number) is about something else. */
const MAX_CONFIDENCE_WITHOUT_CODE = 0.3;

let fitted: AnswerWeights | undefined;

/** Returns the weights that the product uses; read once. */
export function answerWeights(): AnswerWeights {
  fitted ??= JSON.parse(
    readFileSync(new URL("../../data/answer-weights.json", import.meta.url), "utf8"),
  ) as AnswerWeights;
  return fitted;
}

/** Chooses what answers a question among the passages that were found for it; null when there are none. */
export function chooseAnswer(
  question: ReadQuestion,
  found: SearchResult,
  preference: AnswerPreference = {},
  weights = answerWeights(),
): ChosenAnswer | null {
  const ranked = rankPassages(ratePassages(question, found), found, weights, preference);
  const first = ranked[0];
  if (first === undefined) return null;
  const { best, others } = chooseParts(first);
  const figures = gateFigures(question, found, ranked);
  const odds = (weights.gate["bias"] ?? 0) + weigh(figures, weights.gate);
  // What holds no word of the question is no answer to it, however well its documents suit.
  const likely = best.figures["part.heldCount"] === 0 ? 0 : Math.min(1 / (1 + Math.exp(-odds)), MAX_CONFIDENCE);
  const lacksCode = first.figures["passage.missingCode"] === 1;
  return {
    read: first.read,
    best: withColumns(question, first.read, best.part),
    others: others.map((part) => withColumns(question, first.read, part)),
    confidence: lacksCode ? Math.min(likely, MAX_CONFIDENCE_WITHOUT_CODE) : likely,
    routing: (weights.route["bias"] ?? 0) + weigh(figures, weights.route),
    missing: missingWords(question, first.read),
  };
}

/** A part with what speaks for it, in logarithms of odds. */
type RankedPart = RatedPart & { value: number };

/** A passage whose parts are ranked: `value` and `best` are those of its best part. */
export interface RankedPassage extends RatedPassage {
  value: number;
  best: RankedPart;
  /** In reading order. */
  parts: readonly RankedPart[];
}

/** Ranks rated passages by their best part, best first. */
export function rankPassages(
  rated: readonly RatedPassage[],
  { hits }: Pick<SearchResult, "hits">,
  weights: Pick<AnswerWeights, "choice">,
  { bonusOf = () => 0, partBonusOf = () => 0, wasSaid = () => false }: AnswerPreference = {},
): RankedPassage[] {
  const similarityBonus = similarityBonusAmong(hits);
  return rated
    .flatMap((one): RankedPassage[] => {
      const { passage } = one.read;
      const ofPassage = weigh(one.figures, weights.choice) + bonusOf(passage) + similarityBonus(passage);
      const parts = one.parts
        .filter(({ part }) => !wasSaid(passage, part))
        .map((rated) => ({
          ...rated,
          value: ofPassage + weigh(rated.figures, weights.choice) + partBonusOf(passage, rated.part),
        }));
      const [first, ...rest] = parts;
      if (first === undefined) return [];
      const best = rest.reduce((one, other) => (other.value > one.value ? other : one), first);
      return [{ ...one, parts, best, value: best.value }];
    })
    .filter(({ value }) => value > -Infinity)
    .sort((a, b) => b.value - a.value);
}

/** Returns a function that says what its embedding speaks for a passage, among those that were found. */
function similarityBonusAmong(hits: readonly Passage[]): (passage: Passage) => number {
  const known = hits.flatMap(({ similarity }) => (similarity === undefined ? [] : [similarity]));
  if (known.length < 2) return () => 0;
  const { mean, deviation } = spreadOf(known);
  return ({ similarity }) =>
    SIMILARITY_BONUS * (similarity === undefined ? UNKNOWN_SIMILARITY : (similarity - mean) / deviation);
}

/** Returns mean and standard deviation of values; a deviation of 0 is returned as 1, so that it can divide. */
export function spreadOf(values: readonly number[]): { mean: number; deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, deviation: Math.sqrt(variance) || 1 };
}

/** Chooses the part of a passage that answers, and those to add in reading order. */
export function chooseParts({ parts, best, read }: RankedPassage): { best: RankedPart; others: AnswerPart[] } {
  const rest = parts.filter((part) => part !== best).sort((a, b) => b.value - a.value);
  let chars = lengthOf(best.part);
  const others: AnswerPart[] = [];
  for (const other of rest.slice(0, MAX_OTHER_PARTS)) {
    if (!adds(best, other, read)) continue;
    if (best.value - other.value > MAX_PART_GAP || chars + lengthOf(other.part) > MAX_ANSWER_CHARS) continue;
    chars += lengthOf(other.part);
    others.push(other.part);
  }
  const paragraphOf = ({ unit }: AnswerPart): number | undefined => read.units[unit]?.paragraph;
  for (const { part } of parts.slice(parts.indexOf(best) + 1)) {
    if (best.part.kind !== "sentence" || paragraphOf(part) !== paragraphOf(best.part)) break;
    if (others.includes(part)) continue;
    if (part.kind !== "sentence" || chars + lengthOf(part) > MAX_FOLLOWING_CHARS) break;
    chars += lengthOf(part);
    others.push(part);
  }
  return { best, others: others.sort((a, b) => a.start - b.start) };
}

/**
 * Returns whether a part may be added to the best one: it has all words of the question that the best part has, or others,
 * or stands in its paragraph. Items of another list would lack the sentence that leads to them.
 */
function adds(best: RatedPart, other: RatedPart, { units }: ReadPassage): boolean {
  if (other.part.kind === "item" && other.part.unit !== best.part.unit && other.part.unit !== best.part.unit + 1) {
    return false;
  }
  const isTogether = units[other.part.unit]?.paragraph === units[best.part.unit]?.paragraph;
  const isAsMuch = [...best.held].every((position) => other.held.has(position));
  return isTogether || isAsMuch || [...other.held].some((position) => !best.held.has(position));
}

/** Figures of a chosen part and its passage that say whether it is right. */
const GATE_FIGURES = [
  "passage.missingCode",
  "passage.unknown",
  "passage.unknownName",
  "passage.score",
  "part.softHead",
  "part.softNear",
  "part.maxMissing",
  "part.missingName",
  "part.headPrecision",
  "part.lacksKind",
  "part.lacksNot",
  "part.likeness",
  "part.exact",
  "part.focus",
  "part.heldCount",
  "part.isCode",
] as const;

/** Figures by which the chosen passage is compared with the best of the others. */
const LEAD_FIGURES = [
  "passage.score",
  "passage.nearSynonyms",
  "passage.allLikeness",
  "passage.headSynonyms",
] as const;

/**
 * What says whether the best part of the first passage answers: figures of both, its lead over other passages, the question
 * and the knowledge bases.
 */
export function gateFigures(question: ReadQuestion, found: SearchResult, ranked: readonly RankedPassage[]): Figures {
  const [first, ...rest] = ranked;
  if (first === undefined) return {};
  const elsewhere = rest.find(({ read }) => read.passage.documentId !== first.read.passage.documentId);
  const marginTo = (other: RankedPassage | undefined): number =>
    Math.min(MAX_MARGIN, first.value - (other?.value ?? -Infinity));
  const own: Figures = { ...first.figures, ...first.best.figures };
  const shareOf = (of: (passage: RankedPassage) => number): number =>
    of(first) / ranked.reduce((sum, passage) => sum + of(passage), 0);
  const oddsOf = (value: number): number => Math.exp(value - first.value);
  return {
    ...Object.fromEntries(GATE_FIGURES.map((name) => [name, own[name] ?? 0])),
    ...Object.fromEntries(
      LEAD_FIGURES.map((name) => {
        const others = rest.map(({ figures }) => figures[name] ?? 0);
        return [`lead.${name}`, (own[name] ?? 0) - (others.length === 0 ? 0 : Math.max(...others))];
      }),
    ),
    value: first.value,
    margin: marginTo(rest[0]),
    marginToOther: marginTo(elsewhere),
    share: shareOf(({ value }) => oddsOf(value)),
    partShare: shareOf(({ parts }) => parts.reduce((sum, { value }) => sum + oddsOf(value), 0)),
    passageCount: Math.log(1 + (found.passageCount ?? USUAL_PASSAGES)) / 10,
    wordCount: Math.log(1 + question.words.length),
    hasCode: question.words.some(({ isCode }) => isCode) ? 1 : 0,
    hasKind: question.kind === null ? 0 : 1,
    hasMeaning: question.likenessTo === null ? 0 : 1,
    otherLanguage: isInOtherLanguage(question, found) ? 1 : 0,
  };
}

/** Returns whether a question is clearly in a language that none of the searched documents is in. */
export function isInOtherLanguage({ language }: ReadQuestion, { languages }: SearchResult): boolean {
  return language !== null && languages !== undefined && languages.length > 0 && !languages.includes(language);
}

/** A row with the columns that a question names: by their heads, beside what the row itself holds, or by their cells. */
function withColumns(question: ReadQuestion, { passage }: ReadPassage, part: AnswerPart): AnswerPart {
  if (part.kind !== "row" || part.heads === undefined) return part;
  const positionsOf = (terms: readonly string[]): Set<number> =>
    new Set(terms.flatMap((term) => [...question.positionsOf(term), ...question.synonymPositionsOf(term)]));
  const own = positionsOf(part.terms);
  const held = part.heads.map((terms, at) =>
    at === 0
      ? 0
      : [...positionsOf(terms)].reduce(
          (sum, place) => sum + (own.has(place) ? 0 : (question.words[place]?.weight ?? 0)),
          0,
        ),
  );
  const most = Math.max(...held);
  if (most === 0) return part;
  // The cells that the question names the row by are said too.
  const holds = cellsOf(passage.text, part).map((cell) => positionsOf(termsOf(cell)).size > 0);
  return { ...part, columns: held.flatMap((value, at) => (value === most || holds[at] === true ? [at] : [])) };
}

function missingWords(question: ReadQuestion, { headingTerms, titleTerms, parts }: ReadPassage): string[] {
  const ofHeads = parts.flatMap(({ heads = [] }) => heads.flat());
  const terms = [...headingTerms, ...titleTerms, ...ofHeads, ...parts.flatMap((part) => [...part.terms])];
  const held = new Set(terms.flatMap((term) => [...question.positionsOf(term), ...question.synonymPositionsOf(term)]));
  return question.words
    .filter(({ rarity }, position) => rarity >= LEAST_MISSED_RARITY && !held.has(position))
    .sort((a, b) => b.rarity * b.weight - a.rarity * a.weight)
    .flatMap(({ said }) => said ?? []);
}

function weigh(figures: Figures, weights: Weights): number {
  let total = 0;
  for (const name in figures) total += (figures[name] ?? 0) * (weights[name] ?? 0);
  return total;
}

function lengthOf({ start, end }: AnswerPart): number {
  return end - start;
}
