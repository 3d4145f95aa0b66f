// `npm run dev`: the product as run by `npm start`, restarted whenever a source changes, and the console with hot
// reload on its own port. Arguments are those of `svc up`.
import { spawn } from "node:child_process";
import { watch } from "node:fs";
import { join } from "node:path";
import { ROOT, prepare, transpileSources, workspaces } from "./prepare.mjs";

const SETTLE_MS = 150;
/** Files that Node.js runs or reads, except tests. */
const WATCHED = /^(?:src|migrations|sql|data)[\\/](?!.*\.test\.ts$)/;
const say = (line) => console.error(`[dev] ${line}`);

let product = null;
let isEnding = false;
let change = Promise.resolve();

function start() {
  const child = spawn(process.execPath, [join(ROOT, "apps/cli/dist/main.js"), "up", ...process.argv.slice(2)], {
    cwd: ROOT,
    stdio: "inherit",
  });
  product = child;
  child.once("exit", (code) => {
    if (product !== child || isEnding) return;
    product = null;
    say(`The product ended with code ${code}. It starts again after the next change.`);
  });
}

/** Stops the product and resolves when it has exited. */
async function stop() {
  const child = product;
  product = null;
  if (child === null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

async function restart() {
  try {
    await transpileSources();
  } catch (error) {
    // The running product continues until the source can be parsed again.
    say(error.message);
    return;
  }
  await stop();
  if (!isEnding) start();
}

await prepare(say);
let timer;
const watchers = workspaces().map((folder) =>
  watch(folder, { recursive: true }, (_, name) => {
    if (name === null || !WATCHED.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      change = change.then(restart);
    }, SETTLE_MS);
  }),
);
const hotConsole = spawn("npx", ["vite", "web"], { cwd: join(ROOT, "apps/console"), stdio: "inherit" });
start();

async function end() {
  if (isEnding) return;
  isEnding = true;
  clearTimeout(timer);
  for (const watcher of watchers) watcher.close();
  hotConsole.kill("SIGTERM");
  await change;
  await stop();
}
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void end());
