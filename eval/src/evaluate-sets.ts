// All sets of a folder, one after the other, each in a process of its own.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kindOf } from "./read-set.ts";

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
export async function evaluateSets(folder: string, only: readonly string[] | undefined): Promise<number> {
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
