/**
 * An owner in its own process, for tests that kill it: `node owner-process.mjs <acquire|start> <dataDir>` prints one
 * line of JSON when it owns the folder, and releases it when its stdin ends. It runs the sources, so that a test never
 * uses an older build.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { isMainThread } from "node:worker_threads";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { transform } from "@swc/core";

/** The hook of Node's module loader that turns TypeScript into JavaScript; this file is its own hook. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith(".ts")) return nextLoad(url, context);
  const source = await readFile(fileURLToPath(url), "utf8");
  const { code } = await transform(source, { jsc: { target: "es2022", parser: { syntax: "typescript" } } });
  return { format: "module", source: code, shortCircuit: true };
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const OWNERSHIPS = {
  async acquire({ acquireDataFolder }, dataDir) {
    const lock = await acquireDataFolder(dataDir);
    return { report: {}, giveBack: () => lock.release() };
  },
  async start({ startEmbeddedPostgres }, dataDir) {
    const { url, pid, port, adopted, stop } = await startEmbeddedPostgres({ dataDir, log: silent });
    return { report: { url, pid, port, adopted }, giveBack: stop };
  },
};

async function main(kind, dataDir) {
  register(import.meta.url);
  try {
    const { report, giveBack } = await OWNERSHIPS[kind](await import("./index.ts"), dataDir);
    process.stdout.write(`${JSON.stringify(report)}\n`);
    process.stdin.resume();
    await once(process.stdin, "end");
    await giveBack();
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: error.name, message: error.message })}\n`);
  }
}

if (isMainThread) await main(process.argv[2], process.argv[3]);
