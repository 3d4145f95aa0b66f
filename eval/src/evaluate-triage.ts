// Triage: each label is an agent of that name with its training messages as examples; "oos" is none of the agents.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseAgent, decide, openTriageModels, samplesOf, trainTriage } from "@svc/agents";
import { auroc, calibrationOf, rejectedAt, share } from "@svc/cli";
import { openScratchStore } from "./open-scratch-store.ts";
import type { Scratch } from "./open-scratch-store.ts";
import { forEachShown, readJsonLines } from "./read-set.ts";
import type { Evaluation, Sample, SetOf, TriageGroup, TriageQuery } from "./read-set.ts";

const NONE = "oos";

/** Predictions `{id, label, score}` and scores for each project of the set. */
export async function evaluate({ groups }: SetOf<"triage">, scratch: Scratch): Promise<Evaluation> {
  const results: Awaited<ReturnType<typeof evaluateProject>>[] = [];
  for (const group of groups) results.push(await evaluateProject(group, scratch));
  const [only, ...others] = results;
  return {
    predictions: results.flatMap(({ predictions }) => predictions),
    scores:
      only !== undefined && others.length === 0
        ? only.scores
        : Object.fromEntries(results.map(({ name, scores }) => [name, scores])),
  };
}

async function evaluateProject({ name, samples, queries }: TriageGroup, { store, addProject }: Scratch) {
  const project = await addProject(name === "" ? "evaluation" : name);
  const byLabel = groupByLabel(samples);
  for (const [label, rows] of byLabel) {
    if (label !== NONE) await store.agents.insert(project.id, { name: label, examples: rows.map(({ text }) => text) });
  }
  const agents = await store.agents.list(project.id);
  const learned = (byLabel.get(NONE) ?? []).map(({ text }) => ({ agentId: null, text }));

  const title = name === "" ? "" : `${name}: `;
  process.stderr.write(`${title}learning ${samples.length} messages …\n`);
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const model = trainTriage(samplesOf(agents, learned));
  const trainSeconds = (performance.now() - startedAt) / 1000;
  const trainCpuSeconds = process.cpuUsage(cpuBefore).user / 1e6;

  const nameOf = new Map(agents.map((agent) => [agent.id, agent.name]));
  const decidedAt = performance.now();
  const decisions = await forEachShown(`${title}decided`, queries, ({ text }) =>
    decide(model, { agents, text, currentAgentId: null }),
  );
  const decisionMs = (performance.now() - decidedAt) / queries.length;
  const predictions = queries.map(({ id }, index) => {
    const { agentId = null, confidence = NaN } = decisions[index] ?? {};
    // The score is the probability that the message is for one of the agents.
    return { id, label: nameOf.get(agentId ?? "") ?? NONE, score: agentId === null ? 1 - confidence : confidence };
  });
  const timing = {
    trainSeconds,
    trainCpuSeconds,
    decisionMs,
    sharpness: model.calibration.sharpness,
    noneLead: model.calibration.noneLead,
  };
  return { name, predictions, scores: { ...scoresOf(queries, predictions, decisions), ...timing } };
}

function groupByLabel(samples: readonly Sample[]) {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) groups.set(sample.label, [...(groups.get(sample.label) ?? []), sample]);
  return groups;
}

interface Row extends TriageQuery {
  predicted: { label: string; score: number };
  confidence: number;
}

