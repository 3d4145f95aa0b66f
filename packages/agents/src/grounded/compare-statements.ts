import { isSameWord } from "@svc/text";
import { CONVERSIONS } from "./claim-lexicon.ts";
import type { Amount } from "./claim-lexicon.ts";
import type { Statement } from "./read-statement.ts";

/** Result of comparing a claim with the sentences that it quotes. */
export interface Comparison {
  /**
   * `same`: the quoted sentences contain each significant word, and nothing reverses their meaning. `unsure`: the words
   * alone do not decide. `different`: the claim states something else.
   */
  verdict: "same" | "unsure" | "different";
  /** Explains to an operator why the verdict is not `same`; empty if it is. */
  why: string;
}

export const SAME: Comparison = { verdict: "same", why: "" };
export const different = (why: string): Comparison => ({ verdict: "different", why });
export const unsure = (why: string): Comparison => ({ verdict: "unsure", why });
/** Order of the verdicts: higher is less alike. */
const RANK = { same: 0, unsure: 1, different: 2 } as const;

/** Languages with compound words. */
const COMPOUNDING: ReadonlySet<string> = new Set(["de", "nl", "sv", "da", "no", "nb", "nn", "fi"]);
const MIN_PART_CHARS = 5;

/** Below this share of common words, negations and restrictions may belong to another statement. */
const MIN_TURN_SHARE = 0.6;

/** A claim that omits a larger share of the quoted statement needs a second opinion. */
const MAX_DROPPED_SHARE = 1 / 3;

/** Minimum share of a condition that must accompany what it applies to. */
const MIN_CONDITION_SHARE = 0.5;

/**
 * Compares a statement with the one of its source that has most of its words; of several with as many, with the best
 * match.
 */
export function compareBest(one: Statement, statements: readonly Statement[]): Comparison {
  if (statements.length === 0) return unsure("it quotes no sentence");
  const scored = statements.map((statement) => ({ statement, score: scoreOf(one, statement) }));
  const best = Math.max(...scored.map(({ score }) => score));
  const isElliptical = ({ words, inherited, amounts, language }: Statement): boolean =>
    words.size === 0 && amounts.length > 0 && [...one.words].every(containsForm(inherited, language));
  return scored
    .filter(({ statement, score }) => score === best || isElliptical(statement))
    .map(({ statement }) => compareStatements(one, statement, statements))
    .reduce((kindest, next) => (RANK[next.verdict] < RANK[kindest.verdict] ? next : kindest));
}

/** Scores common words. The statement's own words count twice as much as those inherited from the part before it. */
function scoreOf(one: Statement, other: Statement): number {
  const holds = containsForm(other.words, other.language);
  const inherits = containsForm(other.inherited, other.language);
  const words = [...one.words].reduce((sum, word) => sum + (holds(word) ? 1 : inherits(word) ? 0.5 : 0), 0);
  const units = [...one.measures.keys()].filter((unit) => other.measures.has(unit)).length;
  return words + units + (one.marks.has("free") && other.marks.has("free") ? 1 : 0);
}

