import { z } from "zod";

/** One fault of a request: where (JSON Pointer, RFC 6901), what kind, and what would be right. */
export const fieldFaultSchema = z.object({
  pointer: z.string().describe("Where it is: a JSON Pointer (RFC 6901)."),
  code: z.string().describe("What kind it is."),
  detail: z.string().describe("What would be right."),
});
export type FieldFault = z.infer<typeof fieldFaultSchema>;

interface CatalogueEntry {
  status: number;
  title: string;
  /** When it happens, and what the caller does about it: sentences for the documentation. */
  when: string;
  mend: string;
  /** What the answer has besides. */
  also?: string;
}

/** Every error that an HTTP surface can answer (RFC 9457). `code` is the stable contract. */
export const ERRORS = {
  missing_key: {
    status: 401,
    title: "Missing key",
    when: "No API key was sent. A key in the query string is ignored.",
    mend: "Send it as `Authorization: Bearer <key>` or `X-Api-Key: <key>`.",
    also: "`WWW-Authenticate: Bearer`",
  },
  invalid_key: {
    status: 401,
    title: "Invalid key",
    when: "The API key is unknown, revoked or expired.",
    mend: "Check for a typing error; ask your administrator for a new key.",
    also: '`WWW-Authenticate: Bearer`, with `error="invalid_token"`',
  },
  invalid_signature: {
    status: 401,
    title: "Invalid signature",
    when: "An inbound hook is unknown, or the call does not prove that it comes from its sender.",
    mend: "Check address and secret of the hook; the body must be signed as it is sent.",
    also: '`WWW-Authenticate: Hook realm="svc"`',
  },
  ambiguous_credentials: {
    status: 400,
    title: "Ambiguous credentials",
    when: "Authorization and X-Api-Key were both sent and differ, or one of them was sent twice.",
    mend: "Send one key, once.",
  },
  insufficient_scope: {
    status: 403,
    title: "Insufficient scope",
    when: "The key lacks the scope of this operation.",
    mend: "Use a key that has the scope that the answer names.",
    also: '`WWW-Authenticate: Bearer error="insufficient_scope"` with the `scope`',
  },
  not_signed_in: {
    status: 401,
    title: "Not signed in",
    when: "A call of the operator console has no session, or its session has ended.",
    mend: "Sign in again.",
  },
  sign_in_failed: {
    status: 401,
    title: "Sign-in failed",
    when: "E-mail address and password do not belong together, or the operator may not sign in.",
    mend: "Check both; an administrator sets a new password with `svc operators password`.",
  },
  csrf_refused: {
    status: 403,
    title: "Not from this console",
    when: "A call of the operator console that changes something lacks the token of its session, or comes from another site.",
    mend: "Send `x-svc-csrf` as `GET /session` says it; load the page again.",
  },
  project_mismatch: {
    status: 403,
    title: "Project mismatch",
    when: "A scoped key was used with a project other than the one it is bound to.",
    mend: "Leave `x-svc-project` out, or use a key of that project.",
  },
  origin_not_allowed: {
    status: 403,
    title: "Origin not allowed",
    when: "The call comes from a web site that is not allowed, or names a host that this server is not known by.",
    mend: "An administrator allows the site (`allowedOrigins` of the widget, `SVC_CORS_ORIGINS`) or names the host in `SVC_PUBLIC_URLS`.",
  },
  invalid_identity: {
    status: 403,
    title: "Invalid identity",
    when: "The widget demands signed user ids, or one was sent, and its hash is missing or not right.",
    mend: "The site's server signs the id of its user: HMAC-SHA256 under `identitySecret`, in lower-case hex.",
  },
  invalid_json: {
    status: 400,
    title: "Invalid JSON",
    when: "The body is not JSON in UTF-8.",
    mend: "Send valid JSON.",
  },
  invalid_request: {
    status: 400,
    title: "Invalid request",
    when: "A field, header, query parameter or path is not valid.",
    mend: "Mend what `errors` lists: every fault at once, each with a JSON Pointer. Without it, `detail` says what is possible.",
    also: "`errors`, where fields are at fault",
  },
  not_found: {
    status: 404,
    title: "Not found",
    when: "There is nothing at this address, or not for this key.",
    mend: "Check path, id and project. What belongs to another project is not found either.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    when: "The path exists, but not with this method.",
    mend: "Use a method that `Allow` names.",
    also: "`Allow`",
  },
  payload_too_large: {
    status: 413,
    title: "Payload too large",
    when: "The body is larger than allowed.",
    mend: "Send less; the limit is in `detail`.",
  },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    when: "The body has no media type that this endpoint takes, or is compressed.",
    mend: "Send `Content-Type: application/json`, or what the answer names, and no `Content-Encoding`.",
  },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency key reused",
    when: "The Idempotency-Key was used before with another body or project.",
    mend: "Use a new key for a new message.",
  },
  idempotency_in_progress: {
    status: 409,
    title: "Call in progress",
    when: "Another call with this Idempotency-Key is being worked on right now.",
    mend: "Wait for its answer, or repeat the call after `Retry-After`.",
    also: "`Retry-After`",
  },
  too_many_files: {
    status: 409,
    title: "Too many files",
    when: "So many files of visitors wait for a message that no more are taken: of this conversation, or of all.",
    mend: "Send a message with some of the files, or try again later: what no message names is removed after a day.",
  },
  storage_full: {
    status: 507,
    title: "Storage full",
    when: "A file, document or text would pass a storage limit: of its conversation, of what one visitor may send, of the project or of the installation. Or the disk of the database is full.",
    mend: "Delete files or documents, shorten their retention (`fileRetentionDays`), or raise the limit (`SVC_STORAGE_PROJECT_MAX_MB` and the others); `detail` names it.",
  },
  version_conflict: {
    status: 412,
    title: "Version conflict",
    when: "The object changed since the version that the request names.",
    mend: "Read it again and decide anew.",
    also: "`ETag` of the present version",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    when: "The limit of requests, of failed authentications, or of documents that wait to be read, is used up for now.",
    mend: "Wait for the seconds of `Retry-After`.",
    also: "`Retry-After`, `RateLimit-Policy`, `RateLimit`",
  },
  channel_disabled: {
    status: 503,
    title: "Channel disabled",
    when: "The channel is switched off in its settings.",
    mend: "An administrator switches it on: `svc channels enable api`.",
    also: "`Retry-After`",
  },
  pull_cancelled: {
    status: 409,
    title: "Pull cancelled",
    when: "Somebody has cancelled the pull of the model.",
    mend: "Pull it again: what was downloaded already is kept for a while.",
  },
  pull_failed: {
    status: 424,
    title: "Pull failed",
    when: "The model could not be pulled, however often it was tried.",
    mend: "Do what `detail` says, then pull it again: it goes on where it stopped.",
  },
  disk_full: {
    status: 507,
    title: "Disk full",
    when: "The disk of the machine that a model is pulled to is full.",
    mend: "Make room on it, as with `ollama rm <model>`, then pull the model again.",
  },
  unavailable: {
    status: 503,
    title: "Unavailable",
    when: "The store, or a server that the call needs, cannot be reached. Broken off in just that moment, a message may be accepted all the same.",
    mend: "Repeat the call after `Retry-After`, with an Idempotency-Key so that it cannot become two messages.",
    also: "`Retry-After`",
  },
  internal: {
    status: 500,
    title: "Internal error",
    when: "A fault of the service; the request id finds it in the log.",
    mend: "Report it with the request id.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The body of every error answer (RFC 9457). */
export const problemSchema = z.object({
  ok: z.literal(false),
  type: z.string().describe("`urn:svc:error:` and the code."),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]).describe("What to program against: never changes."),
  detail: z.string().describe("Tells a person how to mend the call."),
  instance: z.string().optional().describe("Path that was called."),
  requestId: z.string().optional().describe("Finds the call in the log."),
  errors: z.array(fieldFaultSchema).optional().describe("Every fault of a request that is not valid."),
});
export type Problem = z.infer<typeof problemSchema>;

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
