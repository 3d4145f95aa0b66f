// `npm test`: static checks; every test on the queues' Postgres backend with the standalone composition, but for those of
// several processes side by side; these, and what the queues carry, on Redis with separate processes and on the oldest
// PostgreSQL that is installed, with its default settings. `npm run soak`: all four compositions in full.
// `npm test -- FILE … [-t NAME]`: only these, with the options of jest. `npm run test:fast`: types, lint and format, unit
// tests and those of the store.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, setPriority } from "node:os";
import { basename, delimiter, join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ROOT, prepare } from "./prepare.mjs";

const isSoak = process.argv.includes("--soak");
const isFast = process.argv.includes("--fast");
/** Arguments: files, and options of jest. */
const asked = process.argv.slice(2).filter((word) => !["--soak", "--fast"].includes(word));
/**
 * A large young generation avoids copying what a test file needs only shortly, and collector threads would only take
 * cores from other workers.
 */
const COLLECTOR = ["--max-semi-space-size=64", "--single-threaded-gc"];
const JEST = [
  ...COLLECTOR,
  // A test loads the client into a realm without the globals of Node.js.
  "--experimental-vm-modules",
  "--no-warnings",
  join(ROOT, "node_modules", "jest", "bin", "jest.js"),
];
/** Lower priority than the tests that run at the same time. */
const CHECK_PRIORITY = 10;
const startedAt = Date.now();
const say = (line) => console.log(`[${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s] ${line}`);
const bin = (name) => join(ROOT, "node_modules", ".bin", name);
/** Results of each file, by part of the run; of repeated files, the final ones. */
const results = join(ROOT, ".test-results");
/** First results of repeated files. */
const firstResults = join(results, "first-tries");
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

/**
 * Runs a check concurrently with other checks and the first tests, which do not wait for it. Its output is printed in
 * one piece if it fails.
 */
