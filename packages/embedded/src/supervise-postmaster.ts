import { setTimeout as delay } from "node:timers/promises";
import type { PostgresLogger } from "./errors.ts";
import type { PostgresExit, RunningPostmaster } from "./launch-postmaster.ts";

/** Options of the supervision. `launch` starts a new server and stops trying if its signal is aborted. */
export type SuperviseOptions = {
  first: RunningPostmaster;
  launch: (signal: AbortSignal) => Promise<RunningPostmaster>;
  /** Stops the given server and resolves when it has ended. */
  stopServer: (server: RunningPostmaster) => Promise<void>;
  log: PostgresLogger;
  onCrash: (exit: PostgresExit) => void;
};

/** A server that is kept running until it is stopped. */
export type SupervisedPostmaster = {
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
