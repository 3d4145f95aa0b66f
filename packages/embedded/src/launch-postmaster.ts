import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createLineForwarder } from "./create-line-forwarder.ts";
import { EmbeddedPostgresError } from "./errors.ts";
import type { PostgresBinaries } from "./find-binaries.ts";
import { identifyProcess } from "./identify-process.ts";
import type { ProcessIdentity } from "./identify-process.ts";
import type { PostgresLogger } from "./logger.ts";
import type { PostgresAccount } from "./postgres-account.ts";
import { postgresEnvironment } from "./run-tool.ts";
import { stopPostmaster } from "./stop-postmaster.ts";

/** How a server process ended; both null when it was not our child and so nobody told us. */
export type PostgresExit = { code: number | null; signal: NodeJS.Signals | null };

/** A server that accepts connections, and the promise of its end, which never rejects. */
export type RunningPostmaster = { identity: ProcessIdentity; exited: Promise<PostgresExit> };

/** What a launch needs to know; `args` are those of `postgres`. */
export type LaunchOptions = {
  binaries: PostgresBinaries;
  account: PostgresAccount;
  clusterDir: string;
  args: string[];
  log: PostgresLogger;
  /** Ends the launch: the server is told to stop, and the launch rejects with `start_aborted`. */
  signal: AbortSignal;
};

const READY_LINE = "database system is ready to accept connections";
/** Recovery after a crash reads at most max_wal_size of log; only a broken disk takes this long. */
const READY_TIMEOUT_MS = 120_000;
const KEPT_LINES = 20;

type FailureCode = "port_taken" | "folder_busy" | "start_failed";

/** What Postgres says when a start fails for a reason that its caller can do something about. */
const FAILURE_SIGNS: readonly (readonly [string, FailureCode])[] = [
  ["could not create any TCP/IP sockets", "port_taken"],
  ["pre-existing shared memory block", "folder_busy"],
  ['lock file "postmaster.pid" already exists', "folder_busy"],
];

/**
 * Starts a server in a session of its own (Ctrl-C in the terminal does not reach it) and resolves when it accepts
 * connections. What Postgres writes goes to the log for as long as this process lives; a server that outlives us
 * loses its log, not its life.
 *
 * Throws EmbeddedPostgresError: `port_taken`; `folder_busy` while parts of a killed server are still ending;
 * `start_aborted`; `start_failed` with the last words of Postgres.
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
