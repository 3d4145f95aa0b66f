import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@svc/primitives";
import { EmbeddedPostgresError, identifyProcess, isStillRunning, postgresEnvironment, runTool } from "./run-tool.ts";
import type { PostgresAccount, PostgresLogger, ProcessIdentity } from "./run-tool.ts";
import type { PostgresBinaries } from "./find-binaries.ts";

const LEVEL_METHODS: Readonly<Record<string, keyof PostgresLogger>> = {
  WARNING: "warn",
  ERROR: "warn",
  FATAL: "warn",
  PANIC: "error",
};
/** A line that is repeated within this time is counted instead of logged. */
const QUIET_MS = 10_000;
/** Maximum number of different lines remembered; Postgres repeats few. */
const MAX_REMEMBERED = 100;

/**
 * Forwards lines of Postgres to a log. Postgres writes "LEVEL: text"; continuation lines have a level of their own
 * (DETAIL, HINT). On a full disk each failing connection logs the same line, many times a second: a repeated line is
 * logged once in ten seconds, with the number of repetitions in `repeated`. `now` returns milliseconds.
 */
export function createLineForwarder(log: PostgresLogger, now: () => number): (line: string) => void {
  const said = new Map<string, { at: number; unsaid: number }>();

  return (line) => {
    const [, level = "LOG", text = line] = /^([A-Z]+): {2}(.*)$/.exec(line) ?? [];
    const last = said.get(line);
    if (last !== undefined && now() - last.at < QUIET_MS) {
      last.unsaid++;
      return;
    }
    said.delete(line);
    said.set(line, { at: now(), unsaid: 0 });
    const [oldest] = said.keys();
    if (said.size > MAX_REMEMBERED && oldest !== undefined) said.delete(oldest);
    const repeated = last === undefined || last.unsaid === 0 ? {} : { repeated: last.unsaid };
    log[LEVEL_METHODS[level] ?? "info"]({ component: "postgres", severity: level, ...repeated }, text);
  };
}

/**
 * A fast shutdown ends sessions and writes a checkpoint; one second remains for an immediate one within the limit of
 * five.
 */
const FAST_SHUTDOWN_MS = 4000;
const IMMEDIATE_SHUTDOWN_MS = 5000;
const POLL_MS = 20;

/**
 * Stops a server: SIGINT (fast shutdown), and after four seconds SIGQUIT (immediate shutdown: the next start recovers
 * from the WAL, and nothing committed is lost). Resolves when the process has ended, also if it had ended before. Never
 * sends SIGKILL, which would leave its children behind.
 *
 * Throws EmbeddedPostgresError `stop_failed` if the process survives both.
 */
