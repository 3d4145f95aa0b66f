import type { Agent } from "@svc/contracts";
import { trainTriageInSlices } from "./train-triage.ts";
import type { TriageModel } from "./triage-model.ts";
import { samplesOf } from "./triage-sample.ts";
import type { LearnedMessage, TriageSample } from "./triage-sample.ts";
import { compareSamples, updateTriage } from "./update-triage.ts";

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
  /** Ends what goes on in the background. */
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

/** So many changes are learned at once, at a few milliseconds each at most; more wait until all is learned anew. */
const MAX_CHANGES_AT_ONCE = 50;

/** All is learned anew, in the background, after changes of this share of the samples. */
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
      // Whoever waits hears of it; the next call tries again.
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
