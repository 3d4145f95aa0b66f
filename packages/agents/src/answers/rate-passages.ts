import { findCodes, foldAccents, tokenize } from "@svc/text";
import type { Passage, SearchResult } from "../answer.ts";
import { splitUnits } from "../passage-units.ts";
import type { Span, Unit } from "../passage-units.ts";
import { maskMarkup, showParts } from "../readable-markdown.ts";
import type { QuestionWord, ReadQuestion } from "./read-question.ts";

/** A sentence, list item, table row or code block of a passage that may be the answer. */
export interface AnswerPart {
  kind: "sentence" | "item" | "row" | "code";
  start: number;
  end: number;
  /** Index of its unit, as returned by `splitUnits`. */
  unit: number;
  /** Its words without accents, in order. */
  terms: readonly string[];
  /** For a row of a table with a header: the words of each column header. */
  heads?: readonly (readonly string[])[];
  /** For a row: the columns that a question names, or all if it names none. */
  columns?: readonly number[];
}

/** A passage with its words and the units that may answer. */
export interface ReadPassage {
  passage: Passage;
  units: readonly Unit[];
  parts: readonly AnswerPart[];
  titleTerms: readonly string[];
  headingTerms: readonly string[];
}

/** The line below the header of a table. */
const DELIMITER = /^\s*(?=[^\n]*-)[|:\- \t]+$/;

/** Lists and sentences joined by markup are split above this length. */
const MAX_JOINED_CHARS = 1_200;

/** Reads a passage as the units that may answer a question. */
function readPassage(passage: Passage): ReadPassage {
  const { text, markdown, title, headingPath } = passage;
  const shown = markdown ? maskMarkup(text) : text;
  const units = splitUnits(text, { markdown, maxJoinedChars: MAX_JOINED_CHARS });
  const part = (kind: AnswerPart["kind"], { start, end }: Span, unit: number): AnswerPart => ({
    kind,
    start,
    end,
    unit,
    terms: termsOf(shown.slice(start, end)),
  });
  const parts = units.flatMap((unit, index): AnswerPart[] => {
    if (unit.kind === "list") return unit.rows.map((row) => part("item", row, index));
    if (unit.kind === "table") {
      const { header, body } = readTable(text, unit);
      const heads = header === null ? undefined : cellsOf(shown, header).map(termsOf);
      return body.map((row) => ({ ...part("row", row, index), ...(heads === undefined ? {} : { heads }) }));
    }
    return [part(unit.kind, unit, index)];
  });
  return {
    passage,
    units,
    parts,
    titleTerms: termsOf(title),
    headingTerms: termsOf(headingPath.filter((heading) => heading !== title).join("\n")),
  };
}

/** The header of a table, if it has one, and its rows: a piece of a longer table may have rows only. */
export function readTable(text: string, { rows }: Unit): { header: Span | null; body: readonly Span[] } {
  const isDelimiter = (row: Span | undefined): boolean =>
    row !== undefined && DELIMITER.test(text.slice(row.start, row.end));
  const body = rows.filter((row) => !isDelimiter(row));
  const header = isDelimiter(rows[1]) && body.length > 1 ? body[0] : undefined;
  return header === undefined ? { header: null, body } : { header, body: body.slice(1) };
}

/** The cells of a row of a table, without the marks of Markdown that only lay them out. */
export function cellsOf(shown: string, { start, end }: Span): string[] {
  return shown
    .slice(start, end)
    .replace(/^\s*\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => showParts(cell).replaceAll("\\|", "|").trim());
}

/** The words of a text without accents, and its codes as a whole: `K-1050` is `k`, `1050` and `k1050`. */
export function termsOf(text: string): string[] {
  const folded = foldAccents(text);
  return [...tokenize(folded), ...findCodes(folded)].map(({ term }) => term);
}

/** Features for or against an answer, by name; most are shares from 0 to 1. */
export type Figures = Readonly<Record<string, number>>;

/** Positions of words in a question. */
type Positions = ReadonlySet<number>;

