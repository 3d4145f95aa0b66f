// `npm test`: static checks, then every test on the queues' Postgres backend with the standalone composition, then what
// touches queues or runs the product on Redis with separate processes. `npm run soak`: all four compositions in full.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT, prepare } from "./prepare.mjs";

const isSoak = process.argv.includes("--soak");
const startedAt = Date.now();
const say = (line) => console.log(`[${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s] ${line}`);
const bin = (name) => join(ROOT, "node_modules", ".bin", name);
const results = join(ROOT, ".test-results");
const totals = { passed: 0, failed: 0, skipped: 0 };

function run(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      stdio: "inherit",
      shell: process.platform === "win32",
      env: { ...process.env, ...env },
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

async function check(what, command, args) {
  say(what);
  const code = await run(command, args);
  if (code === 0) totals.passed++;
  else totals.failed++;
}

/** Runs jest with a queue backend and a composition; `only` narrows it to some folders, `but` leaves some out. */
async function runJest({ backend, composition, only = [], but = [] }) {
  const output = join(results, `${backend}-${composition}.json`);
  say(`tests on the ${backend} backend, ${composition} composition`);
  const code = await run(
    process.execPath,
    [
      "--experimental-vm-modules",
      "--no-warnings",
      join(ROOT, "node_modules", "jest", "bin", "jest.js"),
      "--json",
      `--outputFile=${output}`,
      "--testLocationInResults",
      ...but.flatMap((path) => ["--testPathIgnorePatterns", path]),
      "--",
      ...only,
    ],
    { TEST_QUEUE_BACKEND: backend, TEST_COMPOSITION: composition, ...(isSoak ? { SVC_SOAK: "1" } : {}) },
  );
  const report = existsSync(output) ? JSON.parse(readFileSync(output, "utf8")) : null;
  totals.passed += report?.numPassedTests ?? 0;
  totals.skipped += (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  const failed = (report?.numFailedTests ?? 0) + (report?.numRuntimeErrorTestSuites ?? 0);
  totals.failed += failed === 0 && code !== 0 ? 1 : failed;
}

const hasRedis = () =>
  (process.env.REDIS_URL ?? "") !== "" ||
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, "redis-server")));

/** What runs the product or a queue, and so has to run on both backends. */
const ON_BOTH_BACKENDS = ["tests/journeys", "tests/packages/queue", "apps/pipeline", "apps/api"];
/** What starts the product itself, as `npm start` does, or does not start it: the same on every backend. */
const ON_ONE_BACKEND = ["tests/journeys/cli", "tests/journeys/docs-webhooks"];

try {
  await prepare(say);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  await check("type check of the tests", bin("tsc"), ["-p", "tsconfig.test.json"]);
  await check("lint", bin("oxlint"), ["--type-aware", "--deny-warnings"]);
  await check("format", bin("oxfmt"), ["--check", "."]);

  await runJest({ backend: "postgres", composition: "standalone" });
  if (isSoak)
    await runJest({ backend: "postgres", composition: "separate", only: ON_BOTH_BACKENDS, but: ON_ONE_BACKEND });
  if (hasRedis()) {
    await runJest({ backend: "redis", composition: "separate", only: ON_BOTH_BACKENDS, but: ON_ONE_BACKEND });
    if (isSoak)
      await runJest({ backend: "redis", composition: "standalone", only: ON_BOTH_BACKENDS, but: ON_ONE_BACKEND });
  }
} catch (error) {
  console.error(error.message);
  totals.failed++;
}

say("done");
if (!hasRedis()) {
  console.log("The tests on Redis were not run: there is no redis-server in the PATH and REDIS_URL is not set.");
  console.log("Install it (for example: apt-get install redis-server) to run them too.");
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
