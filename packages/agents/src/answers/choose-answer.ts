import { readFileSync } from "node:fs";
import type { Passage, SearchResult } from "../answer.ts";
import { findOtherFigures, isNewer, isParallel, isSamePlace } from "./find-contradiction.ts";
import { cellsOf, ratePassages, termsOf } from "./rate-passages.ts";
import type { AnswerPart, Figures, RatedPart, RatedPassage, ReadPassage } from "./rate-passages.ts";
import type { ReadQuestion } from "./read-question.ts";

/** The weights of figures, by name. */
type Weights = Readonly<Record<string, number>>;

/** Weights fitted by `eval/src/fit-answers.ts`. */
export interface AnswerWeights {
  /** Weights for choosing the passage that answers. */
  passage: Weights;
  /** Weights for choosing the part of that passage. */
  part: Weights;
  /** Weights for whether the chosen answer is right: `bias`, and the figures that `gateFigures` returns. */
  gate: Weights;
  /**
   * Weights of the same figures for choosing among several groups of knowledge bases; a wrong group scores 0 on
   * average.
   */
  route: Weights;
}

/** The chosen answer and its confidence. */
export interface ChosenAnswer {
  read: ReadPassage;
  /** The part that answers, followed by the added parts in reading order. */
  best: AnswerPart;
  others: readonly AnswerPart[];
  /** 0 to 1: the share of similar cases in which the answer is right. */
  confidence: number;
  /** Evidence for these knowledge bases over others, in log odds; a wrong one has 0 on average. */
  routing: number;
  /** Words of the question as written there that the passage has neither in any form nor as a synonym, rarest first. */
  missing: readonly string[];
  /** Whether one of these words names the topic and other documents have it ("tandem"). A row must have any telling word. */
  missesTopic: boolean;
  /** Another passage that gives other figures for the same, unless the question tells the two apart. */
  otherwise: Passage | null;
  /** Whether a table with the same columns stands below other headings, as the hours of another branch do. */
  hasParallel: boolean;
}

/** Preferences from the conversation: passages to prefer and passages to leave out. */
export interface AnswerPreference {
  /** Added to the score of a passage; -Infinity leaves it out. */
  bonusOf?: (passage: Passage) => number;
  /** Added to the score of a part of a passage. */
  partBonusOf?: (passage: Passage, part: AnswerPart) => number;
  /** Returns whether a part was already quoted. */
  wasSaid?: (passage: Passage, part: AnswerPart) => boolean;
}

/** Maximum length of an answer, unless its best part alone is longer, and of the parts added to it. */
const MAX_ANSWER_CHARS = 420;
const MAX_OTHER_PARTS = 2;

/** A part whose score is lower than the best one's by more than this is not added, in log odds. */
const MAX_PART_GAP = 2.5;

/** Maximum length of the text added after the best part, from its paragraph. */
const MAX_FOLLOWING_CHARS = 260;

/** Bonus of a passage with steps when the question asks how to do what its title or headings name. */
const STEPS_BONUS = 3;
const LEAST_TOPIC_SHARE = 0.4;

/**
 * If title and headings contain this share of a question, and the headings alone the second share, they repeat the
 * question, as in an FAQ: the text right below is the answer.
 */
const REPEATED_BY_ALL = 0.8;
const REPEATED_BY_HEADINGS = 0.4;
const BEGIN_BONUS = 1.5;

/**
 * Bonus of a passage per standard deviation of similarity among the found passages. Models differ in the level of their
 * similarities more than in their order. A passage without an embedding counts as slightly less similar than the
 * others.
 */
const SIMILARITY_BONUS = 0.6;
const UNKNOWN_SIMILARITY = -0.5;

/** A missing word that is more common than this in everyday language ("work", "want", "still") is weak evidence. */
const LEAST_MISSED_RARITY = 0.45;

/** Matches a word; a number or a letter is no topic. */
const WORD = /\p{L}{3}/u;
const LEAST_TOPIC_RARITY = 0.6;

/** Assumed number of passages of a knowledge base of unknown size. */
const USUAL_PASSAGES = 200;

/** Maximum lead over the next passage that counts. */
const MAX_MARGIN = 4;

/** Upper bound of the confidence, because some answers quote the wrong passage. */
const MAX_CONFIDENCE = 0.97;

/** Upper bound for an answer without a code of the question (a model, an error number): it is about something else. */
const MAX_CONFIDENCE_WITHOUT_CODE = 0.3;

