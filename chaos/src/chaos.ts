// `npm run chaos`: breaks what the product stands on while it works, and compares what its customers got with what they
// were promised.
//   npm run chaos -- [scenario…] [--seed N] [--messages N] [--kills N] [--quick] [--json] [--ledger FOLDER]
// Without a name every scenario runs; docs/reliability.md says what each of them promises. --quick takes a small part
// of each, --messages and --kills change what a scenario does by default. The same seed chooses the same victims and
// texts again. A ledger of every message (JSON lines: id, chat, when it was sent and acknowledged, each answer that was
// seen) lies in the folder that the last line of a scenario names. Exit code 1 when a promise was broken. Needs
// redis-server in the PATH.
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SCENARIOS } from "./scenarios.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e9)) },
    messages: { type: "string" },
    kills: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    ledger: { type: "string" },
  },
});

/** A whole number above nothing; undefined where nothing was said. */
function countOf(name) {
  const text = values[name];
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} is "${text}"; it is a whole number from 1.`);
  return Number(text);
}

function chooseScenarios() {
  const unknown = positionals.filter((name) => SCENARIOS[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`There is no scenario ${unknown.join(", ")}. There are: ${Object.keys(SCENARIOS).join(", ")}.`);
  return positionals.length > 0 ? positionals : Object.keys(SCENARIOS);
}

/** Runs one scenario and answers what came of it. One that cannot go on to its end has broken its promise. */
async function runScenario(name, options) {
  const scenario = SCENARIOS[name];
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  const say = (line) => console.error(`${name} ${String(seconds()).padStart(4)} s  ${line}`);
  const { full, quick } = scenario.sizes;
  const size = { ...(options.quick ? quick : full), ...options.given };
  say(
    `${scenario.promise} (${Object.entries(size)
      .map(([what, count]) => `${count} ${what}`)
      .join(", ")})`,
  );
  const ledgerFile = join(options.ledgerFolder, `${name}.jsonl`);
  const context = { ...size, seed: options.seed, say, ledgerFile };
  const { figures, breaches } = await scenario.run(context).catch((error) => {
    say(error.stack);
    return { figures: {}, breaches: [`it did not come to its end: ${error.message}`] };
  });
  return {
    scenario: name,
    promise: scenario.promise,
    size,
    seed: options.seed,
    seconds: seconds(),
    figures,
    breaches,
    ledgerFile,
  };
}

function printResult({ scenario, seconds, figures, breaches, ledgerFile }) {
  const told = Object.entries(figures).map(([what, value]) => `${what}: ${value}`);
  console.log(`${breaches.length === 0 ? "KEPT  " : "BROKEN"} ${scenario}, ${seconds} s. ${told.join("; ")}`);
  for (const breach of breaches.slice(0, 20)) console.log(`       ${breach}`);
  if (breaches.length > 20) console.log(`       and ${breaches.length - 20} more`);
  console.log(`       ${ledgerFile}`);
}

let options;
try {
  const given = { messages: countOf("messages"), kills: countOf("kills") };
  for (const [name, value] of Object.entries(given)) if (value === undefined) delete given[name];
  const ledgerFolder = values.ledger === undefined ? mkdtempSync(join(tmpdir(), "svc-chaos-")) : resolve(values.ledger);
  mkdirSync(ledgerFolder, { recursive: true });
  options = { seed: countOf("seed") ?? 1, quick: values.quick, given, ledgerFolder, names: chooseScenarios() };
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const results = [];
for (const name of options.names) {
  const result = await runScenario(name, options);
  results.push(result);
  if (!values.json) printResult(result);
}
if (values.json) console.log(JSON.stringify(results, null, 2));
// What a broken scenario has left running ends with this process.
process.exit(results.every(({ breaches }) => breaches.length === 0) ? 0 : 1);
