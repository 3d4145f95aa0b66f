// Prepares the checkout: installs from the frozen lockfile and builds, but only what has changed, so that a start
// without changes takes a few milliseconds. `npm run build` runs it alone.
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./process-lock.mjs";
import { transpile } from "./transpile.mjs";

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const STAMP = join(ROOT, "node_modules", ".svc-prepared.json");
const { packageManager } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
/** Prevents two processes from installing or building in one checkout concurrently. */
const LOCK = join(ROOT, "node_modules", ".svc-preparing.lock");
const MIN_NODE = [20, 19];

function listFiles(folder, accept) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return ["node_modules", "dist", "dist-web", ".turbo"].includes(entry.name) ? [] : listFiles(path, accept);
    return accept(path) ? [path] : [];
  });
}

/** Returns the folders of all packages and apps. */
export const workspaces = () =>
  ["packages", "apps"].flatMap((group) =>
    readdirSync(join(ROOT, group))
      .map((name) => join(ROOT, group, name))
      .filter((folder) => existsSync(join(folder, "package.json"))),
  );

/** Outputs of the browser builds, to check whether they exist. */
const WEB_OUTPUTS = ["apps/widget/dist/client/manifest.json", "apps/console/dist-web/index.html"];

/** Returns a mark that changes with the dependencies. */
function installMark() {
  const hash = createHash("sha256");
  for (const file of [join(ROOT, "pnpm-lock.yaml"), join(ROOT, "package.json"), join(ROOT, "pnpm-workspace.yaml")])
    hash.update(readFileSync(file));
  const tools = ["bench", "chaos", "eval", "tests"].map((name) => join(ROOT, name));
  for (const folder of [...workspaces(), ...tools]) hash.update(readFileSync(join(folder, "package.json")));
  return hash.digest("hex");
}

/**
 * Returns a mark that changes with the source files in these files and folders: by names, sizes and times, which takes
 * milliseconds.
 */
function markOf(paths) {
  const hash = createHash("sha256");
  const isSource = (path) => !path.endsWith(".test.ts") && !path.endsWith(".md");
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? listFiles(path, isSource) : [path]));
  for (const file of files) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${relative(ROOT, file)} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex");
}

/** Returns a mark that changes with any source file of the product. */
export const sourceMark = () => markOf(workspaces());

/** Transpiles the code for Node.js if its sources have changed. */
export const transpileSources = () => transpile(workspaces());

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    // A missing or partial stamp: everything is prepared again.
    return {};
  }
}

function writeStamp(stamp) {
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, JSON.stringify(stamp));
}

/** Returns the number of packages that pnpm has installed, from the last progress line. */
function installProgress(output) {
  const last = Array.from(output.matchAll(/Progress: resolved (\d+), .*added (\d+)/g)).at(-1);
  return last === undefined ? "" : `${last[2]} of ${last[1]} packages`;
}

/** Runs a program. `readProgress` extracts the progress from the output so far. The output is printed if it fails. */
function run(command, args, { say, what, readProgress = () => "" }) {
  const startedAt = Date.now();
  say(`${what} …`);
  const ticker = setInterval(() => {
    const parts = [`${Math.round((Date.now() - startedAt) / 1000)} s`, readProgress(Buffer.concat(output).toString())];
    say(`${what} … ${parts.filter((part) => part !== "").join(", ")}`);
  }, 5_000);
  const output = [];
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", CI: "true" },
    });
    child.stdout.on("data", (part) => output.push(part));
    child.stderr.on("data", (part) => output.push(part));
    child.on("error", (error) => {
      clearInterval(ticker);
      reject(error);
    });
    child.on("close", (code) => {
      clearInterval(ticker);
      if (code === 0) return resolve();
      process.stderr.write(Buffer.concat(output));
      reject(new Error(`${what} failed (exit code ${code}). See the output above.`));
    });
  });
}

function isPrepared(stamp, { install, build }) {
  const isBuilt =
    workspaces().every((folder) => existsSync(join(folder, "dist", "index.js"))) &&
    WEB_OUTPUTS.every((file) => existsSync(join(ROOT, file)));
  return stamp.install === install && stamp.build === build && isBuilt;
}

/**
 * Installs and builds what has changed. `say` prints progress; nothing is printed if there is nothing to do. A second
 * process in the same checkout waits for the first.
 */
export async function prepare(say) {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1]))
    throw new Error(`Node.js ${process.versions.node} is too old. Install version ${MIN_NODE.join(".")} or newer.`);
  if (isPrepared(readStamp(), { install: installMark(), build: sourceMark() })) return;
  mkdirSync(dirname(LOCK), { recursive: true });
  const release = await takeLock(LOCK, ({ pid }) =>
    say(`Process ${pid} is installing or building in this checkout; waiting …`),
  );
  try {
    await installAndBuild(say);
  } finally {
    release();
  }
}

async function installAndBuild(say) {
  let stamp = readStamp();
  const keep = (change) => {
    stamp = { ...stamp, ...change };
    writeStamp(stamp);
  };
  const install = installMark();
  if (stamp.install !== install) {
    // npx runs the version of pnpm that the repository pins.
    await run("npx", ["--yes", packageManager, "install", "--frozen-lockfile"], {
      say,
      what: "Installing dependencies (first start or after an update)",
      readProgress: installProgress,
    });
    stamp = {};
    keep({ install });
  }
  const build = sourceMark();
  await transpileSources();
  // Turbo builds for browsers what is not in its cache; turbo.json lists the inputs.
  const args = ["--yes", packageManager, "exec", "turbo", "run", "build:web", "--output-logs=new-only"];
  await run("npx", args, { say, what: "Building the pages for browsers" });
  keep({ build });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await prepare((line) => console.error(line)).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
