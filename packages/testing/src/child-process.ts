import { spawn } from "node:child_process";
import type { Server as HttpServer } from "node:http";
import type { Socket, Server } from "node:net";
import { holdResource } from "./held-resources.ts";
import { stretchOfLimits, waitFor } from "./wait-for.ts";
import { childEnvironment, readTestSettings } from "./test-settings.ts";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:net";
import { once } from "node:events";

/**
 * Runs a shell line as soon as this process has ended, even by SIGKILL. The shell waits for the end of its standard
 * input, which only this process keeps open. `args` are $1, $2 and so on. Returns a function that cancels it. Does
 * nothing on Windows, which has no such shell.
 */
export function guard(shellLine: string, args: string[]): () => void {
  if (process.platform === "win32") return () => undefined;
  const shell = spawn("sh", ["-c", `cat >/dev/null; ${shellLine}`, "guard", ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    // Its own session: Ctrl-C in the terminal must not end the guard together with what it guards.
    detached: true,
  });
  shell.unref();
  // The guard must not keep this process alive. A child's pipe is a Socket, although its type does not say so.
  (shell.stdin as Socket).unref();
  return () => void shell.kill("SIGKILL");
}

/** Exit code and signal of a process. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process started by a test. It ends with the test file at the latest; a test file that leaves it running fails. */
export interface ChildProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly exited: Promise<Exit>;
  isRunning(): boolean;
  /** Returns its stdout and stderr so far, the last megabytes of it. */
  output(): string;
  /**
   * Resolves when the output matches the pattern, or the URL responds with 2xx. Rejects with the output if the process
   * exits first, or after `timeoutMs` (100 s).
   */
  ready(condition: RegExp | string, options?: { timeoutMs?: number }): Promise<void>;
  /**
   * Sends a signal (SIGTERM by default) and resolves when the process has exited. If it is still running after 40 s,
   * sends SIGKILL and rejects. Does nothing if it has exited already.
   */
  kill(signal?: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<Exit>;
}

const OUTPUT_MAX_CHARS = 4_000_000;
const LAST_OUTPUT_MS = 500;
const END_TIMEOUT_MS = 40_000;
const READY_TIMEOUT_MS = 100_000;
const PROBE_TIMEOUT_MS = 10_000;

/** Starts a program that does not outlive this process, even if this one is killed with SIGKILL. */
export function spawnChild(options: {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
}): Promise<ChildProcess> {
  const { name, command, args, ...context } = options;
  const child = spawn(command, args, { ...context, stdio: ["ignore", "pipe", "pipe"] });
  let written = "";
  const keep = (text: string) => {
    written = (written + text).slice(-OUTPUT_MAX_CHARS);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);

  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      reject(new Error(`${name} could not be started: ${command} is not there or cannot be run.`, { cause: error }));
    });
    child.once("spawn", () => {
      const pid = child.pid as number;
      const callOffGuard = guard('kill -KILL "$1"', [String(pid)]);
      const release = holdResource(`${name} (process ${pid})`, async () => child.kill("SIGKILL"));
      const exited = new Promise<Exit>((ended) => {
        child.once("exit", (code, signal) => {
          callOffGuard();
          release();
          // The last output may arrive after the exit, but a grandchild that keeps the pipe open must not delay the
          // result.
          child.once("close", () => ended({ code, signal }));
          setTimeout(() => ended({ code, signal }), LAST_OUTPUT_MS).unref();
        });
      });
      const isRunning = () => child.exitCode === null && child.signalCode === null;

      resolve({
        name,
        pid,
        exited,
        isRunning,
        output: () => written,
        async ready(condition, { timeoutMs = READY_TIMEOUT_MS } = {}) {
          const isReady = async () =>
            typeof condition === "string" ? answersWell(condition) : condition.test(written);
          const outcome = await waitFor(async () => (isRunning() ? (await isReady()) && "ready" : "ended"), {
            what: () => `${name} to be ready (${String(condition)}). Its output:\n${written}\n`,
            timeoutMs,
          });
          if (outcome === "ready") return;
          const { code, signal } = await exited;
          throw new Error(
            `${name} ended before it was ready (${signal ?? `exit code ${code}`}). Its output:\n${written}`,
          );
        },
        async kill(signal = "SIGTERM") {
          if (!isRunning()) return exited;
          child.kill(signal);
          const timer = new AbortController();
          const late = new Promise<"late">((tooLate) => {
            const timeout = setTimeout(() => tooLate("late"), END_TIMEOUT_MS * stretchOfLimits());
            timer.signal.addEventListener("abort", () => clearTimeout(timeout), { once: true });
          });
          const end = await Promise.race([exited, late]);
          timer.abort();
          if (end !== "late") return end;
          child.kill("SIGKILL");
          await exited;
          throw new Error(`${name} did not end within ${END_TIMEOUT_MS} ms of ${signal}. Its output:\n${written}`);
        },
      });
    });
  });
}

