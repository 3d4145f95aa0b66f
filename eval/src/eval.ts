// `npm run eval`: the product on a set of questions and messages with known answers, by its own code path.
//   npm run eval -- FOLDER [--queries FILE] [--out FILE] [--shots N]
// FOLDER has a subfolder dev with what is known (training messages, documents) and what is asked; eval/src/read-set.ts says
// which files. --queries asks what is in another file; a line of it needs only `id` and `text`. --out writes what the
// product answered. Where the right answers are known, scores are printed. --shots keeps N messages for each agent.
//   npm run eval -- notes
// The set of that name in the folder eval of the project: `notes` are dictated notes with their issues.
//   npm run eval -- FOLDER [--only NAME,NAME]
// Where FOLDER has several such folders, each is evaluated in a process of its own, and a table of all is printed.
//   npm run eval -- real-life [FOLDER...] [--out FILE]
// What customers get: the messages of the sets in eval/real-life, and of those in other folders (eval/src/evaluate-real-life.ts
// says what they have), are sent to the running product with an agent for each set.
//   npm run eval -- routing [--out FILE]
// Which of six agents a message is for, by their descriptions and by corrections, on the set in eval/routing.
//   npm run eval -- claims [--out FILE]
// What becomes of true and false claims of a model, by the set in packages/agents/evals.
//   npm run eval -- fetch-documents FOLDER
// Writes the sets of eval/public with their documents, which it fetches, into a folder.
// The database is a scratch one: on the server of DATABASE_URL, else on the PostgreSQL that comes with the product.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { repositoryPath } from "@svc/testing";
import { evaluateClaims } from "./evaluate-claims.ts";
import { evaluateMeetings, evaluateNotes, evaluateSpoken } from "./evaluate-notes.ts";
import { evaluatePassages, evaluateSearch } from "./evaluate-search.ts";
import { evaluateRealLife } from "./evaluate-real-life.ts";
import { evaluate as evaluateTriage, evaluateRouting } from "./evaluate-triage.ts";
import { fetchDocuments, openScratchStore } from "./open-scratch-store.ts";
import type { Scratch } from "./open-scratch-store.ts";
import { kindOf, readSet } from "./read-set.ts";
import type { EvalSet, Evaluation } from "./read-set.ts";

// All sets of a folder, one after the other, each in a process of its own.

/** Additional runs of a set. */
const FURTHER_RUNS: Record<string, string[][]> = { "triage-banking77": [["--shots", "10"]] };

interface Run {
  name: string;
  args: string[];
}

/** A run with its scores; null if its process failed. */
interface Result extends Run {
  seconds: number;
  scores: object | null;
}

/** Evaluates the sets of a folder, or those that `only` names, and prints a table. Returns the exit code. */
async function evaluateSets(folder: string, only: readonly string[] | undefined): Promise<number> {
  const names = listSets(folder);
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (names.length === 0) throw new Error(`${folder} has no folder dev, and no folder that has one.`);
  if (unknown.length > 0) throw new Error(`There is no set ${unknown.join(", ")}. There are: ${names.join(", ")}.`);
  const runs = (only ?? names).flatMap((name): Run[] => {
    if (kindOf(join(folder, name)) !== null) return [[], ...(FURTHER_RUNS[name] ?? [])].map((args) => ({ name, args }));
    console.error(`${name}: skipped, no such set is known here.`);
    return [];
  });

  const results: Result[] = [];
  for (const run of runs) {
    console.error(`\n${titleOf(run)}`);
    results.push({ ...run, ...(await evaluateOne(join(folder, run.name), run.args)) });
  }
  console.log(renderResults(results));
  return results.every(({ scores }) => scores !== null) ? 0 : 1;
}

