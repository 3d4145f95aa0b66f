import { keepTriageModels } from "@svc/agents";
import type { LearnedMessage, SearchEach, TriageModels } from "@svc/agents";
import type { Agent, ReviewPolicy } from "@svc/contracts";
import { searchEach, searchWithEmbeddings } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import type { ProjectId, Store } from "@svc/store";
import { askProduct } from "./ask-product.ts";
import type { EvalSearch } from "./ask-product.ts";
import type { NamedDocument, ResolvedLine } from "./eval-lines.ts";
import { badnessOf, describeLine, judgeLine } from "./judge-line.ts";
import type { LinePrediction } from "./judge-line.ts";
import { keepOfLine, scoreLines } from "./score-lines.ts";
import type { EvalScores, ScoredLine } from "./score-lines.ts";

/** The project whose quality is asked for, as it is. */
export interface EvalProject {
  id: ProjectId;
  agents: Agent[];
  learned: LearnedMessage[];
  documents: NamedDocument[];
}

/** Reads what lines can name and what triage has learned. */
export async function readEvalProject(store: Store, id: ProjectId): Promise<EvalProject> {
  const [agents, learned, kbs] = await Promise.all([
    store.agents.list(id),
    store.triageMessages.list(id),
    store.kbs.list(id),
  ]);
  const documents: NamedDocument[] = [];
  for (const kb of kbs) {
    const ofKb = await store.documents.list(id, kb.id);
    for (const { id: documentId, key, title, url } of ofKb) documents.push({ id: documentId, key, title, url });
  }
  return { id, agents, learned, documents };
}

/** What an evaluation is told besides. */
export interface EvalOptions {
  /** Asked instead of the agent that triage would choose. */
  onlyAgent: Agent | null;
  /** How many of the worst lines are kept. */
  show: number;
  /** Called after each line; the evaluation waits for it. */
  onLine: (done: number, prediction: LinePrediction) => Promise<void>;
}

/** When an agent's answers go out by themselves. */
export interface AgentPolicy {
  agent: string;
  reviewPolicy: ReviewPolicy;
  autoThreshold: number;
}

/** The scores, and the lines that came out worst, the worst first. */
export interface EvalResult {
  scores: EvalScores;
  worst: LinePrediction[];
  /** Of the agents that were asked: those that are enabled, or the only one. */
  policies: AgentPolicy[];
  /** Seconds until triage was ready; null where there is nothing to learn. */
  learnSeconds: number | null;
}

/** Lets the product answer the lines one after the other. Of each line only figures are kept, so that memory stays small. */
export async function runEval(
  { store, embeddings }: { store: Store; embeddings: Embeddings | null },
  project: EvalProject,
  lines: readonly ResolvedLine[],
  { onlyAgent, show, onLine }: EvalOptions,
): Promise<EvalResult> {
  const models = keepTriageModels(() => undefined);
  const nameOfAgent = nameBy(project.agents, ({ name }) => name);
  const keyOfDocument = nameBy(project.documents, ({ key }) => key);
  try {
    const learnSeconds = onlyAgent === null ? await learn(models, project) : null;
    const { agents, learned, id } = project;
    const searchWords: SearchEach = (query, kbGroups, limit) => searchEach({ store }, id, { query, kbGroups, limit });
    const search: EvalSearch = (query, kbIds, limit) =>
      searchWithEmbeddings({ store, embeddings }, id, { query, kbIds, limit });
    const scored: ScoredLine[] = [];
    let worst: { badness: number; prediction: LinePrediction }[] = [];
    for (const [index, line] of lines.entries()) {
      const asked = await askProduct({ models, project: id, agents, learned, search, searchWords, onlyAgent }, line);
      const judged = judgeLine(line, asked, onlyAgent === null);
      scored.push(keepOfLine(judged));
      const prediction = describeLine(judged, { nameOfAgent, keyOfDocument });
      const badness = badnessOf(judged);
      if (badness > 0) {
        worst.push({ badness, prediction });
        worst = worst.sort((a, b) => b.badness - a.badness).slice(0, show);
      }
      await onLine(index + 1, prediction);
    }
    return {
      scores: scoreLines(scored),
      worst: worst.map(({ prediction }) => prediction),
      policies: (onlyAgent === null ? agents.filter(({ enabled }) => enabled) : [onlyAgent]).map(
        ({ name, reviewPolicy, autoThreshold }) => ({ agent: name, reviewPolicy, autoThreshold }),
      ),
      learnSeconds,
    };
  } finally {
    models.close();
  }
}

/** Has triage learn before the first line, so that no line's time holds it. Seconds, or null with nothing to choose. */
async function learn(models: TriageModels, { id, agents, learned }: EvalProject): Promise<number | null> {
  if (agents.filter(({ enabled }) => enabled).length < 2) return null;
  const startedAt = performance.now();
  await models.modelOf(id, { agents, learned });
  return (performance.now() - startedAt) / 1_000;
}

function nameBy<Item extends { id: string }>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): (id: string) => string {
  const names = new Map(items.map((item) => [item.id, nameOf(item)]));
  return (id) => names.get(id) ?? id;
}
