// All sets of a folder, one after the other, each in a process of its own.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kindOf } from "./read-set.ts";

/** Runs of a set besides the one as it is. */
const FURTHER_RUNS = { "triage-banking77": [["--shots", "10"]] };

/** Evaluates the sets of a folder, or those that `only` names, and prints a table. Answers the exit code. */
export async function evaluateSets(folder, { only }) {
  const names = listSets(folder);
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (names.length === 0) throw new Error(`${folder} has no folder dev, and no folder that has one.`);
  if (unknown.length > 0) throw new Error(`There is no set ${unknown.join(", ")}. There are: ${names.join(", ")}.`);
  const runs = (only ?? names).flatMap((name) => {
    if (kindOf(join(folder, name)) !== null) return [[], ...(FURTHER_RUNS[name] ?? [])].map((args) => ({ name, args }));
    console.error(`${name}: skipped, no such set is known here.`);
    return [];
  });

  const results = [];
  for (const run of runs) {
    console.error(`\n${titleOf(run)}`);
    results.push({ ...run, ...(await evaluateOne(join(folder, run.name), run.args)) });
  }
  console.log(renderResults(results));
  return results.every(({ scores }) => scores !== null) ? 0 : 1;
}

function listSets(folder) {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`);
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "dev")))
    .sort();
}

/** Scores of a set, null when its process failed, and the seconds that it took. */
function evaluateOne(folder, args) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("eval.js", import.meta.url)), folder, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const output = [];
    child.stdout.on("data", (part) => output.push(part));
    child.on("error", reject);
    child.on("close", (code) => {
      const seconds = (performance.now() - startedAt) / 1000;
      resolve({ seconds, scores: code === 0 ? JSON.parse(Buffer.concat(output).toString()) : null });
    });
  });
}

const titleOf = ({ name, args }) => [name, ...args].join(" ");

function renderResults(results) {
  const rows = results.flatMap((run) => {
    const figures = run.scores === null ? [["failed", "see above"]] : figuresOf(run.scores);
    return figures.map(([figure, value], index) => [
      index === 0 ? titleOf(run) : "",
      figure,
      String(value),
      index === 0 ? run.seconds.toFixed(0) : "",
    ]);
  });
  const table = [["SET", "FIGURE", "VALUE", "SECONDS"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Figures by name, those within others as in `retrieval.ndcg10`; what was not measured is left out. */
function figuresOf(scores, prefix = "") {
  return Object.entries(scores).flatMap(([name, value]) => {
    if (value === null) return [];
    return typeof value === "object" ? figuresOf(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value]];
  });
}