function listSets(folder: string) {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`);
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "dev")))
    .sort();
}

/** Returns the scores of a set, null if its process failed, and the duration in seconds. */
function evaluateOne(folder: string, args: readonly string[]): Promise<Pick<Result, "seconds" | "scores">> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("eval.js", import.meta.url)), folder, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const output: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => output.push(part));
    child.on("error", reject);
    child.on("close", (code) => {
      const seconds = (performance.now() - startedAt) / 1000;
      resolve({ seconds, scores: code === 0 ? (JSON.parse(Buffer.concat(output).toString()) as object) : null });
    });
  });
}

const titleOf = ({ name, args }: Run) => [name, ...args].join(" ");

function renderResults(results: readonly Result[]) {
  const rows = results.flatMap((run) => {
    const figures = run.scores === null ? [["failed", "see above"] as const] : figuresOf(run.scores);
    return figures.map(([figure, value], index) => [
      index === 0 ? titleOf(run) : "",
      figure,
      String(value),
      index === 0 ? run.seconds.toFixed(0) : "",
    ]);
  });
  const table = [["SET", "FIGURE", "VALUE", "SECONDS"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Returns figures by name, nested ones as in `retrieval.ndcg10`; unmeasured ones are left out. */
function figuresOf(scores: object, prefix = ""): (readonly [figure: string, value: unknown])[] {
  return Object.entries(scores).flatMap(([name, value]: [string, unknown]) => {
    if (value === null) return [];
    return typeof value === "object" ? figuresOf(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value] as const];
  });
}

const USAGE = `Usage: npm run eval -- SET [--queries FILE] [--out FILE] [--shots N]
       npm run eval -- FOLDER-OF-SETS [--only NAME,NAME]
       npm run eval -- real-life [FOLDER-OF-QUESTION-SETS...] [--out FILE]
       npm run eval -- routing [--out FILE]
       npm run eval -- claims [--out FILE]
       npm run eval -- fetch-documents FOLDER`;

const { values, positionals } = readArguments();
const [given = "", ...further] = positionals;
// A set of the project itself is given by its name only.
const own = join(repositoryPath("eval"), given);
const folder = existsSync(given) || !existsSync(own) ? given : own;
/** Evaluations of the project's own sets, and the command that fetches more, by name. */
const NAMED: Record<string, () => Evaluation | Promise<Evaluation>> = {
  claims: evaluateClaims,
  routing: () => evaluateRouting(own),
  "real-life": () => evaluateRealLife([own, ...further]),
  "fetch-documents": () => fetchDocuments(further[0] ?? fail(USAGE)),
};
const named = NAMED[given];
const isOne = named !== undefined || existsSync(join(folder, "dev"));
if (isOne && values.only !== undefined) fail(`${folder} is a set by itself; --only is for a folder of sets.\n${USAGE}`);
const ofOne = (["queries", "out", "shots"] as const).find((option) => values[option] !== undefined);
if (!isOne && ofOne !== undefined) fail(`${folder} has no folder dev; --${ofOne} is for a single set.\n${USAGE}`);
const most = { "real-life": Infinity, "fetch-documents": 1 }[given] ?? 0;
if (further.length > most) fail(USAGE);

try {
  if (named !== undefined) report(await named());
  else if (isOne) await evaluateSet();
  else process.exitCode = await evaluateSets(folder, values.only?.split(","));
} catch (error) {
  console.error(process.env["SVC_LOG_LEVEL"] === "debug" || !(error instanceof Error) ? error : error.message);
  process.exitCode = 1;
}

async function evaluateSet() {
  const set = readSet(folder, values);
  const scratch = await openScratchStore();
  try {
    report(await evaluate(set, scratch));
  } finally {
    await scratch.close();
  }
}

function evaluate(set: EvalSet, scratch: Scratch): Promise<Evaluation> {
  if (set.kind === "triage") return evaluateTriage(set, scratch);
  if (set.kind === "search") return evaluateSearch(set, scratch);
  if (set.kind === "passages") return evaluatePassages(set, scratch);
  if (set.kind === "notes") return evaluateNotes(set);
  return set.kind === "meetings" ? evaluateMeetings(set) : evaluateSpoken(set);
}

function report({ predictions, scores }: Evaluation) {
  if (values.out !== undefined)
    writeFileSync(values.out, predictions.map((prediction) => `${JSON.stringify(prediction)}\n`).join(""));
  const rounded = (_: string, value: unknown) => (typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value);
  console.log(JSON.stringify(scores, rounded, 2));
}

function readArguments() {
  const text = { type: "string" } as const;
  try {
    const parsed = parseArgs({
      allowPositionals: true,
      options: { queries: text, out: text, shots: text, only: text },
    });
    if (parsed.positionals.length === 0) fail(USAGE);
    const { shots } = parsed.values;
    if (shots !== undefined && !/^[1-9]\d*$/.test(shots)) fail(`--shots needs a number from 1 on.\n${USAGE}`);
    return parsed;
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