function scoresOf(
  queries: readonly TriageQuery[],
  predictions: readonly Row["predicted"][],
  decisions: readonly { confidence: number }[],
) {
  const rows = queries.flatMap((query, index): Row[] => {
    const [predicted, decision] = [predictions[index], decisions[index]];
    if (query.label === undefined || predicted === undefined || decision === undefined) return [];
    return [{ ...query, predicted, ...decision }];
  });
  if (rows.length === 0) return { messages: queries.length };
  const inScope = rows.filter(({ label }) => label !== NONE);
  const outOfScope = rows.filter(({ label }) => label === NONE);
  const refused = rows.filter(({ predicted }) => predicted.label === NONE);
  const isRight = ({ label, predicted }: Row) => predicted.label === label;
  const scoresIn = inScope.map(({ predicted }) => predicted.score);
  const scoresOut = outOfScope.map(({ predicted }) => predicted.score);
  return {
    messages: rows.length,
    inScopeAccuracy: share(inScope, isRight),
    oosRecall: share(outOfScope, isRight),
    oosPrecision: share(refused, isRight),
    accuracy: share(rows, isRight),
    aurocInScope: auroc(scoresIn, scoresOut),
    oosRejectedKeeping95: rejectedAt(scoresIn, scoresOut, 0.95),
    oosRejectedKeeping90: rejectedAt(scoresIn, scoresOut, 0.9),
    calibrationError: calibrationOf(rows.map((row) => ({ ...row, isRight: isRight(row) }))).error,
    calibrationErrorInScope: calibrationOf(inScope.map((row) => ({ ...row, isRight: isRight(row) }))).error,
  };
}

// Routing of messages by the owner's texts: first only one-sentence descriptions of the agents, then also corrections
// of messages.

interface Company {
  company: string;
  agents: { name: string; description: string }[];
}

/** A message and its agent; null for none. */
interface Message {
  company: string;
  text: string;
  agent: string | null;
}

interface Prediction extends Message {
  isCorrected: boolean;
  isRight: boolean;
  confidence: number;
}

/**
 * Reads `agents.json` (companies with their agents), `messages.jsonl` and `corrections.jsonl` (`{company, text,
 * agent}`, where `agent` is null for none) of a folder. Returns predictions, and scores for each company and for all.
 */
export async function evaluateRouting(folder: string): Promise<Evaluation> {
  const companies = JSON.parse(readFileSync(join(folder, "agents.json"), "utf8")) as Company[];
  const messages = readJsonLines<Message>(join(folder, "messages.jsonl"));
  const corrections = readJsonLines<Message>(join(folder, "corrections.jsonl"));
  const { store, log, addProject, close } = await openScratchStore();
  const models = openTriageModels((error) => log.error(error));
  try {
    const predictions: Prediction[] = [];
    for (const { company, agents: described } of companies) {
      const isOfCompany = (row: Message) => row.company === company;
      for (const isCorrected of [false, true]) {
        const project = await addProject(`${company}${isCorrected ? "-corrected" : ""}`);
        for (const agent of described) await store.agents.insert(project.id, agent);
        const agents = await store.agents.list(project.id);
        const idOf = (name: string | null) => agents.find((agent) => agent.name === name)?.id ?? null;
        const learned = (isCorrected ? corrections.filter(isOfCompany) : []).map(({ text, agent }) => ({
          text,
          agentId: idOf(agent),
        }));
        for (const { text, agent } of messages.filter(isOfCompany)) {
          const search = () => Promise.resolve([]);
          const asked = { models, project: project.id, agents, learned, text, currentAgentId: null, search };
          const chosen = await chooseAgent(asked);
          const isRight = chosen.agentId === idOf(agent);
          predictions.push({ company, isCorrected, text, agent, isRight, confidence: chosen.confidence });
        }
      }
    }
    const names = [...companies.map(({ company }) => company), "all"];
    const rowsOf = (name: string) => predictions.filter(({ company }) => name === "all" || company === name);
    return { predictions, scores: Object.fromEntries(names.map((name) => [name, routingScores(rowsOf(name))])) };
  } finally {
    models.close?.();
    await close();
  }
}

function routingScores(rows: readonly Prediction[]) {
  const shareOf = (isCorrected: boolean, isForNobody: boolean) =>
    share(
      rows.filter((row) => row.isCorrected === isCorrected && (row.agent === null) === isForNobody),
      ({ isRight }) => isRight,
    );
  return {
    byDescription: { rightAgent: shareOf(false, false), nobodyRecognized: shareOf(false, true) },
    afterCorrections: { rightAgent: shareOf(true, false), nobodyRecognized: shareOf(true, true) },
  };
}
