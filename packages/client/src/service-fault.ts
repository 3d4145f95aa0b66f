import type { FieldFault } from "@svc/contracts";

/** What is known of a call that failed. */
export interface FaultFacts {
  /** HTTP status; null when there was no answer. */
  status?: number | null;
  errors?: readonly FieldFault[];
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  cause?: unknown;
}

/**
 * A call that failed. `code` says why: one of the service's catalogue (docs/errors.md), or one of this client:
 * - `unreachable`: nothing answers, or the connection was cut;
 * - `timeout`: the service took the call and did not answer in time;
 * - `unexpected_answer`: what answers is not this service;
 * - `invalid_options`: what the client was given cannot be sent; nothing was sent.
 *
 * It never holds the key.
 */
export class ServiceFault extends Error {
  readonly code: string;
  /** What to do, for people; the same as `message`. */
  readonly detail: string;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Every fault of the input, each with a JSON Pointer; empty for other errors. */
  readonly errors: readonly FieldFault[];
  /** Finds the call in the log of the service; null when nothing was said. */
  readonly requestId: string | null;
  /** When the same call can be made again; null when nothing was said. */
  readonly retryAfterSeconds: number | null;

  constructor(code: string, detail: string, facts: FaultFacts = {}) {
    super(detail, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "ServiceFault";
    this.code = code;
    this.detail = detail;
    this.status = facts.status ?? null;
    this.errors = facts.errors ?? [];
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
  }
}
