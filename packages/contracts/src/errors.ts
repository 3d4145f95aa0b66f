/** One fault of a request: where (JSON Pointer, RFC 6901), what kind, and what would be right. */
export interface FieldFault {
  pointer: string;
  code: string;
  detail: string;
}

interface CatalogueEntry {
  status: number;
  title: string;
  /** When it happens, for the documentation. */
  when: string;
}

/** Every error that an HTTP surface can answer (RFC 9457). `code` is the stable contract. */
export const ERRORS = {
  missing_key: { status: 401, title: "Missing key", when: "No API key was sent." },
  invalid_key: { status: 401, title: "Invalid key", when: "The API key is unknown, revoked or expired." },
  ambiguous_credentials: {
    status: 400,
    title: "Ambiguous credentials",
    when: "Authorization and X-Api-Key were both sent and differ.",
  },
  insufficient_scope: { status: 403, title: "Insufficient scope", when: "The key lacks the scope of this operation." },
  project_mismatch: {
    status: 403,
    title: "Project mismatch",
    when: "A scoped key was used with a project other than the one it is bound to.",
  },
  invalid_json: { status: 400, title: "Invalid JSON", when: "The body is not JSON in UTF-8." },
  invalid_request: { status: 400, title: "Invalid request", when: "A field, query parameter or path is not valid." },
  not_found: { status: 404, title: "Not found", when: "There is nothing at this address, or not for this key." },
  method_not_allowed: { status: 405, title: "Method not allowed", when: "The path exists, but not with this method." },
  payload_too_large: { status: 413, title: "Payload too large", when: "The body is larger than allowed." },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    when: "The body is not application/json, or is compressed.",
  },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency key reused",
    when: "The Idempotency-Key was used before with another body.",
  },
  idempotency_in_progress: {
    status: 409,
    title: "Call in progress",
    when: "Another call with this Idempotency-Key is being worked on right now.",
  },
  version_conflict: {
    status: 412,
    title: "Version conflict",
    when: "The object changed since the version that the request names.",
  },
  rate_limited: { status: 429, title: "Too many requests", when: "The limit of requests is used up for now." },
  channel_disabled: { status: 503, title: "Channel disabled", when: "The channel is switched off in its settings." },
  unavailable: {
    status: 503,
    title: "Unavailable",
    when: "The store cannot be reached. Broken off in just that moment, a message may be accepted all the same.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    when: "A fault of the service; the request id finds it in the log.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The body of every error answer (RFC 9457). */
export interface Problem {
  ok: false;
  type: string;
  title: string;
  status: number;
  code: ErrorCode;
  detail: string;
  instance?: string;
  requestId?: string;
  errors?: FieldFault[];
}

/** An error that a caller may see: a code of the catalogue and a text that tells how to mend the call. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldFault[] | undefined;
  /** Response headers that belong to this answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    options: { errors?: FieldFault[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause });
    this.name = "ServiceError";
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}
