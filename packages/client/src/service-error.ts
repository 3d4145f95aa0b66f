import type { FieldError } from "@svc/contracts";

/** Details of a failed request. */
export interface ErrorDetails {
  /** HTTP status. Null if there was no response. */
  status?: number | null;
  errors?: readonly FieldError[];
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  cause?: unknown;
}

/**
 * A failed request. `code` is an error code of the service (docs/errors.md), or one of the client: `unreachable` (no
 * server responds, or the connection dropped), `timeout` (the service accepted the request but did not respond in
 * time), `unexpected_answer` (the response is not from this service), or `invalid_options` (invalid input; nothing was
 * sent). The error never contains the key.
 */
export class ServiceError extends Error {
  readonly code: string;
  /** Explanation for people; the same as `message`. */
  readonly detail: string;
  /** HTTP status. Null if there was no response. */
  readonly status: number | null;
  /** All validation errors, each with a JSON Pointer. Empty for other errors. */
  readonly errors: readonly FieldError[];
  /** Identifies the request in the service's log. Null if unknown. */
  readonly requestId: string | null;
  /** Delay before the request can be retried. Null if unknown. */
  readonly retryAfterSeconds: number | null;

  constructor(code: string, detail: string, details: ErrorDetails = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "ServiceError";
    this.code = code;
    this.detail = detail;
    this.status = details.status ?? null;
    this.errors = details.errors ?? [];
    this.requestId = details.requestId ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}
