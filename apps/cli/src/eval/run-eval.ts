import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { openTriageModels } from "@svc/agents";
import type { LearnedMessage, SearchEach, TriageModels } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import { searchEach, searchKnowledge } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import type { ProjectId, Store } from "@svc/store";
import { EXIT, failure } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { safeLine } from "../terminal.ts";
import { localPrincipal, withResources } from "../with-resources.ts";
import { askProduct, badnessOf, describeLine, judgeLine } from "./judge-line.ts";
import type { EvalSearch, LinePrediction } from "./judge-line.ts";
import { readEvalFile, resolveLines, suggestNames } from "./eval-lines.ts";
import type { LineError, NamedDocument, ResolvedLine } from "./eval-lines.ts";
import { renderScores, renderWorst } from "./render-eval.ts";
import { figuresOf, scoreLines } from "./score-lines.ts";
import type { EvalResult, ScoredLine } from "./score-lines.ts";

/** Maximum number of errors of the file that are shown; the others are counted. */
const SHOWN_ERRORS = 50;
const ERROR_CHARS = 300;

/** Minimum interval between two lines of progress. */
const PROGRESS_INTERVAL_MS = 200;
const UNWATCHED_MS = 5_000;

/** The evaluated project: its agents, trained triage, and documents. */
interface EvalProject {
  id: ProjectId;
  agents: Agent[];
  learned: LearnedMessage[];
  documents: NamedDocument[];
}

