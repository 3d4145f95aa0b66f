import type { SearchResult } from "../answer.ts";
import { isNegation } from "./is-negation.ts";
import { readPassage, termsOf } from "./read-passages.ts";
import type { AnswerPart, ReadPassage } from "./read-passages.ts";
import type { QuestionWord, ReadQuestion } from "./read-question.ts";

/** Figures that speak for or against an answer, by name (`passage.` or `part.` and a word); most are shares from 0 to 1. */
export type Figures = Readonly<Record<string, number>>;

/** Places of words in a question. */
type Positions = ReadonlySet<number>;

/** A part of a passage with its figures. */
export interface RatedPart {
  part: AnswerPart;
  figures: Figures;
  /** Places of the question's words that it holds, also in other words. */
  held: Positions;
}

/** A passage with its figures and those of its parts. */
export interface RatedPassage {
  read: ReadPassage;
  figures: Figures;
  parts: readonly RatedPart[];
}

/** BM25's constants for a sentence, and the usual length of one in words. */
const SENTENCE = { k1: 1.2, b: 0.75, words: 20 } as const;

/** Words of a question that stand at most this many words apart in a text belong together there. */
const MAX_PAIR_DISTANCE = 3;

/** What a synonym counts against the word itself, and from which likeness of meaning on another word counts up to that. */
const SYNONYM_SHARE = 0.8;
const LEAST_CLOSENESS = 0.4;

/** A text right below a heading answers it, each further part less. */
const BELOW_HEADING = 0.3;

/** A word of a heading that is common in everyday language counts at least this much. */
const LEAST_HEADING_RARITY = 0.02;

/** A line that says what the text below it is about: a question, a term in bold, a lead-in. */
const LEADS = /(?:[?？]\W*|\*\*|:)$/;

/**
 * Rates the passages that a search found for a question, and their parts: how much of the question each holds, by itself,
 * with its neighbours and with its headings, in the question's words and in others; which of its words are missing; and
 * whether it has the kind of thing that is asked for. The figures are what `answer-weights.json` weighs.
 */
export function ratePassages(question: ReadQuestion, found: SearchResult): RatedPassage[] {
  const top = Math.max(...found.hits.map(({ score }) => score), Number.MIN_VALUE);
  const hitsOf = new Map<string, number>();
  for (const { documentId } of found.hits.slice(0, 10)) hitsOf.set(documentId, (hitsOf.get(documentId) ?? 0) + 1);
  const seen = new Set<string>();
  const measures = createMeasures(question);
  return found.hits.flatMap((passage, rank): RatedPassage[] => {
    const read = readPassage(passage);
    if (read.parts.length === 0) return [];
    const isFirst = !seen.has(passage.documentId);
    seen.add(passage.documentId);
    const rated = rateOne(question, read, measures);
    const figures = {
      ...rated.figures,
      "passage.score": passage.score / Math.max(found.bestPossible, Number.MIN_VALUE),
      "passage.relative": passage.score / top,
      "passage.rank": Math.log(1 + rank),
      "passage.length": Math.log(1 + passage.text.length) / 7,
      "passage.documentHits": Math.min(1, (hitsOf.get(passage.documentId) ?? 0) / 5),
      "passage.firstOfDocument": isFirst ? 1 : 0,
      "passage.beginsDocument": passage.ordinal === 0 ? 1 : 0,
    };
    return [{ read, figures, parts: rated.parts }];
  });
}

/** How much of each word of the question a text holds: 1 for the word, less for one of like meaning, 0 for none. */
type Closeness = readonly number[];