function compareStatements(one: Statement, other: Statement, all: readonly Statement[]): Comparison {
  const holds = containsForm([...other.words, ...other.inherited], other.language);
  const strays = [...one.words].filter((word) => !holds(word));
  const elsewhere = all.filter(
    (statement) => statement !== other && strays.some(containsForm(statement.words, statement.language)),
  );
  const noUnits = new Map<string, string>();
  const isIn = (amount: Amount) =>
    other.amounts.some((known) => isSameAmount(amount, known, noUnits) || known.value === amount.value);
  const strayAmounts = one.amounts.filter((amount) => !isIn(amount));
  const whyNumber = `the number ${strayAmounts[0]?.value ?? ""} is in another part of the sentence`;
  if (strayAmounts.length > 0) {
    return other.amounts.length > 0 && strayAmounts.length === one.amounts.length
      ? different(whyNumber)
      : unsure(whyNumber);
  }
  const why = `"${strays.join(", ")}" is in another part of the sentence`;
  const turned = elsewhere.filter((statement) => statement.isDenied !== other.isDenied);
  const isWhole = [...other.words].every(containsForm(one.words, one.language));
  if (turned.some((statement) => statement.isDenied !== one.isDenied)) return (isWhole ? unsure : different)(why);
  if (elsewhere.length > 0 && strays.some((word) => one.names.has(word))) return different(why);
  if (turned.length > 0) return unsure(why);
  if (one.marks.has("all") && all.some(({ isDenied }) => isDenied !== other.isDenied))
    return unsure("the quoted sentence distinguishes between cases");
  const held = one.words.size === 0 ? 1 : 1 - strays.length / one.words.size;
  return worstOf([
    weaken(
      compareTurn(
        one,
        other,
        all.some(({ isDenied }) => isDenied !== other.isDenied),
      ),
      held,
    ),
    compareMeasures(one, other),
    compareParties(one, other),
    compareCondition(one, other),
    elsewhere.length > 0 ? unsure(why) : compareDropped(one, other, strays),
  ]);
}

/** Downgrades a verdict of `different` if the statements have too little in common. */
function weaken(comparison: Comparison, share: number): Comparison {
  return comparison.verdict === "different" && share < MIN_TURN_SHARE ? unsure(comparison.why) : comparison;
}

/** Detects a day of another part of the sentence, and "every week" for "every two weeks". */
function compareMeasures(one: Statement, other: Statement): Comparison {
  const isCounted = (unit: string) => one.amounts.some((amount) => amount.unit === unit);
  const uncounted = other.amounts.find(({ unit }) => unit !== null && one.measures.has(unit) && !isCounted(unit));
  if (uncounted !== undefined) return unsure(`it lacks the number ${uncounted.value} of the quoted sentence`);
  const stray = [...one.measures.keys()].find((unit) => !other.measures.has(unit) && !isCounted(unit));
  return stray === undefined ? SAME : unsure(`"${stray}" is in another part of the sentence`);
}

/**
 * A claim that omits much, or takes its subject from a heading and omits that of the sentence, may be about something
 * else.
 */
function compareDropped(one: Statement, other: Statement, strays: readonly string[]): Comparison {
  const holds = containsForm(one.words, one.language);
  const dropped = [...other.words].filter((word) => !holds(word));
  const isOther = strays.length > 0 && other.subject !== null && !holds(other.subject);
  return isOther || dropped.length > MAX_DROPPED_SHARE * other.words.size
    ? unsure(`it lacks "${dropped.join(", ")}" of the quoted sentence`)
    : SAME;
}

/**
 * Compares negations, restrictions and limits. If another part of the sentence has a contrast, a restriction may mean
 * the same.
 */
function compareTurn(one: Statement, other: Statement, hasContrast: boolean): Comparison {
  const isRestricted = [one, other].map(({ marks }) => marks.has("only") || marks.has("except"));
  const isFree = one.marks.has("free") !== other.marks.has("free");
  if (deniesOf(one, other) !== deniesOf(other, one)) {
    const why = one.isDenied
      ? "it has a negation that the quoted sentence does not have"
      : "it lacks a negation of the quoted sentence";
    return isRestricted[0] !== isRestricted[1] || isFree ? unsure(why) : different(why);
  }
  const isConditionTurned =
    one.condition !== null && other.condition !== null && one.isConditionDenied !== other.isConditionDenied;
  if (isConditionTurned) return different("its condition is the opposite of that of the quoted sentence");
  if (isRestricted[0] === true && isRestricted[1] === true && signOf(one) !== signOf(other)) {
    const why = "it restricts what the quoted sentence does not restrict";
    return one.marks.has("only") && one.isDenied ? unsure(why) : different(why);
  }
  if (isRestricted[0] === true && isRestricted[1] === false) {
    const why = "it has a restriction that the quoted sentence does not have";
    return hasContrast || other.isDenied || other.condition !== null ? unsure(why) : different(why);
  }
  if (isRestricted[0] === false && isRestricted[1] === true) {
    const holds = containsForm(other.exception ?? [], other.language);
    return [...one.words].some(holds) && !one.isDenied
      ? different("the quoted sentence makes an exception for it")
      : unsure("it lacks a restriction of the quoted sentence");
  }
  if (one.marks.has("free") && !other.marks.has("free")) {
    const hasPrice = [...other.measures.values()].includes("money");
    return (hasPrice ? different : unsure)("it says that it is free, which the quoted sentence does not");
  }
  return compareLimits(one, other);
}

