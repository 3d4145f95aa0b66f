import { EXIT } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";

/** A fault that a command knows: its message says what to do, its exit code what kind it is. */
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

/** The person has ended a command with Ctrl-C before it was done. */
export class InterruptedError extends CliError {
  constructor() {
    super("interrupted", EXIT.interrupted, "Interrupted.");
    this.name = "InterruptedError";
  }
}
