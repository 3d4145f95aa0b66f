import type { Calibration } from "./triage-model.ts";

/** What a model that has not seen a message said to it. */
export interface HeldOutScores {
  scores: Float32Array;
  /** The right class. */
  label: number;
  /** How like the closest sample of the class with the highest score it is, 0 to 1. */
  likeness: number;
}

/** Measured on projects of 3 to 150 agents with 0 to 100 examples each: best for most of them. */
const USUAL_SHARPNESS = 4;

/** How many messages it takes to move the sharpness away from the usual one. */
const PRIOR_STRENGTH = 15;

const SHARPNESS = { least: 1, most: 20 } as const;

/** Messages that are looked at for the sharpness. */
const MAX_SHARPNESS_MESSAGES = 1_000;

/** Steps of the search for the best sharpness; each narrows it to two thirds. */
const SEARCH_STEPS = 16;

/** Share of messages for the right agent that may be treated as messages for no agent. */
const LOST_SHARE = 0.005;

/** With fewer messages nothing can be said about so small a share. */
const LEAST_NONE_MESSAGES = 20;

const MOST_NONE_LEAD = 4;

/**
 * The share of messages that are less like a sample than what is called usual, and that likeness where none is known.
 */
const UNUSUAL_SHARE = 0.25;
const USUAL_LIKENESS = 0.35;

/** How many messages it takes to move the usual likeness. */
const LEAST_LIKENESS_MESSAGES = 20;

/**
 * Finds how scores become probabilities from what a model said to messages that it had not seen. `noneLabel` is the
 * class of messages for no agent, or null. Yields every few milliseconds.
 */
export function* calibrate(
  messages: readonly HeldOutScores[],
  noneLabel: number | null,
): Generator<undefined, Calibration> {
  const sharpness = yield* findSharpness(messages.slice(0, MAX_SHARPNESS_MESSAGES));
  return {
    sharpness,
    noneLead: noneLabel === null ? 0 : findNoneLead(messages, noneLabel, sharpness),
    usualLikeness: findUsualLikeness(messages.filter(({ label }) => label !== noneLabel)),
  };
}

/** The sharpness at which the right classes are likeliest (temperature scaling), by golden section. */
function* findSharpness(messages: readonly HeldOutScores[]): Generator<undefined, number> {
  const surprise = (logarithm: number): number => {
    const sharpness = Math.exp(logarithm);
    const prior = PRIOR_STRENGTH * (logarithm - Math.log(USUAL_SHARPNESS)) ** 2;
    return messages.reduce((sum, message) => sum + surpriseOf(message, sharpness), prior);
  };
  let low = Math.log(SHARPNESS.least);
  let high = Math.log(SHARPNESS.most);
  for (let step = 0; step < SEARCH_STEPS; step += 1) {
    const lower = high - (high - low) * 0.618;
    const upper = low + (high - low) * 0.618;
    if (surprise(lower) <= surprise(upper)) high = upper;
    else low = lower;
    yield;
  }
  return Math.exp((low + high) / 2);
}

function surpriseOf({ scores, label }: HeldOutScores, sharpness: number): number {
  const right = scores[label] ?? 0;
  let sum = 0;
  for (const score of scores) sum += Math.exp(sharpness * (score - right));
  return Math.log(sum);
}

/**
 * How far "none of the agents" may be behind and still be chosen. Messages for no agent are of any kind, so that a few
 * examples of them are never like the next one: they get a lead, as large as it can be while hardly any message that
 * would reach its agent is lost.
 */
function findNoneLead(messages: readonly HeldOutScores[], noneLabel: number, sharpness: number): number {
  const leads = messages
    .filter(({ label }) => label !== noneLabel)
    .flatMap(({ scores, label }) => {
      const isRight = scores.every(
        (score, other) => other === label || other === noneLabel || score < (scores[label] ?? 0),
      );
      return isRight ? [sharpness * ((scores[label] ?? 0) - (scores[noneLabel] ?? 0))] : [];
    })
    .sort((a, b) => a - b);
  if (leads.length < LEAST_NONE_MESSAGES) return 0;
  return Math.min(MOST_NONE_LEAD, Math.max(0, leads[Math.floor(leads.length * LOST_SHARE)] ?? 0));
}

function findUsualLikeness(messages: readonly HeldOutScores[]): number {
  if (messages.length < LEAST_LIKENESS_MESSAGES) return USUAL_LIKENESS;
  const sorted = messages.map(({ likeness }) => likeness).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * UNUSUAL_SHARE)] ?? USUAL_LIKENESS;
}
