// Triage: each label is an agent of that name with its training messages as examples; "oos" is none of the agents.
import { decide, samplesOf, trainTriage } from "@svc/agents";
import { auroc, calibrationOf, rejectedAt, share } from "./measures.ts";
import { forEachShown } from "./show-progress.ts";

const NONE = "oos";

/** Predictions `{id, label, score}` and scores for each project of the set. */
export async function evaluate({ groups }, scratch) {
  const results = [];
  for (const group of groups) results.push(await evaluateProject(group, scratch));
  return {
    predictions: results.flatMap(({ predictions }) => predictions),
    scores:
      results.length === 1 ? results[0].scores : Object.fromEntries(results.map(({ name, scores }) => [name, scores])),
  };
}

async function evaluateProject({ name, samples, queries }, { store, addProject }) {
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
    const { agentId, confidence } = decisions[index];
    // The score says how likely the message is for one of the agents.
    return { id, label: nameOf.get(agentId) ?? NONE, score: agentId === null ? 1 - confidence : confidence };
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

function groupByLabel(samples) {
  const groups = new Map();
  for (const sample of samples) groups.set(sample.label, [...(groups.get(sample.label) ?? []), sample]);
  return groups;
}

function scoresOf(queries, predictions, decisions) {
  const rows = queries
    .map((query, index) => ({ ...query, predicted: predictions[index], ...decisions[index] }))
    .filter(({ label }) => label !== undefined);
  if (rows.length === 0) return { messages: queries.length };
  const inScope = rows.filter(({ label }) => label !== NONE);
  const outOfScope = rows.filter(({ label }) => label === NONE);
  const refused = rows.filter(({ predicted }) => predicted.label === NONE);
  const isRight = ({ label, predicted }) => predicted.label === label;
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