/**
 * Returns whether a statement is negated, including its condition if only one of the two has one: "not unless" is "if".
 */
function deniesOf(one: Statement, other: Statement): boolean {
  return one.condition !== null && other.condition === null ? one.isDenied !== one.isConditionDenied : one.isDenied;
}

/**
 * Returns the sign of a restriction: "all but these" equals "not only these", and "only these" equals "none but these".
 */
function signOf({ marks, isDenied }: Statement): boolean {
  return marks.has("except") !== isDenied;
}

function compareLimits(one: Statement, other: Statement): Comparison {
  const [less, more] = (["less", "more"] as const).map((mark) => [one.marks.has(mark), other.marks.has(mark)] as const);
  const isTurned =
    (more?.[0] && !less?.[0] && !more[1] && less?.[1]) || (less?.[0] && !more?.[0] && !less[1] && more?.[1]);
  const isSameLimit = one.amounts.some((amount) => other.amounts.some(({ value }) => value === amount.value));
  if (isTurned === true)
    return (isSameLimit || one.amounts.length === 0 ? different : unsure)(
      "its limit is the opposite of that of the quoted sentence",
    );
  const isLimited =
    other.marks.has("less") || other.marks.has("more") || other.condition !== null || other.marks.has("only");
  const holdsAll = containsForm(other.allOf, other.language);
  if (other.marks.has("all") && [...one.allOf].some((word) => !holdsAll(word)))
    return unsure("it makes a general claim about something else");
  if (one.marks.has("all") && !other.marks.has("all")) {
    const why = "it makes a general claim without exceptions, which the quoted sentence does not";
    return isLimited ? different(why) : unsure(why);
  }
  if (one.marks.has("even") && !other.marks.has("even")) {
    const why = "it includes what the quoted sentence does not include";
    return other.condition === null ? unsure(why) : different(why);
  }
  const isAdded = (less?.[0] && !less[1]) || (more?.[0] && !more[1]);
  if (isAdded === true) return unsure("it has a limit that the quoted sentence does not have");
  const isDropped =
    ((less?.[1] && !less[0]) || (more?.[1] && !more[0])) === true && other.amounts.some(({ unit }) => unit !== "clock");
  return isDropped ? unsure("it lacks a limit of the quoted sentence") : SAME;
}

/** Compares actors: the company, the customer and named persons must not be confused. */
function compareParties(one: Statement, other: Statement): Comparison {
  const [isWe, isYou] = (["we", "you"] as const).map((mark) => one.marks.has(mark));
  const [areWe, areYou] = (["we", "you"] as const).map((mark) => other.marks.has(mark));
  if (isWe === true && areWe === false && areYou === true) {
    return (isYou === true ? unsure : different)("the customer does that, not the company");
  }
  if (isYou === true && isWe === false && areWe === true && areYou === false) return unsure("the company does that");
  if (areWe === true && areYou === false && isWe === false && isYou === false) return SAME;
  const isAdded = (isWe === true && areWe === false) || (isYou === true && areYou === false && areWe === false);
  const holds = containsForm(one.words, one.language);
  const dropped = [...other.words].filter((word) => !holds(word) && other.condition?.has(word) !== true);
  if (!isAdded || (dropped.length === 0 && one.letsYou && isWe === false)) return SAME;
  if (dropped.length === 0) return unsure("it says who acts, which the quoted sentence does not");
  const why = `it lacks "${dropped.join(", ")}" of the quoted sentence`;
  return one.marks.has("pay") && other.marks.has("pay") ? different(why) : unsure(why);
}

