import { readFileSync } from "node:fs";
import type { Terminal } from "./terminal.ts";

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

export type Environment = Readonly<Record<string, string | undefined>>;

/** Standard input of a command. */
export interface InputStream extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean;
}

/** Context of a command. */
export interface Cli {
  env: Environment;
  /** Folder that relative paths on the command line refer to. */
  folder: string;
  terminal: Terminal;
  /** Standard input, opened when a command reads it. */
  openInput: () => InputStream;
  /** How to call this command, for advice: `svc`, or through npm in the repository. */
  self: string;
  /** Like `self`, for a pipe: without `--silent` npm writes a heading to standard output. */
  silentSelf: string;
  /** How to start the product, for advice. */
  startWith: string;
  /** Sets the exit code of a command that completes. */
  setExitCode(code: ExitCode): void;
}

/** Surroundings of the process. */
export interface Surroundings {
  env: Environment;
  workingFolder: string;
  /** Path of the program that was started. */
  program: string | undefined;
  openInput: () => InputStream;
}

/** Returns how the command was called: directly, or through npm in the repository, which changes the folder. */
export function describeCall({
  env,
  workingFolder,
  program,
}: Omit<Surroundings, "openInput">): Pick<Cli, "env" | "folder" | "self" | "silentSelf" | "startWith"> {
  const isRepository = program !== undefined && /(?:^|[\\/])start\.mjs$/.test(program);
  const isThroughNpm = isRepository && env["npm_lifecycle_event"] !== undefined;
  return {
    env,
    // npm runs scripts in the folder of the package and sets INIT_CWD to the user's folder.
    folder: (isThroughNpm ? env["INIT_CWD"] : undefined) ?? workingFolder,
    self: isRepository ? "npm run svc --" : "svc",
    silentSelf: isRepository ? "npm run --silent svc --" : "svc",
    startWith: isRepository ? "npm start" : "svc up",
  };
}

/** The version of this program. */
export function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