export async function stopPostmaster(identity: ProcessIdentity, binaries: PostgresBinaries): Promise<void> {
  await signal(identity, "INT", binaries);
  if (await isGoneWithin(identity, FAST_SHUTDOWN_MS)) return;
  await signal(identity, "QUIT", binaries);
  if (await isGoneWithin(identity, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new EmbeddedPostgresError(
    "stop_failed",
    `PostgreSQL (process ${identity.pid}) does not stop; its disk may hang. Check that process before the next start.`,
  );
}

/** Polls until the process has ended; for servers that are not our children. */
export async function waitForProcessEnd(identity: ProcessIdentity, pollMs: number): Promise<void> {
  while (await isStillRunning(identity)) await delay(pollMs);
}

async function signal(identity: ProcessIdentity, name: "INT" | "QUIT", binaries: PostgresBinaries): Promise<void> {
  if (!(await isStillRunning(identity))) return;
  if (process.platform === "win32") {
    // Windows has no signals; pg_ctl uses a pipe.
    await runTool(binaries.pgCtl, ["kill", name, String(identity.pid)], { cwd: binaries.nativeDir, account: null });
    return;
  }
  try {
    process.kill(identity.pid, `SIG${name}`);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

async function isGoneWithin(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isStillRunning(identity)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** How a server process ended. Both are null if it was not a child of this process. */
export type PostgresExit = { code: number | null; signal: NodeJS.Signals | null };

/** A server that accepts connections, and a promise that resolves when it ends and never rejects. */
export type RunningPostmaster = { identity: ProcessIdentity; exited: Promise<PostgresExit> };

/** Options of a launch; `args` are those of `postgres`. */
type LaunchOptions = {
  binaries: PostgresBinaries;
  account: PostgresAccount;
  clusterDir: string;
  args: string[];
  log: PostgresLogger;
  /** Aborts the launch: the server is stopped, and the launch rejects with `start_aborted`. */
  signal: AbortSignal;
};

const READY_LINE = "database system is ready to accept connections";
/** Recovery after a crash reads at most max_wal_size of log; only a broken disk takes this long. */
const READY_TIMEOUT_MS = 120_000;
const KEPT_LINES = 20;

type FailureCode = "port_taken" | "folder_busy" | "start_failed";

/** Messages of Postgres about a failed start that the caller can handle. */
const FAILURE_SIGNS: readonly (readonly [string, FailureCode])[] = [
  ["could not create any TCP/IP sockets", "port_taken"],
  ["pre-existing shared memory block", "folder_busy"],
  ['lock file "postmaster.pid" already exists', "folder_busy"],
];

/**
 * Starts a server in its own session (so that Ctrl-C in the terminal does not reach it) and resolves when it accepts
 * connections. Its output goes to the log while this process runs; a server that outlives this process continues
 * without a log.
 *
 * Throws EmbeddedPostgresError: `port_taken`; `folder_busy` while parts of a killed server are still ending;
 * `start_aborted`; `start_failed` with the last lines of Postgres.
 */
export async function launchPostmaster(options: LaunchOptions): Promise<RunningPostmaster> {
  const { binaries, account, clusterDir, args, log, signal } = options;
  const child = spawn(binaries.postgres, args, {
    cwd: clusterDir,
    env: postgresEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
    windowsHide: true,
    ...account,
  });
  const lines = createInterface({ input: child.stderr });
  const linesEnded = once(lines, "close");
  const lastLines: string[] = [];
  const forward = createLineForwarder(log, () => performance.now());
  const ready = new Promise<"ready">((resolve) => {
    lines.on("line", (line) => {
      lastLines.push(line);
      if (lastLines.length > KEPT_LINES) lastLines.shift();
      forward(line);
      if (line.includes(READY_LINE)) resolve("ready");
    });
  });
  const exited = new Promise<PostgresExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const notStarted = new Promise<{ error: Error }>((resolve) => {
    child.once("error", (error) => resolve({ error }));
  });
  const cutShort = whenAborted(AbortSignal.any([signal, AbortSignal.timeout(READY_TIMEOUT_MS)]));

  const outcome = await Promise.race([ready, exited, notStarted, cutShort]);
  if (typeof outcome === "object" && "error" in outcome) {
    throw startFailed("start_failed", clusterDir, outcome.error.message, outcome.error);
  }
  const { pid } = child;
  const identity = pid === undefined ? null : await identifyProcess(pid);
  if (outcome === "ready" && identity !== null) return { identity, exited };

  if (identity !== null) await stopPostmaster(identity, binaries);
  await linesEnded;
  if (signal.aborted) {
    throw new EmbeddedPostgresError("start_aborted", "PostgreSQL startup aborted by shutdown.");
  }
  const said = lastLines.join("\n");
  throw startFailed(FAILURE_SIGNS.find(([sign]) => said.includes(sign))?.[1] ?? "start_failed", clusterDir, said);
}

function whenAborted(signal: AbortSignal): Promise<"cut short"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("cut short");
    else signal.addEventListener("abort", () => resolve("cut short"), { once: true });
  });
}

const ADVICE = {
  port_taken: "Stop the program that uses this port, or let the product choose a free one.",
  folder_busy: "Processes of an earlier PostgreSQL are still shutting down. Retry in a moment.",
  start_failed:
    "See its message. Common causes are insufficient disk space and missing permissions for the data folder.",
} satisfies Record<FailureCode, string>;

function startFailed(code: FailureCode, clusterDir: string, said: string, cause?: Error): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    code,
    `PostgreSQL did not start on ${clusterDir}. ${ADVICE[code]} Its message: ${said}`,
    cause === undefined ? {} : { cause },
  );
}

