// `npm run eval`: the product on a set of questions and messages with known answers, by its own code path.
//   npm run eval -- FOLDER [--queries FILE] [--out FILE] [--shots N]
// FOLDER has a subfolder dev with what is known (training messages, documents) and what is asked; eval/read-set.mjs says
// which files. --queries asks what is in another file; a line of it needs only `id` and `text`. --out writes what the
// product answered. Where the right answers are known, scores are printed. --shots keeps N messages for each agent.
//   npm run eval -- notes
// The set of that name in the folder eval of the project: `notes` are dictated notes with their issues.
//   npm run eval -- FOLDER [--only NAME,NAME]
// Where FOLDER has several such folders, each is evaluated in a process of its own, and a table of all is printed.
//   npm run eval -- real-life [FOLDER...] [--out FILE]
// What customers get: the messages of the sets in eval/real-life, and of those in other folders (eval/read-questions.mjs
// says what they have), are sent to the running product with an agent for each set.
//   npm run eval -- routing [--out FILE]
// Which of six agents a message is for, by their descriptions and by corrections, on the set in eval/routing.
//   npm run eval -- claims [--out FILE]
// What becomes of true and false claims of a model, by the set in packages/agents/evals.
// The database is a scratch one: on the server of DATABASE_URL, else on the PostgreSQL that comes with the product.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repositoryPath } from "@svc/testing";
import { evaluateSets } from "./evaluate-sets.ts";
import { openScratchStore } from "./open-scratch-store.ts";
import { readSet } from "./read-set.ts";

const USAGE = `Usage: npm run eval -- SET [--queries FILE] [--out FILE] [--shots N]
       npm run eval -- FOLDER-OF-SETS [--only NAME,NAME]
       npm run eval -- real-life [FOLDER-OF-QUESTION-SETS...] [--out FILE]
       npm run eval -- routing [--out FILE]
       npm run eval -- claims [--out FILE]`;

const { values, positionals } = readArguments();
// A set of the project itself goes by its name alone.
const own = join(repositoryPath("eval"), positionals[0]);
const further = positionals.slice(1);
const folder = existsSync(positionals[0]) || !existsSync(own) ? positionals[0] : own;
/** Evaluations of the project's own sets, by name; each returns predictions and scores. */
const NAMED = {
  claims: async () => (await import("./evaluate-claims.ts")).evaluateClaims(),
  routing: async () => (await import("./evaluate-routing.ts")).evaluateRouting(own),
  "real-life": async () => (await import("./evaluate-real-life.ts")).evaluateRealLife([own, ...further]),
};
const named = NAMED[positionals[0]];
const isOne = named !== undefined || existsSync(join(folder, "dev"));
if (isOne && values.only !== undefined) fail(`${folder} is a set by itself; --only is for a folder of sets.\n${USAGE}`);
const ofOne = ["queries", "out", "shots"].find((option) => values[option] !== undefined);
if (!isOne && ofOne !== undefined) fail(`${folder} has no folder dev; --${ofOne} is for a single set.\n${USAGE}`);
if (further.length > 0 && positionals[0] !== "real-life") fail(USAGE);

try {
  if (named !== undefined) {
    report(await named());
  } else if (isOne) await evaluateSet();
  else process.exitCode = await evaluateSets(folder, { only: values.only?.split(",") });
} catch (error) {
  console.error(process.env.SVC_LOG_LEVEL === "debug" ? error : error.message);
  process.exitCode = 1;
}

async function evaluateSet() {
  const set = readSet(folder, values);
  // Loaded when it is built.
  const { evaluate } = await {
    triage: () => import("./evaluate-triage.ts"),
    search: () => import("./evaluate-search.ts"),
    passages: () => import("./evaluate-passages.ts"),
    notes: () => import("./evaluate-notes.ts"),
    meetings: () => import("./evaluate-meetings.ts"),
    spoken: () => import("./evaluate-spoken.ts"),
  }[set.kind]();

  const scratch = await openScratchStore();
  try {
    report(await evaluate(set, scratch));
  } finally {
    await scratch.close();
  }
}

function report({ predictions, scores }) {
  if (values.out !== undefined) {
    writeFileSync(values.out, predictions.map((prediction) => `${JSON.stringify(prediction)}\n`).join(""));
  }
  console.log(JSON.stringify(scores, (_, value) => (typeof value === "number" ? round(value) : value), 2));
}

function readArguments() {
  const options = Object.fromEntries(["queries", "out", "shots", "only"].map((name) => [name, { type: "string" }]));
  try {
    const parsed = parseArgs({ allowPositionals: true, options });
    if (parsed.positionals.length === 0) fail(USAGE);
    const { shots } = parsed.values;
    if (shots !== undefined && !/^[1-9]\d*$/.test(shots)) fail(`--shots needs a number from 1 on.\n${USAGE}`);
    return parsed;
  } catch (error) {
    return fail(`${error.message}\n${USAGE}`);
  }
}

function fail(message) {
  console.error(message);
  process.exit(2);
}

function round(number) {
  return Math.round(number * 1e4) / 1e4;
}
