import type { Agent } from "@svc/contracts";
import { trainTriageInSlices } from "./train-triage.ts";
import { addBayesClass, countSample, samplesOf } from "./triage-model.ts";
import type { LearnedMessage, LearnedSample, TriageModel, TriageSample } from "./triage-model.ts";
import { extractFeatures, termsOf, extendFeatureSpace, toVector } from "./extract-features.ts";
import { addClass, forget, learnOne, makeRoom, unlearned } from "./linear-classifier.ts";
import { addWords, removeWords } from "./spelling.ts";

/** Samples to learn and to unlearn to bring a model up to date. */
interface SampleChanges {
  added: TriageSample[];
  removed: LearnedSample[];
}

/** The latest data of a project. */
export interface TriageKnowledge {
  agents: readonly Agent[];
  /** Messages that operators have decided; the same array while it is unchanged. */
  learned?: readonly LearnedMessage[];
}

/** The models of the projects of a process. */
export interface TriageModels {
  /**
   * Returns the model of a project with all this data, or as much as can be learned immediately; the rest follows. The
   * first call for a project waits for a model for at most 12 s; later ones take milliseconds.
   */
  modelOf(project: string, knowledge: TriageKnowledge): Promise<TriageModel>;
  /** Stops background work. */
  close(): void;
}

interface Entry {
  mark: string;
  learned: readonly LearnedMessage[];
  samples: TriageSample[];
  first: Promise<TriageModel>;
  model: TriageModel | null;
  /** Number of changes since the last full training. */
  changeCount: number;
  isTraining: boolean;
}

/**
 * Maximum number of changes that are learned immediately, at a few milliseconds each; more wait for the next full
 * training.
 */
const MAX_CHANGES_AT_ONCE = 50;

/** Share of changed samples after which a full training runs in the background. */
const RETRAINED_SHARE = 0.02;

/** Approximate memory limit of all models. */
const MAX_BYTES = 256 * 1024 * 1024;

const BYTES_OF_A_SAMPLE = 3_072;

const NONE: readonly LearnedMessage[] = [];

/**
 * Maintains a model for each project and keeps it up to date with its agents: changes are learned immediately by the
 * current model, and a new one is trained in the background, in slices of a few milliseconds. The least recently used
 * models are evicted when all of them exceed 256 MB. `onError` is called for a failed training; the current model stays
 * in use.
 */
export function openTriageModels(onError: (error: unknown) => void): TriageModels {
  const entries = new Map<string, Entry>();
  const closing = new AbortController();

  async function modelOf(project: string, { agents, learned = NONE }: TriageKnowledge): Promise<TriageModel> {
    const mark = markOf(agents);
    const known = entries.get(project);
    const entry = known ?? begin(project, mark, samplesOf(agents, learned), learned);
    // Moves it to the most recent position.
    entries.delete(project);
    entries.set(project, entry);
    const model = entry.model ?? (await entry.first);
    if (entry.mark !== mark || entry.learned !== learned) {
      Object.assign(entry, { mark, learned, samples: samplesOf(agents, learned) });
      catchUp(entry, model);
    }
    return entry.model ?? model;
  }

  function begin(project: string, mark: string, samples: TriageSample[], learned: readonly LearnedMessage[]): Entry {
    const first = trainTriageInSlices(samples, closing.signal);
    const entry: Entry = { mark, learned, samples, first, model: null, changeCount: 0, isTraining: false };
    first.then(
      (model) => {
        entry.model = model;
        dropUnused(entries);
      },
      // The waiting caller gets the error; the next call tries again.
      () => entries.delete(project),
    );
    return entry;
  }

  /** Updates a model with what has changed, and starts a full training if that was much. */
  function catchUp(entry: Entry, model: TriageModel): void {
    const changes = compareSamples(model, entry.samples);
    const count = changes.added.length + changes.removed.length;
    if (count <= MAX_CHANGES_AT_ONCE) updateTriage(model, changes);
    entry.changeCount += count;
    if (!entry.isTraining && entry.changeCount > entry.samples.length * RETRAINED_SHARE) void retrain(entry);
  }

  async function retrain(entry: Entry): Promise<void> {
    entry.isTraining = true;
    entry.changeCount = 0;
    try {
      const model = await trainTriageInSlices(entry.samples, closing.signal);
      entry.model = model;
      entry.isTraining = false;
      catchUp(entry, model);
    } catch (error) {
      entry.isTraining = false;
      if (!closing.signal.aborted) onError(error);
    }
  }

  return { modelOf, close: () => closing.abort() };
}

/** Returns a key that changes when any of the agents does. */
function markOf(agents: readonly Agent[]): string {
  return agents.map(({ id, version, enabled }) => `${id}:${version}:${enabled}`).join(" ");
}

function dropUnused(entries: Map<string, Entry>): void {
  let total = 0;
  for (const [project, { model }] of [...entries].reverse()) {
    if (model === null) continue;
    total += bytesOf(model);
    if (total > MAX_BYTES && total > bytesOf(model)) entries.delete(project);
  }
}

function bytesOf({ linear, bayes, samples }: TriageModel): number {
  const sampleCount = samples.reduce((sum, ofClass) => sum + ofClass.length, 0);
  return linear.weights.byteLength + bayes.counts.byteLength + sampleCount * BYTES_OF_A_SAMPLE;
}

/** Compares the samples that a model knows with those it should know. Duplicates are counted. */
export function compareSamples(model: TriageModel, samples: readonly TriageSample[]): SampleChanges {
  const known = new Map<string, LearnedSample[]>();
  for (const sample of model.samples.flat()) known.set(keyOf(sample), [...(known.get(keyOf(sample)) ?? []), sample]);
  const added = samples.filter((sample) => known.get(keyOf(sample))?.pop() === undefined);
  return { added, removed: [...known.values()].flat() };
}

/**
 * Learns and unlearns samples, in about a millisecond each: an added text or a new agent is known immediately. Only a
 * full training determines the calibration and the rare features. Changes `model`.
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
