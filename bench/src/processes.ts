// Child processes of a benchmark, and the moments in which they or the machine have nothing to do.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { cpuOf, cpuOfMachine } from "@svc/testing";

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
