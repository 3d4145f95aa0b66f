// `npm run eval`: the product on a set of questions and messages with known answers, by its own code path.
//   npm run eval -- FOLDER [--queries FILE] [--out FILE] [--shots N]
// FOLDER has a subfolder dev with what is known (training messages, documents) and what is asked; eval/read-set.mjs says
// which files. --queries asks what is in another file; a line of it needs only `id` and `text`. --out writes what the
// product answered. Where the right answers are known, scores are printed. --shots keeps N messages for each agent.
// The database is a scratch one: on the server of DATABASE_URL, else on the PostgreSQL that comes with the product.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openScratchStore } from "./eval/open-scratch-store.mjs";
import { readSet } from "./eval/read-set.mjs";
import { prepare } from "./prepare.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { queries: { type: "string" }, out: { type: "string" }, shots: { type: "string" } },
});
const [folder] = positionals;
if (folder === undefined || positionals.length > 1) {
  console.error("Usage: npm run eval -- FOLDER [--queries FILE] [--out FILE] [--shots N]");
  process.exit(2);
}

const set = readSet(folder, values);
const { evaluate } = await {
  triage: () => import("./eval/evaluate-triage.mjs"),
  search: () => import("./eval/evaluate-search.mjs"),
  passages: () => import("./eval/evaluate-passages.mjs"),
}[set.kind]();
await prepare((line) => console.error(line));

const scratch = await openScratchStore();
try {
  const { predictions, scores } = await evaluate(set, scratch);
  if (values.out !== undefined) {
    writeFileSync(values.out, predictions.map((prediction) => `${JSON.stringify(prediction)}\n`).join(""));
  }
  console.log(JSON.stringify(scores, (_, value) => (typeof value === "number" ? round(value) : value), 2));
} finally {
  await scratch.close();
}

function round(number) {
  return Math.round(number * 1e4) / 1e4;
}