/** How much of a question words of a text hold. */
function createMeasures({
  words,
  positionsOf,
  synonymPositionsOf,
  likenessTo,
  closenessTo,
  rarityOf: rarityOfTerm,
}: ReadQuestion) {
  const shareOf = (values: readonly number[]) => {
    const total = sum(values, (value) => value) || 1;
    return (positions: Positions): number => sum([...positions], (at) => values[at] ?? 0) / total;
  };
  const rarities = words.map(({ rarity }) => rarity);
  const totalRarity = sum(rarities, (rarity) => rarity) || 1;
  // What a word tells: it is rare both in the knowledge bases and in everyday language.
  const tells = words.map(({ weight, rarity }) => weight * rarity);
  const totalTell = sum(tells, (tell) => tell) || 1;
  const tellOf = shareOf(tells);
  const holds = (term: string): boolean => positionsOf(term).length > 0 || synonymPositionsOf(term).length > 0;
  const withSynonyms = (terms: readonly string[]): Set<number> =>
    new Set(terms.flatMap((term) => [...positionsOf(term), ...synonymPositionsOf(term)]));
  return {
    totalRarity,
    likenessTo: likenessTo ?? (() => 0),
    weightOf: shareOf(words.map(({ weight }) => weight)),
    rarityOf: shareOf(rarities),
    tellOf,
    missingRarity: (positions: Positions, isCounted: (word: QuestionWord) => boolean): number =>
      sum(words, (word, at) => (isCounted(word) && !positions.has(at) ? word.rarity : 0)) / totalRarity,
    heldBy: (terms: readonly string[]): Set<number> => new Set(terms.flatMap(positionsOf)),
    withSynonyms,
    shareHeld: (terms: readonly string[]): number =>
      terms.length === 0 ? 0 : terms.filter((term) => positionsOf(term).length > 0).length / terms.length,
    pairs: (terms: readonly string[]): number => pairShare(words.length, positionsOf, terms),
    closenessOf(terms: readonly string[]): Closeness {
      const most = words.map(() => 0);
      const raise = (at: number, value: number): void => {
        most[at] = Math.max(most[at] ?? 0, value);
      };
      for (const term of terms) {
        for (const at of positionsOf(term)) raise(at, 1);
        for (const at of synonymPositionsOf(term)) raise(at, SYNONYM_SHARE);
        for (const [at, value] of (closenessTo?.(term) ?? []).entries())
          raise(at, (SYNONYM_SHARE * (value - LEAST_CLOSENESS)) / (1 - LEAST_CLOSENESS));
      }
      return most;
    },
    closeShare: (closeness: Closeness): number =>
      sum(tells, (tell, at) => tell * (closeness[at] ?? 0)) / totalTell,
    /** What the word that is missing most tells of the question. */
    mostMissing: (closeness: Closeness): number =>
      Math.max(0, ...tells.map((tell, at) => tell * (1 - (closeness[at] ?? 0)))) / totalTell,
    /** How much a heading and the question are the same: the harmonic mean of what each holds of the other. */
    matchOf(terms: readonly string[]): HeadingMatch {
      const recall = tellOf(withSynonyms(terms));
      const rarity = (term: string): number => Math.max(rarityOfTerm(term), LEAST_HEADING_RARITY);
      const precision = sum(terms.filter(holds), rarity) / (sum(terms, rarity) || 1);
      return { match: (2 * recall * precision) / (recall + precision || 1), recall, precision };
    },
  };
}

type Measures = ReturnType<typeof createMeasures>;

interface HeadingMatch {
  match: number;
  recall: number;
  precision: number;
}

const NO_MATCH: HeadingMatch = { match: 0, recall: 0, precision: 0 };

/** What the title, the headings and each part of a passage hold of a question. */
interface HeldPlaces {
  headTerms: readonly string[];
  title: Positions;
  head: Positions;
  headAlso: Positions;
  headCloseness: Closeness;
  headMatch: HeadingMatch;
  held: readonly Positions[];
  heldAlso: readonly Positions[];
  closeness: readonly Closeness[];
}

interface Rating {
  question: ReadQuestion;
  read: ReadPassage;
  places: HeldPlaces;
  measures: Measures;
}

