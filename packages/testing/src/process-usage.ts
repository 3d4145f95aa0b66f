import { readFileSync, readdirSync } from "node:fs";

/**
 * Returns the parent of a process, and the CPU ticks of it and its children that have exited; null if it has exited
 * itself, or on other systems than Linux.
 */
function statOf(pid: number): { parent: number; ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) };
  } catch {
    // The process has exited, or this is not Linux.
    return null;
  }
}

function treeOf(pid: number): number[] {
  let all: number[];
  try {
    all = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [pid];
  }
  return [pid, ...all.filter((other) => statOf(other)?.parent === pid).flatMap(treeOf)];
}

/** Returns the CPU milliseconds that each group of processes has used so far, including their children (Linux only). */
export function cpuOf<Name extends string>(groups: Record<Name, number>): Record<Name, number> {
  return Object.fromEntries(
    Object.entries<number>(groups).map(([name, pid]) => [
      name,
      treeOf(pid).reduce((sum, one) => sum + (statOf(one)?.ticks ?? 0), 0) * 10,
    ]),
  ) as Record<Name, number>;
}

/** Returns the resident memory of a process in bytes; null if unknown. */
export function memoryOf(pid: number): number | null {
  try {
    const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    // The process has exited, or this is not Linux.
    return null;
  }
}

/** Returns the CPU milliseconds that the machine has used and had available; null if unknown. */
export function cpuOfMachine(): { busy: number; total: number } | null {
  try {
    const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    const total = ticks.reduce((sum, one) => sum + one, 0);
    const [, , , idle = 0, waiting = 0] = ticks;
    return { busy: (total - idle - waiting) * 10, total: total * 10 };
  } catch {
    // Not Linux.
    return null;
  }
}

/**
 * Returns the CPU milliseconds of a synchronous function, the least of three runs: what it costs by itself, however busy
 * the machine is.
 */
export function cpuOfRun(run: () => unknown): number {
  const measure = (): number => {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
  return Math.min(measure(), measure(), measure());
}