/** Reads the project from the store. */
async function readEvalProject(store: Store, id: ProjectId): Promise<EvalProject> {
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

/** Options of an evaluation. */
interface EvalOptions {
  /** This agent answers instead of the one that triage would choose. */
  onlyAgent: Agent | null;
  /** Number of worst lines to return. */
  show: number;
  /** Called after each line; the evaluation waits for it. */
  onLine: (done: number, prediction: LinePrediction) => Promise<void>;
}

/** Evaluates the lines one after the other. Stores only figures of each line, which limits memory. */
async function runEval(
  { store, embeddings }: { store: Store; embeddings: Embeddings | null },
  project: EvalProject,
  lines: readonly ResolvedLine[],
  { onlyAgent, show, onLine }: EvalOptions,
): Promise<EvalResult> {
  const models = openTriageModels(() => undefined);
  const nameOfAgent = nameBy(project.agents, ({ name }) => name);
  const keyOfDocument = nameBy(project.documents, ({ key }) => key);
  try {
    const learnSeconds = onlyAgent === null ? await learn(models, project) : null;
    const { agents, learned, id } = project;
    const searchWords: SearchEach = (query, kbGroups, limit) => searchEach({ store }, id, { query, kbGroups, limit });
    const search: EvalSearch = (query, kbIds, limit) =>
      searchKnowledge({ store, embeddings }, id, { query, kbIds, limit });
    const scored: ScoredLine[] = [];
    let worst: { badness: number; prediction: LinePrediction }[] = [];
    for (const [index, line] of lines.entries()) {
      const asked = await askProduct({ models, project: id, agents, learned, search, searchWords, onlyAgent }, line);
      const judged = judgeLine(line, asked, onlyAgent === null);
      scored.push(figuresOf(judged));
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

/**
 * Trains triage before the first line, so that no line's time contains it. Returns seconds; null if there is no choice.
 */
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

function describeErrors(name: string, errors: readonly LineError[]): string {
  const count = new Set(errors.map(({ line }) => line)).size;
  const rest = errors.length - SHOWN_ERRORS;
  return [
    `${name} has ${count === 1 ? "an invalid line" : `${count} invalid lines`}; nothing was evaluated.`,
    ...errors.slice(0, SHOWN_ERRORS).map(({ line, error }) => `  line ${line}: ${safeLine(error, ERROR_CHARS)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join("\n");
}

function pickEvalAgent(agents: readonly Agent[], name: string): Agent {
  const agent = agents.find((one) => one.name === name) ?? agents.find(({ id }) => id === name);
  if (agent !== undefined) return agent;
  const names = agents.map((one) => one.name);
  const meant = suggestNames(name, names);
  const advice = meant.length > 0 ? `Did you mean: ${meant.join(", ")}?` : `Agents: ${names.slice(0, 20).join(", ")}.`;
  throw failure(
    "not_found",
    `No agent is named "${safeLine(name, 80)}". ${names.length === 0 ? "The project has none." : advice}`,
  );
}

async function openOut(cli: Cli, path: string, file: string): Promise<FileHandle> {
  const full = resolve(cli.folder, path);
  if (file !== "-" && full === resolve(cli.folder, file)) {
    throw failure("cannot_write", "--out is the file that is evaluated. Choose another one.");
  }
  try {
    return await open(full, "w");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw failure("cannot_write", `Cannot write ${safeLine(path)}: ${error.message}`, { cause: error });
  }
}

/** Shows the progress: in the status line on a terminal, otherwise as a line every few seconds. */
function progressOf({ terminal }: Cli, total: number): (done: number) => void {
  const startedAt = performance.now();
  const everyMs = terminal.isWatched ? PROGRESS_INTERVAL_MS : UNWATCHED_MS;
  let shownAt = startedAt;
  return (done) => {
    const now = performance.now();
    if (now - shownAt < everyMs) return;
    shownAt = now;
    const seconds = Math.round((((now - startedAt) / done) * (total - done)) / 1_000);
    const text = `${done} of ${total}, about ${seconds} s left`;
    if (terminal.isWatched) terminal.status(text);
    else terminal.note(text);
  };
}

/** Options of `svc eval`. */
interface EvalInput {
  file: string;
  agent: string | undefined;
  show: number;
  out: string | undefined;
  failUnder: number | undefined;
  project: string;
}

/**
 * `svc eval`: quality of routing, search and answers on the messages of a file. If lines of the file are invalid, it
 * lists all of them and does not start. Ctrl-C stops it between two lines.
 */
export async function evaluateFile(
  cli: Cli,
  { file, agent, show, out: outPath, failUnder, project: projectName }: EvalInput,
): Promise<void> {
  const { terminal } = cli;
  const parsed = await readEvalFile(cli, file);
  const outcome = await withResources(cli, { endsItself: true }, async ({ store, embeddings }, signal) => {
    const principal = await localPrincipal(store, projectName);
    const project = await readEvalProject(store, principal.project);
    const resolved = resolveLines(parsed.lines, project);
    const errors = [...parsed.errors, ...resolved.errors].sort((a, b) => a.line - b.line);
    if (errors.length > 0) throw failure("bad_lines", describeErrors(parsed.name, errors));
    const onlyAgent = agent === undefined ? null : pickEvalAgent(project.agents, agent);
    const out = outPath === undefined ? null : await openOut(cli, outPath, file);
    const showProgress = progressOf(cli, resolved.lines.length);
    try {
      return await runEval({ store, embeddings }, project, resolved.lines, {
        onlyAgent,
        show,
        onLine: async (done, prediction) => {
          signal.throwIfAborted();
          showProgress(done);
          await out?.appendFile(`${JSON.stringify(prediction)}\n`);
        },
      });
    } finally {
      terminal.status(null);
      await out?.close();
    }
  });
  const { scores, worst, ...rest } = outcome;
  const isGood = failUnder === undefined || (scores.score !== null && scores.score >= failUnder);
  const document = { ok: isGood, project: projectName, agent: agent ?? null, ...scores, ...rest, worst };
  terminal.show(document, () =>
    [renderScores(outcome, terminal), ...(worst.length === 0 ? [] : [renderWorst(worst, terminal)])].join("\n\n"),
  );
  if (isGood) return;
  cli.setExitCode(EXIT.failed);
  terminal.note(
    scores.score === null
      ? "No line has expected results, so that there is no score for --fail-under."
      : `The share of lines as expected is ${scores.score.toFixed(3)}, below --fail-under ${failUnder}.`,
  );
}