/** A part of a passage with its figures. */
export interface RatedPart {
  part: AnswerPart;
  figures: Figures;
  /** Positions of the question's words that the part contains, synonyms included. */
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

/** Maximum distance in a text, in words, of two adjacent words of a question. */
const MAX_PAIR_DISTANCE = 3;

/**
 * Rates the passages found for a question, and their parts: how much of the question each contains, alone, with its
 * neighbours and with its headings, verbatim and in synonyms; which words are missing; and whether it contains the kind
 * of information the question asks for. `answer-weights.json` has the weights of these figures.
 */
export function ratePassages(question: ReadQuestion, found: SearchResult): RatedPassage[] {
  const top = Math.max(...found.hits.map(({ score }) => score), Number.MIN_VALUE);
  const hitsOf = new Map<string, number>();
  for (const { documentId } of found.hits.slice(0, 10)) hitsOf.set(documentId, (hitsOf.get(documentId) ?? 0) + 1);
  const seen = new Set<string>();
  return found.hits.flatMap((passage, rank): RatedPassage[] => {
    const read = readPassage(passage);
    if (read.parts.length === 0) return [];
    const isFirst = !seen.has(passage.documentId);
    seen.add(passage.documentId);
    const rated = rateOne(question, read);
    const figures = {
      ...rated.figures,
      score: passage.score / Math.max(found.bestPossible, Number.MIN_VALUE),
      relative: passage.score / top,
      rank: Math.log(1 + rank),
      length: Math.log(1 + passage.text.length) / 7,
      documentHits: Math.min(1, (hitsOf.get(passage.documentId) ?? 0) / 5),
      firstOfDocument: isFirst ? 1 : 0,
      beginsDocument: passage.ordinal === 0 ? 1 : 0,
    };
    return [{ read, figures, parts: rated.parts }];
  });
}

/** Measures how much of a question the words of a text cover. */
function createMeasures({ words, positionsOf, synonymPositionsOf, likenessTo }: ReadQuestion) {
  const totalWeight = sum(words, ({ weight }) => weight) || 1;
  const totalRarity = sum(words, ({ rarity }) => rarity) || 1;
  return {
    totalRarity,
    likenessTo: likenessTo ?? (() => 0),
    weightOf: (positions: Positions): number => sum([...positions], (at) => words[at]?.weight ?? 0) / totalWeight,
    rarityOf: (positions: Positions): number => sum([...positions], (at) => words[at]?.rarity ?? 0) / totalRarity,
    missingRarity: (positions: Positions, isCounted: (word: QuestionWord) => boolean): number =>
      sum(words, (word, at) => (isCounted(word) && !positions.has(at) ? word.rarity : 0)) / totalRarity,
    heldBy: (terms: readonly string[]): Set<number> => new Set(terms.flatMap(positionsOf)),
    withSynonyms: (terms: readonly string[]): Set<number> =>
      new Set(terms.flatMap((term) => [...positionsOf(term), ...synonymPositionsOf(term)])),
    shareHeld: (terms: readonly string[]): number =>
      terms.length === 0 ? 0 : terms.filter((term) => positionsOf(term).length > 0).length / terms.length,
    pairs: (terms: readonly string[]): number => pairShare(words.length, positionsOf, terms),
  };
}

/** Words of a question that the title, the headings and each part of a passage contain. */
interface HeldPlaces {
  headTerms: readonly string[];
  title: Positions;
  heading: Positions;
  head: Positions;
  headAlso: Positions;
  held: readonly Positions[];
  heldAlso: readonly Positions[];
}

function rateOne(question: ReadQuestion, read: ReadPassage): { figures: Figures; parts: RatedPart[] } {
  const measures = createMeasures(question);
  const headTerms = [...read.headingTerms, ...read.titleTerms];
  const title = measures.heldBy(read.titleTerms);
  const heading = measures.heldBy(read.headingTerms);
  const positions: HeldPlaces = {
    headTerms,
    title,
    heading,
    head: union(title, heading),
    headAlso: measures.withSynonyms(headTerms),
    held: read.parts.map((part) => measures.heldBy(saidBy(part))),
    heldAlso: read.parts.map((part) => measures.withSynonyms(saidBy(part))),
  };
  const parts = read.parts.map((part, at): RatedPart => {
    const ofWords = heldFigures({ question, read, places: positions, measures }, part, at);
    const held = positions.heldAlso[at] ?? new Set();
    return { part, held, figures: { ...ofWords, ...kindFigures(question, read, part, at) } };
  });
  return { parts, figures: passageFigures({ question, read, places: positions, measures }, parts) };
}

/** Returns the words of a part; a cell includes its column header. */
function saidBy({ terms, heads = [] }: AnswerPart): readonly string[] {
  return heads.length === 0 ? terms : [...heads.flat(), ...terms];
}

interface Rating {
  question: ReadQuestion;
  read: ReadPassage;
  places: HeldPlaces;
  measures: ReturnType<typeof createMeasures>;
}

/** Returns how much of the question a part covers, alone, with its neighbours and with its headings. */
function heldFigures(
  { question: { words }, read, places: positions, measures }: Rating,
  part: AnswerPart,
  at: number,
): Figures {
  const { headTerms, head, headAlso, held, heldAlso } = positions;
  const { totalRarity, weightOf, rarityOf, missingRarity, likenessTo, pairs, shareHeld } = measures;
  const own = held[at] ?? new Set();
  const ownAlso = heldAlso[at] ?? new Set();
  const lead = read.parts.findLastIndex((other, position) => position < at && other.unit < part.unit);
  const near = union(own, head, held[at - 1], held[at + 1], held[lead]);
  const nearAlso = union(ownAlso, headAlso, heldAlso[at - 1], heldAlso[at + 1]);
  const missing = words.filter((_, position) => !nearAlso.has(position));
  const lengthNorm = 1 - SENTENCE.b + (SENTENCE.b * part.terms.length) / SENTENCE.words;
  const exact = new Set(part.terms);
  return {
    weight: weightOf(own),
    rarity: rarityOf(own),
    headWeight: weightOf(union(own, head)),
    headRarity: rarityOf(union(own, head)),
    nearWeight: weightOf(near),
    nearRarity: rarityOf(near),
    synonyms: rarityOf(ownAlso),
    nearSynonyms: rarityOf(nearAlso),
    bm25: (weightOf(own) * (SENTENCE.k1 + 1)) / (SENTENCE.k1 * lengthNorm + 1),
    pairs: pairs(part.terms),
    likeness: likenessTo(part.terms),
    headLikeness: likenessTo([...headTerms, ...part.terms]),
    exact: sum(words, ({ term, rarity }) => (exact.has(term) ? rarity : 0)) / totalRarity,
    focus: shareHeld(part.terms),
    length: Math.log(1 + part.terms.length) / 4,
    missingName: missingRarity(near, ({ isName }) => isName),
    maxMissing: Math.max(0, ...missing.map(({ rarity }) => rarity)),
    maxMissingName: Math.max(0, ...missing.map(({ rarity, isName }) => (isName ? rarity : 0))),
    missingCount: Math.min(1, missing.length / 5),
    heldCount: Math.min(1, nearAlso.size / 8),
  };
}

/** Returns the kind of text of a part, and whether it contains the kind of information the question asks for. */
function kindFigures({ kind, containsKind }: ReadQuestion, read: ReadPassage, part: AnswerPart, at: number): Figures {
  const text = read.passage.text.slice(part.start, part.end);
  const hasKind = containsKind(text, part.terms);
  return {
    isCode: part.kind === "code" ? 1 : 0,
    isRow: part.kind === "row" ? 1 : 0,
    isItem: part.kind === "item" ? 1 : 0,
    hasKind: hasKind ? 1 : 0,
    lacksKind: kind !== null && kind !== "steps" && !hasKind ? 1 : 0,
    isStep: kind === "steps" && (part.kind === "item" || /^[\s>]*\d+[.)]\s/.test(text)) ? 1 : 0,
    isFirst: at === 0 ? 1 : 0,
    asks: /[?？]\W*$/.test(text) ? 1 : 0,
  };
}