function check(what, command, args) {
  return new Promise((resolve) => {
    const options = {
      cwd: ROOT,
      shell: process.platform === "win32",
      stdio: ["ignore", "pipe", "pipe"],
      // Each thread of the linter infers the types again, which takes CPU time from the tests.
      env: { ...process.env, GOMAXPROCS: String(Math.ceil(availableParallelism() / 2)) },
    };
    const child = spawn(command, args, options);
    // Checks take minutes, and tests have timeouts.
    if (child.pid !== undefined) setPriority(child.pid, CHECK_PRIORITY);
    const output = [];
    child.stdout.on("data", (part) => output.push(part));
    child.stderr.on("data", (part) => output.push(part));
    child.on("error", (error) => output.push(Buffer.from(`${error.message}\n`)));
    child.on("close", (code) => {
      say(`${what}: ${code === 0 ? "good" : "failed"}`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      totals[code === 0 ? "passed" : "failed"]++;
      if (code !== 0) failures.push(`   1  ${what}`);
      resolve();
    });
  });
}

/** Runs all static checks sequentially, because the tests use every core. */
async function runChecks() {
  await check("types", "npm", ["run", "--silent", "typecheck"]);
  // Rules that need types take as long as the type check.
  await check("lint", bin("oxlint"), [...(isFast ? [] : ["--type-aware"]), "--deny-warnings"]);
  await check("format", bin("oxfmt"), ["--check", "."]);
}

/** Runs jest once. Returns its results, or null if it has written none, and its exit code. */
async function jestOnce(output, args, env) {
  rmSync(output, { force: true });
  const report = ["--json", `--outputFile=${output}`, "--testLocationInResults"];
  const code = await run(process.execPath, [...JEST, ...report, ...args], env);
  try {
    return { code, outcome: JSON.parse(readFileSync(output, "utf8")) };
  } catch {
    // It exited before it wrote them.
    return { code, outcome: null };
  }
}

const hasFailed = ({ status }) => status === "failed";
const having = (tests, ...states) => tests.filter(({ status }) => states.includes(status)).length;

function countTests(files) {
  for (const { name, status, assertionResults: tests } of files) {
    totals.passed += having(tests, "passed");
    totals.skipped += having(tests, "pending", "todo");
    // A file may fail without a failed test: if it cannot be loaded, or leaks something.
    const failed = Math.max(having(tests, "failed"), status === "failed" ? 1 : 0);
    totals.failed += failed;
    if (failed > 0) failures.push(`${String(failed).padStart(4)}  ${relative(ROOT, name)}`);
  }
}

/** Replaces the results of repeated files by the new ones. */
function withRepeated(outcome, repeated) {
  const again = new Map((repeated?.testResults ?? []).map((file) => [file.name, file]));
  const files = outcome.testResults.map((file) => again.get(file.name) ?? file);
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const failedFiles = files.filter(hasFailed).length;
  return {
    ...outcome,
    numFailedTestSuites: failedFiles,
    numPassedTestSuites: files.length - failedFiles - outcome.numPendingTestSuites,
    numRuntimeErrorTestSuites: files.filter((file) => hasFailed(file) && file.assertionResults.length === 0).length,
    numTotalTests: tests.length,
    numFailedTests: having(tests, "failed"),
    numPassedTests: having(tests, "passed"),
    numPendingTests: having(tests, "pending"),
    numTodoTests: having(tests, "todo"),
    success: failedFiles === 0,
    testResults: files,
  };
}

/** More failed files than this are not caused by a busy machine. */
const MAX_REPEATED_FILES = 8;
/** Maximum number of tests that pass only when repeated, before the run fails. */
const MAX_REPEATED_TESTS = 3;
/** Tests that failed at first: each with its first failure, and whether it passed when its file was repeated. */
const repeats = [];
/** Duration of each file. */
const durations = [];
/** Number of tests of each file that failed finally. */
const failures = [];

/** Returns the failed tests of a file. A file that could not be loaded, or leaked something, counts as one. */
function failuresOf({ name, message, assertionResults }) {
  const tests = assertionResults.filter(hasFailed);
  const file = relative(ROOT, name);
  if (tests.length === 0) return [{ name, test: file, failure: message }];
  return tests.map(({ fullName, failureMessages }) => ({
    name,
    test: `${file}: ${fullName}`,
    failure: failureMessages.join("\n"),
  }));
}

/** Returns the first line of a failure, with that of its cause ("fetch failed" says little), at most 200 characters. */
function summaryOf(failure) {
  const lines = stripVTControlCharacters(failure).trim().split("\n");
  const cause = lines.findIndex((line) => /^\s*(\[cause\]|Cause):/.test(line));
  const [, sameLine = ""] = /:\s*(.*)/.exec(lines[cause] ?? "") ?? [];
  const said = cause === -1 ? "" : sameLine || (lines[cause + 1] ?? "").trim();
  return `${lines[0] ?? ""}${said === "" ? "" : ` (${said})`}`.slice(0, 200);
}

/** Runs in which jest itself failed, so that not every file has a result. */
const broken = [];

/**
 * Runs jest with a queue backend and a composition; `only` restricts it to some folders, `but` excludes some. Stores the
 * results. Returns the files that failed, for `repeatFailed`.
 */
async function runJest({ name, backend, composition, postgresBinDir, only = [], but = [], workers, worker }) {
  const database = postgresBinDir === undefined ? "the bundled PostgreSQL" : postgresBinDir;
  const what = `${name === undefined ? "" : `${name} tests, `}${backend} backend, ${composition} composition, ${database}`;
  say(`tests on the ${what}`);
  const env = {
    TEST_QUEUE_BACKEND: backend,
    TEST_COMPOSITION: composition,
    ...(postgresBinDir === undefined ? {} : { TEST_POSTGRES_BIN_DIR: postgresBinDir }),
    ...(isSoak ? { SVC_SOAK: "1" } : {}),
    ...(worker === undefined ? {} : { TEST_WORKER: String(worker) }),
  };
  const output = join(results, `${name ?? `${backend}-${composition}`}.json`);
  const ignored = but.flatMap((path) => ["--testPathIgnorePatterns", path]);
  const most = workers === undefined ? [] : [`--maxWorkers=${workers}`];
  const { code, outcome } = await jestOnce(output, [...most, ...ignored, "--", ...only], env);
  const files = outcome?.testResults ?? [];
  for (const { name, startTime, endTime } of files)
    durations.push({ file: relative(ROOT, name), seconds: (endTime - startTime) / 1_000 });
  const failed = files.filter(hasFailed);
  // Without a failed file, jest itself has failed.
  if (outcome === null || (code !== 0 && failed.length === 0)) {
    broken.push(`${what}: jest ended with code ${code}${outcome === null ? " and wrote no results" : ""}`);
    totals.failed++;
  }
  if (failed.length === 0 || failed.length > MAX_REPEATED_FILES) countTests(files);
  else countTests(files.filter((file) => !hasFailed(file)));
  return { what, env, output, outcome, failed: failed.length > MAX_REPEATED_FILES ? [] : failed };
}

/**
 * Repeats the files of a run that failed, if they are few, sequentially and while nothing else runs: a second failure
 * counts; tests that pass are listed with their first failure, and more than three such tests fail the run.
 */
async function repeatFailed({ what, env, output, outcome, failed }) {
  if (failed.length === 0) return;
  mkdirSync(firstResults, { recursive: true });
  renameSync(output, join(firstResults, basename(output)));
  say(`once more, alone: ${failed.map(({ name }) => relative(ROOT, name)).join(", ")}`);
  const again = await jestOnce(output, ["--runInBand", "--runTestsByPath", ...failed.map(({ name }) => name)], env);
  const settled = withRepeated(outcome, again.outcome);
  writeFileSync(output, JSON.stringify(settled));
  const names = new Set(failed.map(({ name }) => name));
  countTests(settled.testResults.filter(({ name }) => names.has(name)));
  const failedAgain = new Set(settled.testResults.filter(hasFailed).map(({ name }) => name));
  for (const { name, test, failure } of failed.flatMap(failuresOf)) {
    repeats.push({
      test: `${test} (${env.TEST_QUEUE_BACKEND}, ${env.TEST_COMPOSITION})`,
      failure: summaryOf(failure),
      isGood: !failedAgain.has(name),
    });
  }
  if (again.code !== 0 && settled.success) {
    broken.push(`${what}, once more: jest ended with code ${again.code}`);
    totals.failed++;
  }
}

/** Returns the CPU time of all exited processes of this run, user and system; null outside Linux. */
function readCpuSeconds() {
  if (process.platform !== "linux") return null;
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // proc(5): fields 14 to 17 in hundredths of a second.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

const hasRedis = () =>
  (process.env.REDIS_URL ?? "") !== "" ||
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, "redis-server")));