/** Malus of a passage without a code of the question, whose answer would not be sent. */
const MISSING_CODE_MALUS = 5;

/** Malus of a passage without an amount if the question asks for a price. */
const MISSING_PRICE_MALUS = 2;

/** Bonus of a passage, and of a part, with the day of the week that a question names. */
const DAY_BONUS = 2;

/** Malus of a row about something else than another row of the same table. */
const ROW_MALUS = 4;

let fitted: AnswerWeights | undefined;

/** Returns the weights that the product uses; read once. */
export function answerWeights(): AnswerWeights {
  fitted ??= JSON.parse(
    readFileSync(new URL("../../data/answer-weights.json", import.meta.url), "utf8"),
  ) as AnswerWeights;
  return fitted;
}

/** Chooses the answer to a question among the passages found; null if there are none. */
export function chooseAnswer(
  question: ReadQuestion,
  found: SearchResult,
  { bonusOf = () => 0, partBonusOf = () => 0, wasSaid = () => false }: AnswerPreference = {},
  weights = answerWeights(),
): ChosenAnswer | null {
  const ranked = rankPassages(question, found, weights, bonusOf).flatMap((ranked) => {
    const parts = ranked.parts.filter(({ part }) => !wasSaid(ranked.read.passage, part));
    return parts.length === 0 ? [] : [{ ...ranked, parts }];
  });
  const first = ranked[0];
  if (first === undefined) return null;
  const malusOf = rowMalus(question, first.read);
  const { best, others, lead } = chooseParts(
    first,
    weights,
    (part) => partBonusOf(first.read.passage, part) + dayBonus(question, [part]) - malusOf(part),
  );
  const otherwise = findOtherFigures(
    question,
    first.read,
    best.part,
    ranked.slice(1).map(({ read }) => read),
  );
  if (otherwise !== null && isNewer(question, otherwise, first.read.passage)) {
    const isCurrent = (passage: Passage) => !isSamePlace(passage, first.read.passage);
    const preference = { bonusOf: (passage: Passage) => (isCurrent(passage) ? bonusOf(passage) : -Infinity) };
    return chooseAnswer(question, found, { ...preference, partBonusOf, wasSaid }, weights);
  }
  const figures = gateFigures(question, found, ranked, { best, lead });
  const odds = (weights.gate["bias"] ?? 0) + weigh(figures, weights.gate);
  // A passage without any word of the question does not answer it, however well its documents match.
  const likely = first.figures["maxHeld"] === 0 ? 0 : Math.min(1 / (1 + Math.exp(-odds)), MAX_CONFIDENCE);
  const lacksCode = first.figures["missingCode"] === 1;
  return {
    read: first.read,
    best: withColumns(question, first.read, best.part),
    others: others.map((part) => withColumns(question, first.read, part)),
    confidence: lacksCode ? Math.min(likely, MAX_CONFIDENCE_WITHOUT_CODE) : likely,
    routing: (weights.route["bias"] ?? 0) + weigh(figures, weights.route),
    ...missingWords(question, first.read, [best.part, ...others]),
    otherwise: otherwise !== null && isNewer(question, first.read.passage, otherwise) ? null : otherwise,
    hasParallel: ranked.slice(1).some(({ read }) => isParallel(first.read, best.part, read)),
  };
}

/**
 * Returns a malus for a row whose first cell, which says what the row is about, has only some of the question's words that
 * another row of its table has there.
 */
function rowMalus(question: ReadQuestion, { passage, parts }: ReadPassage): (part: AnswerPart) => number {
  const placesOf = (row: AnswerPart) =>
    new Set(
      termsOf(cellsOf(passage.text, row)[0] ?? "").flatMap((term) => [
        ...question.positionsOf(term),
        ...question.synonymPositionsOf(term),
      ]),
    );
  const rows = parts.flatMap((part) => (part.kind === "row" ? [{ part, places: placesOf(part) }] : []));
  const isLess = (one: ReadonlySet<number>, other: ReadonlySet<number>) =>
    one.size < other.size && [...one].every((place) => other.has(place));
  const lesser = rows.filter(({ part: { unit }, places }) =>
    rows.some((other) => other.part.unit === unit && isLess(places, other.places)),
  );
  const others = new Set(lesser.map(({ part }) => part));
  return (part) => (others.has(part) ? ROW_MALUS : 0);
}

