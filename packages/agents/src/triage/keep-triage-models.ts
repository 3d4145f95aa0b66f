import type { Agent } from "@svc/contracts";
import { trainTriageInSlices } from "./train-triage.ts";
import { samplesOf } from "./triage-model.ts";
import type { LearnedMessage, TriageSample, TriageModel, LearnedSample } from "./triage-model.ts";
import { extractFeatures, termsOf } from "./extract-features.ts";
import { extendFeatureSpace, toVector } from "./feature-space.ts";
import { addClass, forget, learnOne, makeRoom, unlearned } from "./linear-classifier.ts";
import { addBayesClass, countSample } from "./naive-bayes.ts";
import { addWords, removeWords } from "./spelling.ts";

/** What has to be learned and unlearned for a model to know other samples than it does. */
interface SampleChanges {
  added: TriageSample[];
  removed: LearnedSample[];
}

/** What is known of a project, as it was read last. */
export interface TriageKnowledge {
  agents: readonly Agent[];
  /** Messages that operators have decided; the same array as long as it has not changed. */
  learned?: readonly LearnedMessage[];
}

/** The models of the projects that a process works for. */
export interface TriageModels {
  /**
   * The model of a project that knows all of this, or as much of it as can be learned at once; the rest follows. The
   * first call for a project waits until there is a model, at most 12 s; later ones take milliseconds.
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
  /** What has been learned since all was learned together. */
  changeCount: number;
  isTraining: boolean;
}

/**
 * Maximum number of changes that are learned at once, at a few milliseconds each; more wait for the next full training.
 */
const MAX_CHANGES_AT_ONCE = 50;

/** Share of changed samples after which a full training runs in the background. */
const RETRAINED_SHARE = 0.02;

/** Memory that all models take together, about. */
const MAX_BYTES = 256 * 1024 * 1024;

const BYTES_OF_A_SAMPLE = 3_072;

const NONE: readonly LearnedMessage[] = [];

/**
 * Keeps a model for each project, in step with its agents: what changes is learned at once by the model that there is,
 * and a new one is trained in the background, in slices of a few milliseconds. The models that were not used for the
 * longest time go when all together take more than 256 MB. `onError` hears of a training that failed; the model that
 * there is stays in use.
 */
export function keepTriageModels(onError: (error: unknown) => void): TriageModels {
  const entries = new Map<string, Entry>();
  const closing = new AbortController();

  async function modelOf(project: string, { agents, learned = NONE }: TriageKnowledge): Promise<TriageModel> {
    const mark = markOf(agents);
    const known = entries.get(project);
    const entry = known ?? begin(project, mark, samplesOf(agents, learned), learned);
    // The last one used comes last.
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

  /** Lets a model learn what has changed, and has another one trained when that was much. */
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

/** Changes when any of the agents does. */
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

/** Compares what a model knows with what it is to know. A sample that stands there twice counts twice. */
export function compareSamples(model: TriageModel, samples: readonly TriageSample[]): SampleChanges {
  const known = new Map<string, LearnedSample[]>();
  for (const sample of model.samples.flat()) known.set(keyOf(sample), [...(known.get(keyOf(sample)) ?? []), sample]);
  const added = samples.filter((sample) => known.get(keyOf(sample))?.pop() === undefined);
  return { added, removed: [...known.values()].flat() };
}

/**
 * Lets a model learn and unlearn samples, in about a millisecond each: a text that was added is known from then on, a
 * new agent too. How sure the model may be, and which features are rare, is determined only by a full training.
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