async function hasChromium() {
  const { findChromium } = await import("../packages/testing/dist/find-programs.js");
  return findChromium() !== null;
}

/** Returns the program folder of an installed PostgreSQL; undefined if there is none or another one was requested. */
async function installedPostgres() {
  if ((process.env.TEST_DATABASE_URL ?? "") !== "") return undefined;
  const { findInstalledPostgres } = await import("../packages/testing/dist/start-postgres.js");
  return (await findInstalledPostgres()) ?? undefined;
}

/** Tests that run the product or a queue: in `npm run soak`, on both backends and in both compositions. */
const ON_BOTH_BACKENDS = [
  "tests/journeys",
  "tests/packages/queue",
  "packages/channel-manager",
  "apps/api/src/(api-context|callbacks/create-callbacks|openapi/make-openapi)",
];
/**
 * Tests that start the product themselves like `npm start`, do not start it, or use a browser: the same on every
 * backend. Only replies from another replica reach the browser through the queues.
 */
const ON_ONE_BACKEND = [
  "tests/journeys/cli[-.]",
  "tests/journeys/docs-webhooks",
  "tests/journeys/(widget-browser(?!-replicas)|openapi-page)",
  "tests/journeys/(installed-postgres|pooled-postgres|redis-servers)",
];
/** Starts many servers, for uncommon setups: Sentinels, a cluster, TLS. */
const ONLY_IN_SOAK = ["tests/journeys/redis-servers"];
/**
 * Unit tests and those of the store, except tests that start their own servers or read files of hundreds of megabytes.
 */
const FAST = {
  only: ["packages/", "apps/", "tests/packages/store", "tests/[^/]+\\.test"],
  but: [
    "packages/embedded/src/(start-embedded|find-binaries)",
    "tests/packages/(?!store)",
    "apps/api/src/openapi/generated-clients",
    "apps/messenger/src/poll/run-bot",
    "apps/pipeline/src/ingest/ingest-documents",
    // Patterns are compared with whole paths, which may contain a folder with one of the names above.
    "tests/journeys",
  ],
};
/**
 * The other tests wait for processes that they start: once the checks have ended, four workers keep two cores busy, one
 * of them with the tests on Redis.
 */
const SLOW = { only: FAST.but, workers: hasRedis() ? 3 : 4 };
/** Tests that a soak runs with Redis. */
const REDIS_COMPOSITIONS = [
  ["redis", "separate"],
  ["redis", "standalone"],
];
/**
 * Tests about the backend, which `npm test` runs on both: queues, wake-ups and counters; code that accepts, announces
 * and delivers through them; an outage of their server; an erasure, which includes their data.
 */
