import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import type { Agent } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeLine } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import type { LineFault } from "./eval-line.ts";
import { readEvalFile } from "./read-eval-file.ts";
import { renderScores, renderWorst } from "./render-eval.ts";
import { resolveLines } from "./resolve-lines.ts";
import { readEvalProject, runEval } from "./run-eval.ts";
import { suggestNames } from "./suggest-names.ts";

/** What the command line says. */
export interface EvaluateFileOptions {
  agent?: string;
  show: number;
  out?: string;
  failUnder?: number;
  project: string;
}

/** More faults than these are counted only. */
const SHOWN_FAULTS = 50;
const FAULT_CHARS = 300;

/** Progress is told no more often than this. */
const WATCHED_MS = 200;
const UNWATCHED_MS = 5_000;

const bad = (code: string, message: string, cause?: unknown) => new CliError(code, EXIT.failed, message, { cause });

/**
 * Evaluates a file on a project and shows the scores. Nothing runs when a line of the file is bad: all bad lines are
 * named. Ctrl-C ends it between two lines. Throws CliError `bad_lines`, `not_found`, `cannot_write`, and what `readEvalFile` throws.
 */
export async function evaluateFile(cli: Cli, file: string, options: EvaluateFileOptions): Promise<void> {
  const { terminal } = cli;
  const parsed = await readEvalFile(cli, file);

  const outcome = await withResources(cli, { endsItself: true }, async ({ store, embeddings }, signal) => {
    const principal = await localPrincipal(store, options.project);
    const project = await readEvalProject(store, principal.project);
    const resolved = resolveLines(parsed.lines, project);
    const faults = [...parsed.faults, ...resolved.faults].sort((a, b) => a.line - b.line);
    if (faults.length > 0) throw bad("bad_lines", describeFaults(parsed.name, faults));
    const onlyAgent = options.agent === undefined ? null : findAgent(project.agents, options.agent);

    const out = options.out === undefined ? null : await openOut(cli, options.out, file);
    const showProgress = progressOf(cli, resolved.lines.length);
    try {
      return await runEval({ store, embeddings }, project, resolved.lines, {
        onlyAgent,
        show: options.show,
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
  const { failUnder } = options;
  const isGood = failUnder === undefined || (scores.score !== null && scores.score >= failUnder);
  const document = { ok: isGood, project: options.project, agent: options.agent ?? null, ...scores, ...rest, worst };
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

function describeFaults(name: string, faults: readonly LineFault[]): string {
  const count = new Set(faults.map(({ line }) => line)).size;
  const rest = faults.length - SHOWN_FAULTS;
  return [
    `${name} has ${count === 1 ? "an invalid line" : `${count} invalid lines`}; nothing was evaluated.`,
    ...faults.slice(0, SHOWN_FAULTS).map(({ line, fault }) => `  line ${line}: ${safeLine(fault, FAULT_CHARS)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join("\n");
}

function findAgent(agents: readonly Agent[], name: string): Agent {
  const agent = agents.find((one) => one.name === name) ?? agents.find(({ id }) => id === name);
  if (agent !== undefined) return agent;
  const names = agents.map((one) => one.name);
  const meant = suggestNames(name, names);
  const advice = meant.length > 0 ? `Did you mean: ${meant.join(", ")}?` : `Agents: ${names.slice(0, 20).join(", ")}.`;
  throw bad(
    "not_found",
    `No agent is named "${safeLine(name, 80)}". ${names.length === 0 ? "The project has none." : advice}`,
  );
}

async function openOut(cli: Cli, path: string, file: string): Promise<FileHandle> {
  const full = resolve(cli.folder, path);
  if (file !== "-" && full === resolve(cli.folder, file)) {
    throw bad("cannot_write", "--out is the file that is evaluated. Choose another one.");
  }
  try {
    return await open(full, "w");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw bad("cannot_write", `Cannot write ${safeLine(path)}: ${error.message}`, error);
  }
}

/** Shows how far it is: in a line of its own where somebody watches, else a line every few seconds. */
function progressOf({ terminal }: Cli, total: number): (done: number) => void {
  const startedAt = performance.now();
  const everyMs = terminal.isWatched ? WATCHED_MS : UNWATCHED_MS;
  let toldAt = startedAt;
  return (done) => {
    const now = performance.now();
    if (now - toldAt < everyMs) return;
    toldAt = now;
    const seconds = Math.round((((now - startedAt) / done) * (total - done)) / 1_000);
    const text = `${done} of ${total}, about ${seconds} s left`;
    if (terminal.isWatched) terminal.status(text);
    else terminal.note(text);
  };
}