/** A conditional statement must keep its condition, and no condition may be added. */
function compareCondition(one: Statement, other: Statement): Comparison {
  const added = [...(one.condition ?? [])].filter((word) => !containsForm(other.words, other.language)(word));
  if (added.length > 0) return unsure(`it has the condition "${added.join(", ")}"`);
  const condition = [...(other.condition ?? [])];
  const kept = condition.filter((word) => containsForm(one.words, one.language)(word));
  return condition.length > 0 && kept.length < MIN_CONDITION_SHARE * condition.length
    ? unsure("it lacks a condition of the quoted sentence")
    : SAME;
}

/**
 * Compares statements across languages, as a whole: whether something is negated, restricted, or limited in the other
 * direction.
 */
export function compareTurns(said: readonly Statement[], given: readonly Statement[]): Comparison {
  const [one, other] = [said[0], given[0]];
  if (said.length === 1 && given.length === 1 && one !== undefined && other !== undefined) {
    return worstOf([compareTurn(one, other, false), compareParties(one, other)]);
  }
  const denials = [said, given].map((statements) => statements.filter(({ isDenied }) => isDenied).length);
  if (denials[0] === 0 && denials[1] === given.length) return different("it lacks a negation of the quoted sentence");
  if (denials[1] === 0 && denials[0] === said.length && said.length > 0) {
    return different("it has a negation that the quoted sentence does not have");
  }
  return SAME;
}

/** Returns whether words contain another one in any of its forms; "unopened" is no form of "opened". */
export function containsForm(words: Iterable<string>, language: string): (word: string) => boolean {
  const held = [...words];
  const isPart = (part: string, whole: string) =>
    part.length >= MIN_PART_CHARS && (whole.startsWith(part) || (whole.endsWith(part) && !whole.startsWith("un")));
  const isForm = (one: string, other: string) =>
    isSameWord(one, other) ||
    (Math.min(one.length, other.length) >= 3 && (one === `${other}s` || other === `${one}s`)) ||
    (COMPOUNDING.has(language) && (isPart(one, other) || isPart(other, one)));
  return (word) =>
    held.some((one) => isForm(one, word)) ||
    (word.includes("-") && word.split("-").every((part) => held.some((one) => isForm(one, part))));
}

/** Returns the worst of the comparisons; the first of several. */
export function worstOf(comparisons: readonly Comparison[]): Comparison {
  return comparisons.reduce((worst, next) => (RANK[next.verdict] > RANK[worst.verdict] ? next : worst), SAME);
}

/** Returns whether two amounts are equal, also in other units. `units` are those of the sentences of the other. */
export function isSameAmount(one: Amount, other: Amount, units: ReadonlyMap<string, string>): boolean {
  if (one.value === other.value && (one.unit === other.unit || isUnitKnown(one, other, units))) return true;
  // A time of day is written in digits or words, with or without am or pm.
  if (one.unit === "clock" && other.unit === null)
    return one.value / 60 === other.value || one.value / 60 - 12 === other.value;
  if (other.unit === "clock" && one.unit === null)
    return other.value / 60 === one.value || other.value / 60 - 12 === one.value;
  return CONVERSIONS.some(
    ([large, small, factor]) =>
      (one.unit === large && other.unit === small && one.value * factor === other.value) ||
      (other.unit === large && one.unit === small && other.value * factor === one.value),
  );
}

/** Returns whether the unit of one amount is a unit of the other's sentence, if only one of them has a unit. */
function isUnitKnown(one: Amount, other: Amount, units: ReadonlyMap<string, string>): boolean {
  if (one.unit === null) return true;
  return other.unit === null && units.has(one.unit);
}
