// Child processes of a benchmark, and the moments in which they or the machine have nothing to do.

import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cpuOf, cpuOfMachine, freePort, queryDatabase, waitFor } from "@svc/testing";

/** Processes by the names that figures have. */
export type Groups = Record<string, number>;

const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Starts a Node program; its errors are shown, its output is not. */
export function start(args: string[], options: { env?: Record<string, string>; cwd?: string } = {}) {
  const { env = {}, ...context } = options;
  const child = spawn(process.execPath, args, {
    ...context,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.add(child);
  child.on("exit", () => children.delete(child));
  return Object.assign(child, { pid: child.pid ?? 0 });
}

/** Ends a program and waits until it has exited. */
export async function stop(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

const CHECK_MS = 500;
/** CPU milliseconds in that time: pollers and heartbeats of several apps use less. */
const IDLE_MS = 50;
const IDLE_LIMIT_MS = 300_000;

/** Waits until these processes are idle, so that a backlog does not affect the next measurement. */
export async function untilIdle(groups: Groups) {
  const sum = () => Object.values(cpuOf(groups)).reduce((total, ms) => total + ms, 0);
  const limit = performance.now() + IDLE_LIMIT_MS;
  let before = sum();
  while (performance.now() < limit) {
    await pause(CHECK_MS);
    const after = sum();
    if (after - before <= IDLE_MS) return;
    before = after;
  }
  throw new Error(`the backlog was not worked off within ${IDLE_LIMIT_MS / 1_000} s`);
}

/** Below this share of busy time, the machine counts as quiet. */
const QUIET_SHARE = 0.2;
const QUIET_LIMIT_MS = 5_000;

/** Waits for a moment in which the machine has little to do, at most 5 s. */
export async function untilQuiet() {
  const limit = performance.now() + QUIET_LIMIT_MS;
  for (let before = cpuOfMachine(); before !== null && performance.now() < limit;) {
    await pause(CHECK_MS);
    const after = cpuOfMachine();
    if (after === null || after.busy - before.busy < QUIET_SHARE * (after.total - before.total)) return;
    before = after;
  }
}

// The comparison program: whatever folder holds api.mjs, worker.mjs and schema.sql and speaks the same HTTP API.

/** A comparison program in one variant. */
export interface Variant {
  name: string;
  /** Its environment: empty for the program's defaults. */
  settings: Record<string, string>;
}

interface FloorOptions extends Variant {
  folder: string;
  scratch: string;
  databaseUrl: string;
  redisPort: number;
  key: string;
}

/** Starts a copy of the program in `folder` under a name of its own. */
export async function startFloor({ name, settings, folder, scratch, databaseUrl, redisPort, key }: FloorOptions) {
  const copy = join(scratch, "floor");
  if (!existsSync(copy)) {
    cpSync(resolve(folder), copy, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", copy]);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], { cwd: copy, stdio: "inherit" });
  }
  await queryDatabase(databaseUrl, readFileSync(join(copy, "schema.sql"), "utf8"));
  const port = await freePort();
  const own = { PORT: String(port), REDIS_PORT: String(redisPort), PG_URL: databaseUrl, FLOOR_KEY: key };
  const env = { ...settings, ...own, PREFIX: `floor-${name}` };
  const api = start(["api.mjs"], { cwd: copy, env });
  const worker = start(["worker.mjs"], { cwd: copy, env });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${url}/api/v1/health`)).ok, { what: `the floor (${name})` });
  return {
    name: `floor (${name})`,
    url,
    groups: { api: api.pid, worker: worker.pid },
    async stop() {
      await Promise.all([stop(api), stop(worker)]);
    },
  };
}