function rateOne(
  question: ReadQuestion,
  read: ReadPassage,
  measures: Measures,
): { figures: Figures; parts: RatedPart[] } {
  const { passage, titleTerms, headingTerms } = read;
  const headTerms = [...headingTerms, ...titleTerms];
  const title = measures.heldBy(titleTerms);
  const said = read.parts.map(saidBy);
  const places: HeldPlaces = {
    headTerms,
    title,
    head: union(title, measures.heldBy(headingTerms)),
    headAlso: measures.withSynonyms(headTerms),
    headCloseness: measures.closenessOf(headTerms),
    headMatch: [...passage.headingPath, passage.title]
      .map((line) => measures.matchOf(termsOf(line)))
      .reduce((one, other) => (other.match > one.match ? other : one), NO_MATCH),
    held: said.map(measures.heldBy),
    heldAlso: said.map(measures.withSynonyms),
    closeness: said.map(measures.closenessOf),
  };
  const rating = { question, read, places, measures };
  const parts = read.parts.map((part, at): RatedPart => {
    const figures = { ...heldFigures(rating, part, at), ...headingFigures(rating, at), ...kindFigures(rating, part, at) };
    return { part, held: places.heldAlso[at] ?? new Set(), figures };
  });
  return { parts, figures: passageFigures(rating, parts) };
}

/** The words of a part; a cell is said under the head of its column. */
function saidBy({ terms, heads = [] }: AnswerPart): readonly string[] {
  return heads.length === 0 ? terms : [...heads.flat(), ...terms];
}

/** How much of the question a part holds, by itself, with its neighbours and with its headings. */
function heldFigures({ question: { words }, read, places, measures }: Rating, part: AnswerPart, at: number): Figures {
  const { headTerms, head, headAlso, headCloseness, held, heldAlso, closeness } = places;
  const { totalRarity, weightOf, rarityOf, tellOf, likenessTo, closeShare } = measures;
  const own = held[at] ?? new Set();
  const ownAlso = heldAlso[at] ?? new Set();
  const lead = read.parts.findLastIndex((other, position) => position < at && other.unit < part.unit);
  const near = union(own, head, held[at - 1], held[at + 1], held[lead]);
  const nearAlso = union(ownAlso, headAlso, heldAlso[at - 1], heldAlso[at + 1]);
  const ownCloseness = closeness[at] ?? [];
  const nearCloseness = most(ownCloseness, headCloseness, closeness[at - 1], closeness[at + 1], closeness[lead]);
  const lengthNorm = 1 - SENTENCE.b + (SENTENCE.b * part.terms.length) / SENTENCE.words;
  const exact = new Set(part.terms);
  return {
    "part.synonyms": rarityOf(ownAlso),
    "part.nearSynonyms": rarityOf(nearAlso),
    "part.headWeight": weightOf(union(own, head)),
    "part.nearWeight": weightOf(near),
    "part.tell": tellOf(own),
    "part.tellAlso": tellOf(ownAlso),
    "part.tellHead": tellOf(union(ownAlso, headAlso)),
    "part.tellNear": tellOf(nearAlso),
    "part.softOwn": closeShare(ownCloseness),
    "part.softHead": closeShare(most(ownCloseness, headCloseness)),
    "part.softNear": closeShare(nearCloseness),
    "part.maxMissing": measures.mostMissing(nearCloseness),
    "part.missingName": measures.missingRarity(near, ({ isName }) => isName),
    "part.heldCount": Math.min(1, nearAlso.size / 8),
    "part.bm25": (weightOf(own) * (SENTENCE.k1 + 1)) / (SENTENCE.k1 * lengthNorm + 1),
    "part.pairs": measures.pairs(part.terms),
    "part.likeness": likenessTo(part.terms),
    "part.headLikeness": likenessTo([...headTerms, ...part.terms]),
    "part.exact": sum(words, ({ term, rarity }) => (exact.has(term) ? rarity : 0)) / totalRarity,
    "part.focus": measures.shareHeld(part.terms),
    "part.length": Math.log(1 + part.terms.length) / 4,
  };
}

/** How much the headings, or the line right above a part, repeat the question: then what stands below answers it. */
function headingFigures({ read: { parts, passage }, places: { headMatch }, measures }: Rating, at: number): Figures {
  const previous = parts[at - 1];
  const isLed =
    previous?.kind === "sentence" && LEADS.test(passage.text.slice(previous.start, previous.end).trim());
  const above = isLed ? measures.matchOf(previous.terms).match : 0;
  return {
    "part.headMatch": headMatch.match,
    "part.headRecall": headMatch.recall,
    "part.headPrecision": headMatch.precision,
    "part.beginMatch": Math.max(headMatch.match / (1 + BELOW_HEADING * at), above),
  };
}

