import { extractFeatures, termsOf } from "./extract-features.ts";
import { extendFeatureSpace, toVector } from "./feature-space.ts";
import { addClass, forget, learnOne, makeRoom, unlearned } from "./linear-classifier.ts";
import { addBayesClass, countSample } from "./naive-bayes.ts";
import { addWords, removeWords } from "./spelling.ts";
import type { LearnedSample, TriageModel } from "./triage-model.ts";
import type { TriageSample } from "./triage-sample.ts";

/** What has to be learned and unlearned for a model to know other samples than it does. */
export interface SampleChanges {
  added: TriageSample[];
  removed: LearnedSample[];
}

/** Compares what a model knows with what it is to know. A sample that stands there twice counts twice. */
export function compareSamples(model: TriageModel, samples: readonly TriageSample[]): SampleChanges {
  const known = new Map<string, LearnedSample[]>();
  for (const sample of model.samples.flat()) known.set(keyOf(sample), [...(known.get(keyOf(sample)) ?? []), sample]);
  const added = samples.filter((sample) => known.get(keyOf(sample))?.pop() === undefined);
  return { added, removed: [...known.values()].flat() };
}

/**
 * Lets a model learn and unlearn samples, in about a millisecond each: a text that was added is known from then on, a
 * new agent too. How sure the model may be, and which features are rare, is found anew only when all is learned anew.
 * Changes `model`.
 */
export function updateTriage(model: TriageModel, { added, removed }: SampleChanges): void {
  for (const sample of removed) unlearn(model, sample);
  const gone = new Set(removed);
  model.samples = model.samples.map((samples) => samples.filter((sample) => !gone.has(sample)));
  for (const sample of added) learn(model, sample);
}

function learn(model: TriageModel, sample: TriageSample): void {
  const terms = termsOf(sample.text);
  const features = extractFeatures(terms);
  extendFeatureSpace(model.space, features);
  makeRoom(model.linear, model.space.idf.length);
  const label = labelOf(model, sample.agentId);
  const learned = { ...sample, terms, ...unlearned(toVector(model.space, features), label) };
  addWords(model.spelling, terms);
  countSample(model.bayes, learned.vector, label, 1);
  learnOne(model.linear, learned);
  model.samples[label]?.push(learned);
}

function unlearn(model: TriageModel, sample: LearnedSample): void {
  removeWords(model.spelling, sample.terms);
  countSample(model.bayes, sample.vector, sample.label, -1);
  forget(model.linear, sample);
}

function labelOf(model: TriageModel, agentId: string | null): number {
  const label = model.classes.indexOf(agentId);
  if (label !== -1) return label;
  model.classes.push(agentId);
  addBayesClass(model.bayes);
  const added = addClass(model.linear, model.samples.flat());
  model.samples.push([]);
  return added;
}

function keyOf({ agentId, text, isPurpose }: TriageSample): string {
  return JSON.stringify([agentId, isPurpose, text]);
}
