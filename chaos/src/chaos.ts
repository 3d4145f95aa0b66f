// `npm run chaos`: breaks what the product runs on while it works, and compares what its customers got with what they
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
import { breakLines } from "./broken-lines.ts";
import { crashDatabase, killReplica, killWorkers } from "./killed-workers.ts";
import { startGround } from "./ground.ts";
import { createLedger } from "./ledger.ts";
import { sendPoison } from "./poison.ts";
import { breakReceivers, leaveReplies } from "./receivers.ts";
import { restartAll } from "./rolling-restarts.ts";
import type { Outcome, Scenario, Size } from "./ground.ts";
import { starve } from "./starved.ts";

const SCENARIOS = new Map<string, Scenario>(
  Object.entries({
    "killed-workers": killWorkers,
    "database-crashes": crashDatabase,
    "killed-replica": killReplica,
    "broken-lines": breakLines,
    "rolling-restarts": restartAll,
    poison: sendPoison,
    receivers: breakReceivers,
    starved: starve,
    "undrained-replies": leaveReplies,
  }),
);

interface Options {
  scenarios: [name: string, scenario: Scenario][];
  seed: number;
  isQuick: boolean;
  isJson: boolean;
  /** Sizes that win over those of a scenario. */
  given: Size;
  ledgerFolder: string;
}

/** Reads the arguments; throws with a sentence about what is wrong with them. */
function readOptions(): Options {
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
  const count = (name: "seed" | "messages" | "kills", text: string) => {
    if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} is "${text}"; it is a whole number from 1.`);
    return Number(text);
  };
  const { messages, kills } = values;
  const given = {
    ...(messages === undefined ? {} : { messages: count("messages", messages) }),
    ...(kills === undefined ? {} : { kills: count("kills", kills) }),
  };
  const seed = count("seed", values.seed);
  const names = positionals.length > 0 ? positionals : [...SCENARIOS.keys()];
  const unknown = names.filter((name) => !SCENARIOS.has(name));
  if (unknown.length > 0)
    throw new Error(`There is no scenario ${unknown.join(", ")}. There are: ${[...SCENARIOS.keys()].join(", ")}.`);
  const scenarios = names.flatMap((name) => [...SCENARIOS].filter(([known]) => known === name));
  const ledgerFolder = values.ledger === undefined ? mkdtempSync(join(tmpdir(), "svc-chaos-")) : resolve(values.ledger);
  mkdirSync(ledgerFolder, { recursive: true });
  return { scenarios, seed, isQuick: values.quick, isJson: values.json, given, ledgerFolder };
}

/** Runs one scenario. One that cannot finish has broken its promise. */
async function runScenario(name: string, scenario: Scenario, options: Options) {
  const { promise, sizes } = scenario;
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  const say = (line: string) => console.error(`${name} ${String(seconds()).padStart(4)} s  ${line}`);
  const size = { ...(options.isQuick ? sizes.quick : sizes.full), ...options.given };
  const amounts = Object.entries(size).map(([what, count]) => `${count} ${what}`);
  say(`${promise} (${amounts.join(", ")})`);
  const ledgerFile = join(options.ledgerFolder, `${name}.jsonl`);
  const run = async (): Promise<Outcome> => {
    const ground = await startGround(scenario.ground);
    const ledger = createLedger();
    try {
      return await scenario.run({ ground, ledger, seed: options.seed, say }, size);
    } finally {
      ledger.write(ledgerFile);
      await ground.stop();
    }
  };
  const { figures, breaches } = await run().catch((error: Error): Outcome => {
    say(error.stack ?? error.message);
    return { figures: {}, breaches: [`it did not come to its end: ${error.message}`] };
  });
  return { scenario: name, promise, size, seed: options.seed, seconds: seconds(), figures, breaches, ledgerFile };
}

function printResult({ scenario, seconds, figures, breaches, ledgerFile }: Awaited<ReturnType<typeof runScenario>>) {
  const parts = Object.entries(figures).map(([what, value]) => `${what}: ${value}`);
  console.log(`${breaches.length === 0 ? "KEPT  " : "BROKEN"} ${scenario}, ${seconds} s. ${parts.join("; ")}`);
  for (const breach of breaches.slice(0, 20)) console.log(`       ${breach}`);
  if (breaches.length > 20) console.log(`       and ${breaches.length - 20} more`);
  console.log(`       ${ledgerFile}`);
}

function exitWith(error: unknown): never {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

let options: Options;
try {
  options = readOptions();
} catch (error) {
  exitWith(error);
}
const results = [];
for (const [name, scenario] of options.scenarios) {
  const result = await runScenario(name, scenario, options);
  results.push(result);
  if (!options.isJson) printResult(result);
}
if (options.isJson) console.log(JSON.stringify(results, null, 2));
// Processes of a failed scenario end with this one.
process.exit(results.every(({ breaches }) => breaches.length === 0) ? 0 : 1);