/** Options of the supervision. `launch` starts a new server and stops trying if its signal is aborted. */
type SuperviseOptions = {
  first: RunningPostmaster;
  launch: (signal: AbortSignal) => Promise<RunningPostmaster>;
  /** Stops the given server and resolves when it has ended. */
  stopServer: (server: RunningPostmaster) => Promise<void>;
  log: PostgresLogger;
  onCrash: (exit: PostgresExit) => void;
};

/** A server that is kept running until it is stopped. */
type SupervisedPostmaster = {
  /** The pid of the running server, or of the last one during a restart. */
  readonly pid: number;
  stop(): Promise<void>;
};

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5000;
/** After this uptime, a crash is not a failed start: the backoff is reset. */
const STABLE_AFTER_MS = 60_000;

/**
 * Restarts the server whenever it ends unexpectedly, with a backoff from a tenth of a second to five seconds, without
 * limit: the product recovers when the cause (a full disk, a killed process) is fixed. Each end and each failed start
 * is logged. `stop` ends both the server and the supervision.
 */
export function supervisePostmaster(options: SuperviseOptions): SupervisedPostmaster {
  const { first, launch, stopServer, log, onCrash } = options;
  const stopping = new AbortController();
  let current = first;
  let isUp = true;
  let stopped: Promise<void> | null = null;

  // If the owner ends without stop(), it still stops its server; if it is killed, the next start handles it.
  const stopAtExit = () => {
    if (isUp) process.kill(current.identity.pid, "SIGINT");
  };
  process.once("exit", stopAtExit);

  /** Resolves to null if supervision is stopped before a start succeeds. */
  const relaunch = async (firstPauseMs: number): Promise<RunningPostmaster | null> => {
    for (let pauseMs = firstPauseMs; ; pauseMs = nextPause(pauseMs)) {
      try {
        await delay(pauseMs, undefined, { signal: stopping.signal });
        return await launch(stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return null;
        log.error({ err: error, nextTryInMs: nextPause(pauseMs) }, "PostgreSQL failed to restart");
      }
    }
  };

  const watch = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const runningSince = performance.now();
      const exit = await current.exited;
      isUp = false;
      if (stopping.signal.aborted) return;
      log.error({ pid: current.identity.pid, ...exit }, "PostgreSQL exited unexpectedly; restarting");
      notify(onCrash, exit, log);
      pauseMs = performance.now() - runningSince > STABLE_AFTER_MS ? FIRST_PAUSE_MS : nextPause(pauseMs);
      const next = await relaunch(pauseMs);
      if (next === null) return;
      current = next;
      isUp = true;
      // A start that succeeds during the stop is not known to it and is stopped here.
      if (stopping.signal.aborted) await stopServer(next);
      else log.info({ pid: next.identity.pid }, "PostgreSQL is running again");
    }
  };
  const watching = watch();

  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([stopServer(current), watching]);
    process.off("exit", stopAtExit);
  };
  return {
    get pid() {
      return current.identity.pid;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

function nextPause(pauseMs: number): number {
  return Math.min(pauseMs * 2, MAX_PAUSE_MS);
}

function notify(onCrash: (exit: PostgresExit) => void, exit: PostgresExit, log: PostgresLogger): void {
  try {
    onCrash(exit);
  } catch (error) {
    log.error({ err: error }, "The listener for PostgreSQL crashes failed");
  }
}
