import type { ErrorCode } from "@svc/contracts";

/** A model could not be pulled: `message` says why and what to do. */
export class PullError extends Error {
  readonly code: ErrorCode;
  /** True when another try would end the same. */
  readonly isFinal: boolean;

  constructor(code: ErrorCode, message: string, options: { isFinal: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "PullError";
    this.code = code;
    this.isFinal = options.isFinal;
  }
}