/** Returns the bonus of parts, one of which has the day of the week that a question names. */
function dayBonus({ words, positionsOf }: ReadQuestion, parts: readonly AnswerPart[]): number {
  if (!words.some(({ isDay }) => isDay)) return 0;
  const holdsDay = (term: string) => positionsOf(term).some((position) => words[position]?.isDay === true);
  return parts.some(({ terms }) => terms.some(holdsDay)) ? DAY_BONUS : 0;
}

/** A passage with its score, in log odds. */
interface RankedPassage extends RatedPassage {
  value: number;
}

/** Ranks the passages found, best first. */
export function rankPassages(
  question: ReadQuestion,
  found: SearchResult,
  weights: AnswerWeights,
  bonusOf: (passage: Passage) => number = () => 0,
): RankedPassage[] {
  const similarityBonus = similarityBonusAmong(found.hits);
  return ratePassages(question, found)
    .map((rated) => ({
      ...rated,
      value:
        weigh(rated.figures, weights.passage) +
        bonusOf(rated.read.passage) +
        stepsBonus(rated.figures) -
        (rated.figures["missingCode"] === 1 ? MISSING_CODE_MALUS : 0) +
        dayBonus(question, rated.read.parts) -
        (question.kind === "price" && rated.figures["lacksKind"] === 1 ? MISSING_PRICE_MALUS : 0) +
        similarityBonus(rated.read.passage),
    }))
    .filter(({ value }) => value > -Infinity)
    .sort((a, b) => b.value - a.value);
}

/** Returns a function for the embedding bonus of a passage relative to the other passages found. */
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

/** Returns the bonus of a passage or part that has the steps the question asks for. */
export function stepsBonus({ hasSteps = 0, headSynonyms = 0 }: Figures): number {
  return hasSteps === 1 && headSynonyms >= LEAST_TOPIC_SHARE ? STEPS_BONUS : 0;
}

/** Chooses the part that answers and the parts to add; `lead` is its lead over the next part. */
export function chooseParts(
  { parts, read, figures: { headSynonyms = 0, headingRarity = 0 } }: RatedPassage,
  weights: AnswerWeights,
  bonusOf: (part: AnswerPart) => number = () => 0,
): { best: RatedPart; others: AnswerPart[]; lead: number } {
  const isRepeated = headSynonyms >= REPEATED_BY_ALL && headingRarity >= REPEATED_BY_HEADINGS;
  const ranked = parts
    .map((rated) => {
      const isBegin = rated.figures["isFirst"] === 1 && isRepeated;
      const bonus = stepsBonus({ hasSteps: rated.figures["isStep"] ?? 0, headSynonyms }) + (isBegin ? BEGIN_BONUS : 0);
      return { rated, value: weigh(rated.figures, weights.part) + bonus + bonusOf(rated.part) };
    })
    .sort((a, b) => b.value - a.value);
  const [first, ...rest] = ranked;
  if (first === undefined) throw new RangeError("A passage without parts has no answer.");
  let chars = lengthOf(first.rated.part);
  const others: AnswerPart[] = [];
  for (const { rated, value } of rest.slice(0, MAX_OTHER_PARTS)) {
    if (!adds(first.rated, rated, read)) continue;
    if (first.value - value > MAX_PART_GAP || chars + lengthOf(rated.part) > MAX_ANSWER_CHARS) continue;
    chars += lengthOf(rated.part);
    others.push(rated.part);
  }
  const paragraphOf = ({ unit }: AnswerPart): number | undefined => read.units[unit]?.paragraph;
  for (const { part } of parts.slice(parts.indexOf(first.rated) + 1)) {
    if (first.rated.part.kind !== "sentence" || paragraphOf(part) !== paragraphOf(first.rated.part)) break;
    if (others.includes(part)) continue;
    if (part.kind !== "sentence" || chars + lengthOf(part) > MAX_FOLLOWING_CHARS) break;
    chars += lengthOf(part);
    others.push(part);
  }
  others.sort((a, b) => a.start - b.start);
  return { best: first.rated, others, lead: Math.min(3, first.value - (rest[0]?.value ?? -Infinity)) };
}

/**
 * Returns whether a part may be added to the best one: it has all words of the question that the best part has, has
 * other words of it, or is in the same paragraph. Rows of one table are alike, so being in it is no reason to add one.
 * Items of another list would lack their introductory sentence.
 */