function passageFigures({ question, read, places: positions, measures }: Rating, parts: readonly RatedPart[]): Figures {
  const { words, kind } = question;
  const { headTerms, title, heading, head, headAlso, held, heldAlso } = positions;
  const { weightOf, rarityOf, missingRarity, likenessTo, pairs, shareHeld } = measures;
  const inPassage = union(head, ...held);
  const inPassageAlso = union(headAlso, ...heldAlso);
  const most = (name: string): number => Math.max(...parts.map(({ figures }) => figures[name] ?? 0));
  const shareOf = (kindOfPart: AnswerPart["kind"]): number =>
    read.parts.filter((part) => part.kind === kindOfPart).length / read.parts.length;
  const allTerms = read.parts.flatMap(({ terms }) => [...terms]);
  const best = parts.reduce((one, other) => ((other.figures["bm25"] ?? 0) > (one.figures["bm25"] ?? 0) ? other : one));
  return {
    allWeight: weightOf(inPassage),
    allRarity: rarityOf(inPassage),
    allSynonyms: rarityOf(inPassageAlso),
    titleRarity: rarityOf(title),
    headingRarity: rarityOf(heading),
    headSynonyms: rarityOf(headAlso),
    headFocus: shareHeld(headTerms),
    missingName: missingRarity(inPassage, ({ isName }) => isName),
    missingNameAlso: missingRarity(inPassageAlso, ({ isName }) => isName),
    missingCode: words.some(({ isCode }, at) => isCode && !inPassage.has(at)) ? 1 : 0,
    unknown: missingRarity(inPassageAlso, ({ isUnknown }) => isUnknown),
    unknownName: missingRarity(inPassageAlso, ({ isUnknown, isName }) => isUnknown && isName),
    pairs: pairs(allTerms),
    headLikeness: likenessTo(headTerms),
    allLikeness: likenessTo([...headTerms, ...allTerms]),
    maxLikeness: most("likeness"),
    maxHeadLikeness: most("headLikeness"),
    maxWeight: most("weight"),
    maxRarity: most("rarity"),
    maxHeadWeight: most("headWeight"),
    maxHeadRarity: most("headRarity"),
    maxNearWeight: most("nearWeight"),
    maxNearRarity: most("nearRarity"),
    maxSynonyms: most("synonyms"),
    maxNearSynonyms: most("nearSynonyms"),
    maxBm25: most("bm25"),
    maxPairs: most("pairs"),
    maxExact: most("exact"),
    maxFocus: most("focus"),
    maxHeld: most("heldCount"),
    bestHasKind: best.figures["hasKind"] ?? 0,
    lacksKind: kind !== null && kind !== "steps" && most("hasKind") === 0 ? 1 : 0,
    hasSteps: most("isStep"),
    code: shareOf("code"),
    rows: shareOf("row"),
    items: shareOf("item"),
  };
}

/** Returns the share of a question's adjacent words that are close to each other in a text. */
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

function sum<T>(items: readonly T[], of: (item: T, index: number) => number): number {
  return items.reduce((total, item, index) => total + of(item, index), 0);
}
