/**
 * The exit codes of `svc`. 78 is EX_CONFIG of sysexits.h, which the apps use too; 130 is the code of shells for a
 * program that Ctrl-C ended.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notRunning: 3,
  notAllowed: 4,
  configuration: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each exit code means, for the help and the documentation. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: "success, or stopped with Ctrl-C",
  1: "failed",
  2: "invalid command line",
  3: "the service, PostgreSQL or Redis is not running, or is unreachable",
  4: "not allowed: missing or unknown key, or missing scope",
  78: "invalid configuration",
  130: "interrupted before completion",
};

/** An expected error of a command: its message says what to do, and its exit code which kind it is. */
export class CliError extends Error {
  /** For machines, as in `not_running`. */
  readonly code: string;
  readonly exitCode: ExitCode;

  constructor(code: string, exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** An invalid command line, with what to write instead. */
export const usageError = (message: string, options?: ErrorOptions) =>
  new CliError("usage", EXIT.usage, message, options);

/** A command that failed, exit code 1. `code` is for machines, as in `not_found`. */
export const failure = (code: string, message: string, options?: ErrorOptions) =>
  new CliError(code, EXIT.failed, message, options);

/** Error of a command that the user ended with Ctrl-C. */
export class InterruptedError extends CliError {
  constructor() {
    super("interrupted", EXIT.interrupted, "Interrupted.");
    this.name = "InterruptedError";
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Returns the result of the work. Rejects with the reason of the signal as soon as it is aborted, without waiting for
 * the work.
 */
export async function untilAborted<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  let giveUp: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener("abort", giveUp, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/** Interruptions of a command that has to stop something first. */
interface InterruptWatch {
  hasHappened(): boolean;
  /** Aborted as soon as the user ends the command. */
  readonly signal: AbortSignal;
  /** Returns the result of the work. Rejects with InterruptedError as soon as the user ends the command. */
  race<Result>(work: Promise<Result>): Promise<Result>;
  /** Stops handling the signals. */
  release(): void;
}

/**
 * Handles Ctrl-C, SIGTERM and a closed terminal, so that started services can be stopped first. A second signal ends
 * the process immediately.
 */
export function watchInterrupt(): InterruptWatch {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new InterruptedError());
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    hasHappened: () => controller.signal.aborted,
    signal: controller.signal,
    race: (work) => untilAborted(() => work, controller.signal),
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