function adds(best: RatedPart, other: RatedPart, { units }: ReadPassage): boolean {
  if (other.part.kind === "item" && other.part.unit !== best.part.unit && other.part.unit !== best.part.unit + 1) {
    return false;
  }
  const isTogether =
    (best.part.kind !== "row" || other.part.kind !== "row") &&
    units[other.part.unit]?.paragraph === units[best.part.unit]?.paragraph;
  const isAsMuch = [...best.held].every((position) => other.held.has(position));
  return isTogether || isAsMuch || [...other.held].some((position) => !best.held.has(position));
}

/**
 * Figures for whether a chosen answer is right: of its passage and part, its lead, the question and the knowledge base.
 */
export function gateFigures(
  question: ReadQuestion,
  found: SearchResult,
  ranked: readonly RankedPassage[],
  { best, lead }: { best: RatedPart; lead: number },
): Figures {
  const [first, second] = ranked;
  if (first === undefined) return {};
  const elsewhere = ranked.find(({ read }) => read.passage.documentId !== first.read.passage.documentId) ?? second;
  const marginTo = (other: RankedPassage | undefined): number =>
    Math.min(MAX_MARGIN, first.value - (other?.value ?? -Infinity));
  const named = (prefix: string, figures: Figures) =>
    Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}.${name}`, value]));
  return {
    ...named("passage", first.figures),
    ...named("part", best.figures),
    margin: marginTo(second),
    marginToOther: marginTo(elsewhere),
    value: first.value / 5,
    partLead: lead,
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

/** Restricts a table row to the columns that a question names, by their headers or by their cells. */
function withColumns(question: ReadQuestion, { passage }: ReadPassage, part: AnswerPart): AnswerPart {
  if (part.kind !== "row" || part.heads === undefined) return part;
  const positionsOf = (terms: readonly string[]): Set<number> =>
    new Set(terms.flatMap((term) => [...question.positionsOf(term), ...question.synonymPositionsOf(term)]));
  // The header of the first column says what the rows are, so it names no other column.
  const ofRows = (part.heads[0] ?? []).flatMap((term) => [...question.positionsOf(term)]);
  const own = new Set([...positionsOf(part.terms), ...ofRows]);
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
  const cells = cellsOf(passage.text, part);
  // If there is nothing in those columns, the others show what there is.
  if (cells.every((cell, at) => held[at] !== most || /^[\s–—-]*$/.test(cell))) return part;
  // The cells by which the question identifies the row are included.
  const holds = cells.map((cell) => positionsOf(termsOf(cell)).size > 0);
  return { ...part, columns: held.flatMap((value, at) => (value === most || holds[at] === true ? [at] : [])) };
}

/** Returns what a passage does not mention. Of the rows of a table, only those that are shown count. */
function missingWords(
  question: ReadQuestion,
  { headingTerms, titleTerms, parts: all }: ReadPassage,
  shown: readonly AnswerPart[],
): Pick<ChosenAnswer, "missing" | "missesTopic"> {
  const isRow = shown[0]?.kind === "row";
  const parts = isRow ? all.filter((part) => part.kind !== "row" || shown.includes(part)) : all;
  const ofHeads = parts.flatMap(({ heads = [] }) => heads.flat());
  const terms = [...headingTerms, ...titleTerms, ...ofHeads, ...parts.flatMap((part) => [...part.terms])];
  const held = new Set(terms.flatMap((term) => [...question.positionsOf(term), ...question.synonymPositionsOf(term)]));
  const missing = question.words.filter((_, position) => !held.has(position));
  return {
    missing: missing
      .filter(({ rarity }) => rarity >= LEAST_MISSED_RARITY)
      .sort((a, b) => b.rarity * b.weight - a.rarity * a.weight)
      .flatMap(({ said }) => said ?? []),
    missesTopic: missing.some(
      ({ term, rarity, isName, isUnknown }) =>
        (isRow ? isName || !isUnknown : isName && !isUnknown) && rarity >= LEAST_TOPIC_RARITY && WORD.test(term),
    ),
  };
}

function weigh(figures: Figures, weights: Weights): number {
  let total = 0;
  for (const name in figures) total += (figures[name] ?? 0) * (weights[name] ?? 0);
  return total;
}

function lengthOf({ start, end }: AnswerPart): number {
  return end - start;
}