const QUEUED = [
  "tests/journeys/durability-(outages|pipeline)",
  "tests/journeys/http-(privacy|sync)",
  "tests/packages/queue",
  "packages/channel-manager/src/(channel-manager|deliver-replies)",
  "apps/api/src/callbacks/create-callbacks",
];
/**
 * Tests about several processes, killed processes, and communication between processes (wake-ups of sync calls,
 * callbacks, counters of rate limits): on Redis with separate processes, which is how such a product runs. Without
 * Redis, they run on the Postgres backend with everything else.
 */
const BETWEEN_PROCESSES = [
  "tests/journeys/chaos",
  "tests/journeys/console-events",
  "tests/journeys/durability-(crash|shutdown)",
  "tests/journeys/http-(cut-drains|drain|health|idempotency|kb-durability|models|rate-limit|replicas|reviews-durability|streaming|timeout-race)",
  "tests/journeys/http-webhooks(\\.test|-durability|-order)",
  "tests/journeys/messenger-kills",
  "tests/journeys/widget-browser-replicas",
];

const ON_REDIS = {
  backend: "redis",
  composition: "separate",
  only: [...QUEUED, ...BETWEEN_PROCESSES],
  workers: 1,
  // It runs beside the workers 1 to 3 of another jest, and chooses from other ports than they do.
  worker: 4,
};

if (asked.length > 0) {
  await prepare(console.log);
  process.exit(await run(process.execPath, [...JEST, ...asked]));
}
try {
  await prepare(say);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  say("checks of types, lint and format, beside the first tests");
  const but = isSoak ? [] : [...(hasRedis() ? BETWEEN_PROCESSES : []), ...ONLY_IN_SOAK];
  const standalone = { backend: "postgres", composition: "standalone" };
  const [fast] = await Promise.all([runJest({ ...standalone, ...FAST, name: "fast" }), runChecks()]);
  const runs = [fast];
  const slow = { ...standalone, ...SLOW, but };
  if (isSoak) {
    const further = [["postgres", "separate"], ...(hasRedis() ? REDIS_COMPOSITIONS : [])];
    runs.push(await runJest(slow));
    for (const [backend, composition] of further)
      runs.push(await runJest({ backend, composition, only: ON_BOTH_BACKENDS, but: ON_ONE_BACKEND }));
  } else if (!isFast) {
    const onRedis = { ...ON_REDIS, postgresBinDir: await installedPostgres() };
    runs.push(...(await Promise.all([slow, ...(hasRedis() ? [onRedis] : [])].map(runJest))));
  }
  for (const ended of runs) await repeatFailed(ended);
} catch (error) {
  console.error(error.message);
  totals.failed++;
}

say("done");
const list = (title, lines) => {
  if (lines.length > 0) console.log([title, ...lines.map((line) => `  ${line}`)].join("\n"));
};
const named = (isGood) =>
  repeats.filter((repeat) => repeat.isGood === isGood).map(({ test, failure }) => `${test}\n    ${failure}`);
const slowest = durations.toSorted((one, other) => other.seconds - one.seconds).slice(0, 15);
list(
  "The longest files:",
  slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`),
);
if (named(true).length > MAX_REPEATED_TESTS) {
  console.log(`More than ${MAX_REPEATED_TESTS} tests passed only when they were repeated, so this run has failed.`);
  totals.failed++;
}
list(`Repeated: failed at first and failed again. Both tries are in ${relative(ROOT, results)}:`, named(false));
list("Jest itself failed, so that something may not have been tested:", broken);
if (!hasRedis()) {
  console.log("The tests on Redis were not run: there is no redis-server in the PATH and REDIS_URL is not set.");
  console.log("Install it (for example: apt-get install redis-server) to run them too.");
}
if (!(await hasChromium())) {
  console.log("The tests of the widget in a browser were not run: there is no Chromium in the PATH.");
  console.log(
    "Install it (for example: apt-get install chromium-headless-shell), or name one in SVC_CHROMIUM, to run them too.",
  );
}
// Last, and short: some CI services keep only the end of the output.
list("Repeated: failed at first and passed alone. They, or what they test, depend on timing:", named(true));
list("Failed tests, by file:", failures);
const cpuSeconds = readCpuSeconds();
const cpu = cpuSeconds === null ? "" : ` and ${Math.round(cpuSeconds)} s of CPU time`;
console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s${cpu}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
