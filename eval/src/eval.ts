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
// What customers get: the messages of the sets in eval/real-life, and of those in other folders (eval/src/read-questions.ts
// says what they have), are sent to the running product with an agent for each set.
//   npm run eval -- routing [--out FILE]
// Which of six agents a message is for, by their descriptions and by corrections, on the set in eval/routing.
//   npm run eval -- claims [--out FILE]
// What becomes of true and false claims of a model, by the set in packages/agents/evals.
//   npm run eval -- fetch-documents FOLDER
// Writes the sets of eval/public with their documents, which it fetches, into a folder.
// The database is a scratch one: on the server of DATABASE_URL, else on the PostgreSQL that comes with the product.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repositoryPath } from "@svc/testing";
import { evaluateClaims } from "./evaluate-claims.ts";
import { evaluate as evaluateMeetings } from "./evaluate-meetings.ts";
import { evaluate as evaluateNotes } from "./evaluate-notes.ts";
import { evaluate as evaluatePassages } from "./evaluate-passages.ts";
import { evaluateRealLife } from "./evaluate-real-life.ts";
import { evaluateRouting } from "./evaluate-routing.ts";
import { evaluate as evaluateSearch } from "./evaluate-search.ts";
import { evaluateSets } from "./evaluate-sets.ts";
import { evaluate as evaluateSpoken } from "./evaluate-spoken.ts";
import { evaluate as evaluateTriage } from "./evaluate-triage.ts";
import { fetchDocuments } from "./fetch-documents.ts";
import { openScratchStore } from "./open-scratch-store.ts";
import type { Scratch } from "./open-scratch-store.ts";
import { readSet } from "./read-set.ts";
import type { EvalSet, Evaluation } from "./read-set.ts";

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