/** What kind of text a part is, and whether it has the kind of thing that is asked for. */
function kindFigures({ question, read }: Rating, part: AnswerPart, at: number): Figures {
  const { kind, holdsKind, isNegated } = question;
  const text = read.passage.text.slice(part.start, part.end);
  const hasKind = holdsKind(text, part.terms);
  const hasNegation = isNegation(text);
  return {
    "part.isCode": part.kind === "code" ? 1 : 0,
    "part.isRow": part.kind === "row" ? 1 : 0,
    "part.isItem": part.kind === "item" ? 1 : 0,
    "part.hasKind": hasKind ? 1 : 0,
    "part.lacksKind": kind !== null && kind !== "steps" && !hasKind ? 1 : 0,
    "part.isStep": kind === "steps" && (part.kind === "item" || /^[\s>]*\d+[.)]\s/.test(text)) ? 1 : 0,
    "part.isFirst": at === 0 ? 1 : 0,
    "part.asks": /[?？]\W*$/.test(text) ? 1 : 0,
    "part.lacksNot": isNegated && !hasNegation ? 1 : 0,
    "part.hasNot": !isNegated && hasNegation ? 1 : 0,
  };
}

function passageFigures({ question, read, places, measures }: Rating, parts: readonly RatedPart[]): Figures {
  const { words, kind } = question;
  const { headTerms, title, head, headAlso, held, heldAlso } = places;
  const { rarityOf, missingRarity, likenessTo } = measures;
  const inPassage = union(head, ...held);
  const inPassageAlso = union(headAlso, ...heldAlso);
  const allTerms = read.parts.flatMap(({ terms }) => [...terms]);
  const hasKind = parts.some(({ figures }) => figures["part.hasKind"] === 1);
  return {
    "passage.allSynonyms": rarityOf(inPassageAlso),
    "passage.titleRarity": rarityOf(title),
    "passage.headSynonyms": rarityOf(headAlso),
    "passage.missingCode": words.some(({ isCode }, at) => isCode && !inPassage.has(at)) ? 1 : 0,
    "passage.unknown": missingRarity(inPassageAlso, ({ isUnknown }) => isUnknown),
    "passage.unknownName": missingRarity(inPassageAlso, ({ isUnknown, isName }) => isUnknown && isName),
    "passage.pairs": measures.pairs(allTerms),
    "passage.headLikeness": likenessTo(headTerms),
    "passage.allLikeness": likenessTo([...headTerms, ...allTerms]),
    "passage.nearSynonyms": Math.max(...parts.map(({ figures }) => figures["part.nearSynonyms"] ?? 0)),
    "passage.lacksKind": kind !== null && kind !== "steps" && !hasKind ? 1 : 0,
  };
}

/** The share of a question's neighbouring words that stand near each other in a text. */
function pairShare(count: number, positionsOf: (term: string) => readonly number[], terms: readonly string[]): number {
  if (count < 2) return 0;
  const found = new Set<string>();
  let last = -1;
  let lastAt = -1;
  for (const [at, term] of terms.entries()) {
    const position = positionsOf(term)[0];
    if (position === undefined) continue;
    if (last !== -1 && last !== position && at - lastAt <= MAX_PAIR_DISTANCE) {
      found.add(`${Math.min(last, position)} ${Math.max(last, position)}`);
    }
    last = position;
    lastAt = at;
  }
  return Math.min(1, found.size / (count - 1));
}

function union(...sets: readonly (Positions | undefined)[]): Set<number> {
  return new Set(sets.flatMap((set) => [...(set ?? [])]));
}

/** The highest of several values of each word. */
function most(first: Closeness, ...others: readonly (Closeness | undefined)[]): Closeness {
  return first.map((value, at) => Math.max(value, ...others.map((other) => other?.[at] ?? 0)));
}

function sum<T>(items: readonly T[], of: (item: T, index: number) => number): number {
  return items.reduce((total, item, index) => total + of(item, index), 0);
}