async function answersWell(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  await response.body?.cancel();
  return response.ok;
}

/** Options of a Node.js program. */
export interface ProcessOptions {
  /** Absolute path of the program. */
  file: string;
  /** Its environment; of the test's own it gets only PATH, HOME and the like. */
  env: Record<string, string>;
  /** Its name in failures. */
  name: string;
  args?: string[];
}

/** Starts a Node.js program, for example the `main.js` of an app. */
export function startProcess({ file, env, name, args = [] }: ProcessOptions): Promise<ChildProcess> {
  return spawnChild({
    name,
    command: process.execPath,
    args: [file, ...args],
    env: { ...childEnvironment(), ...env },
  });
}

/** A folder that is removed with its process. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A program that was killed together with this one may write for another moment, so removing is retried. */
const REMOVE = `for trial in 1 2 3 4 5; do rm -rf "$1" && break; sleep 1; done`;

/** A file system in the memory of a Linux machine, used unless TMPDIR names another folder than this default. */
const IN_MEMORY = "/dev/shm";
const DEFAULT_PARENT = "/tmp";
/** Far more than the databases and logs of a run, a few hundred megabytes at a time. */
const MIN_MEMORY_BYTES = 4 * 1024 ** 3;

/**
 * Returns the parent folder for the data of databases: in memory if there is room. On ext4, most of the CPU time of
 * copying a database of a thousand files is spent on skipping the files of databases that were dropped in the last minutes.
 */
export async function findDataParent(): Promise<string> {
  if (tmpdir() !== DEFAULT_PARENT) return tmpdir();
  try {
    const { bavail, bsize } = await statfs(IN_MEMORY);
    if (bavail * bsize >= MIN_MEMORY_BYTES && freemem() >= MIN_MEMORY_BYTES) return IN_MEMORY;
  } catch {
    // Not Linux, or a container without it.
  }
  return tmpdir();
}

/**
 * Creates a temporary folder, named after its purpose. It is removed when this process ends; `endFirst` is a shell line
 * that runs before that, with the folder as $1.
 */
export async function makeTemporaryFolder(
  what: string,
  { endFirst = ":", parent = tmpdir() }: { endFirst?: string; parent?: string } = {},
): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, `svc-test-${what}-`));
  const callOffGuard = guard(`${endFirst}; ${REMOVE}`, [path]);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      callOffGuard();
    },
  };
}

/**
 * Below the range of ports for outgoing connections: any client could take a port of that range, even one that connects
 * to this very port while its server is down. Above 10080, which `fetch` refuses.
 */
const LOWEST = 10_100;
/**
 * Number of ports of one worker of jest. A process binds its ports up to seconds after they were chosen, and some never:
 * two workers that choose from the same ports would sometimes give one to two processes.
 */
const WORKER_PORTS = 5_000;
const MAX_WORKERS = 4;

const given = new Set<number>();

/** Returns a free TCP port of 127.0.0.1: one that this process has not received recently, nor any other worker of jest. */
export async function freePort(): Promise<number> {
  const lowest = LOWEST + (readTestSettings().worker % MAX_WORKERS) * WORKER_PORTS;
  for (;;) {
    const port = lowest + Math.floor(Math.random() * WORKER_PORTS);
    if (given.has(port) || !(await canListen(port))) continue;
    if (given.size > WORKER_PORTS / 2) given.clear();
    given.add(port);
    return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Makes a server of this process listen on 127.0.0.1 and returns the port: the given one, or a free one. */
export async function listenOnLoopback(server: Server, port?: number): Promise<number> {
  const chosen = port ?? (await freePort());
  server.listen(chosen, "127.0.0.1");
  // Rejects on "error", for example if the port is in use.
  await once(server, "listening");
  return chosen;
}

/**
 * Returns a function that closes a server with its connections and then runs `onClosed`, both once. A test file that
 * does not call it fails.
 */
export function closerOf(
  server: HttpServer,
  what: string,
  onClosed: () => Promise<void> | void = () => undefined,
): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const close = () =>
    (closing ??= (async () => {
      release();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await onClosed();
    })());
  const release = holdResource(what, close);
  return close;
}
