// Child processes of a benchmark, and the CPU that they use (Linux; elsewhere the CPU column is empty).
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import net from "node:net";

const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** Starts a program; its errors are shown, its output is not. */
export function start(command, args, { env = {}, cwd } = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
  children.add(child);
  child.on("exit", () => children.delete(child));
  return child;
}

/** Ends a program and waits until it is gone. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Waits until a check answers true, at most a minute; asks again after `everyMs`. */
export async function until(what, check, everyMs = 100) {
  const limit = performance.now() + 60_000;
  while (performance.now() < limit) {
    if (await check().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`${what} did not come up within a minute`);
}

const statOf = (pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    // The process is gone, or this is not Linux.
    return null;
  }
};

function treeOf(pid) {
  let all;
  try {
    all = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [pid];
  }
  return [pid, ...all.filter((other) => statOf(other)?.parent === pid).flatMap(treeOf)];
}

/** CPU milliseconds that each group of processes has used so far, their children included. */
export function cpuOf(groups) {
  return Object.fromEntries(
    Object.entries(groups).map(([name, pid]) => [
      name,
      treeOf(pid).reduce((sum, one) => sum + (statOf(one)?.ticks ?? 0), 0) * 10,
    ]),
  );
}

/** Resident memory of a process, in bytes; null where that cannot be told. */
export function memoryOf(pid) {
  try {
    const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    // The process is gone, or this is not Linux.
    return null;
  }
}

const LOOK_MS = 500;
/** CPU milliseconds in that time: pollers and heartbeats of several apps use less. */
const IDLE_MS = 50;
const IDLE_LIMIT_MS = 300_000;

/** Waits until these processes have nothing left to do, so that a backlog does not fall into the next measurement. */
export async function untilIdle(groups) {
  const sum = () => Object.values(cpuOf(groups)).reduce((total, ms) => total + ms, 0);
  const limit = performance.now() + IDLE_LIMIT_MS;
  let before = sum();
  while (performance.now() < limit) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const after = sum();
    if (after - before <= IDLE_MS) return;
    before = after;
  }
  throw new Error(`the backlog was not worked off within ${IDLE_LIMIT_MS / 1_000} s`);
}

/** CPU milliseconds that the whole machine has spent and could have spent; null where that cannot be told. */
export function cpuOfMachine() {
  try {
    const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    const total = ticks.reduce((sum, one) => sum + one, 0);
    return { busy: (total - ticks[3] - ticks[4]) * 10, total: total * 10 };
  } catch {
    // Not Linux.
    return null;
  }
}

/** Below this share of a machine at work it counts as quiet. */
const QUIET_SHARE = 0.2;
const QUIET_LIMIT_MS = 5_000;

/** Waits for a moment in which the machine has little to do, at most 5 s. */
export async function untilQuiet() {
  const limit = performance.now() + QUIET_LIMIT_MS;
  for (let before = cpuOfMachine(); before !== null && performance.now() < limit;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const after = cpuOfMachine();
    if (after.busy - before.busy < QUIET_SHARE * (after.total - before.total)) return;
    before = after;
  }
}
