// A lock file with the process that holds it. A killed process holds nothing: its pid is compared together with its
// start time, as in packages/embedded for the data folder, which cannot be used before it is built.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 250;

function readOrNull(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES"].includes(error.code)) return null;
    throw error;
  }
}

/**
 * Returns the start of a process: boot id and ticks (proc(5), field 22) on Linux; null elsewhere, and if it may not be
 * read.
 */
function readStartMark(pid) {
  if (process.platform !== "linux") return null;
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return `${readOrNull("/proc/sys/kernel/random/boot_id")?.trim() ?? "unknown-boot"}:${ticks}`;
}

function isAlive({ pid, startMark }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === "ESRCH") return false;
    if (error.code !== "EPERM") throw error;
  }
  const current = readStartMark(pid);
  return current === null || typeof startMark !== "string" || current === startMark;
}

/** Returns the process in a lock file's text, or null if it has exited or the text was truncated by a crash. */
function holderIn(text) {
  try {
    const record = JSON.parse(text);
    return Number.isInteger(record?.pid) && record.pid > 0 && isAlive(record) ? record : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns the process that holds the lock, or null. */
export function findHolder(file) {
  const text = readOrNull(file);
  return text === null ? null : holderIn(text);
}

/** Creates the file with its content atomically; returns false if it exists. */
function create(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes the lock of an exited process. If a new owner has created one in between, that one is restored. */
function removeStale(file, stale) {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, "utf8") !== stale) linkSync(aside, file);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(error.code)) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Waits for the lock, calls `onWait` once with the process that holds it, and resolves to the function that releases
 * it.
 */
export async function takeLock(file, onWait) {
  const mine = JSON.stringify({ pid: process.pid, startMark: readStartMark(process.pid) });
  let hasWaited = false;
  while (!create(file, mine)) {
    const text = readOrNull(file);
    if (text === null) continue;
    const holder = holderIn(text);
    if (holder === null) {
      removeStale(file, text);
      continue;
    }
    if (!hasWaited) onWait(holder);
    hasWaited = true;
    await delay(POLL_MS);
  }
  return () => {
    if (readOrNull(file) === mine) rmSync(file, { force: true });
  };
}
