import { z } from "zod";
import { reachedQuotaSchema } from "./limits.ts";
import type { ReachedQuota } from "./limits.ts";

/** A validation error of a request: its location (JSON Pointer, RFC 6901), its code, and what the value must be. */
export const fieldErrorSchema = z.object({
  pointer: z.string().describe("Location of the error in the request, as a JSON Pointer (RFC 6901)."),
  code: z.string().describe("Kind of error, such as `required`."),
  detail: z.string().describe("What the value must be."),
});
export type FieldError = z.infer<typeof fieldErrorSchema>;

interface CatalogueEntry {
  status: number;
  title: string;
  /** When the error occurs, and what the caller can do: sentences for the documentation. */
  when: string;
  fix: string;
  /** Additional headers or fields of the response. */
  also?: string;
}

/** All errors that an HTTP endpoint can return (RFC 9457). `code` is the stable contract. */
export const ERRORS = {
  missing_key: {
    status: 401,
    title: "Missing key",
    when: "The request has no API key. Keys in the query string are ignored.",
    fix: "Send the key as `Authorization: Bearer <key>` or `X-Api-Key: <key>`.",
    also: "`WWW-Authenticate: Bearer`",
  },
  invalid_key: {
    status: 401,
    title: "Invalid key",
    when: "The API key is unknown, revoked or expired.",
    fix: "Check the key for typos, or ask your administrator for a new one.",
    also: '`WWW-Authenticate: Bearer`, with `error="invalid_token"`',
  },
  invalid_signature: {
    status: 401,
    title: "Invalid signature",
    when: "The inbound hook does not exist, or the signature or token of the request is missing or wrong.",
    fix: "Check the hook's URL and secret. The signature must cover the exact bytes of the body.",
    also: '`WWW-Authenticate: Hook realm="svc"`',
  },
  ambiguous_credentials: {
    status: 400,
    title: "Ambiguous credentials",
    when: "The headers `Authorization` and `X-Api-Key` contain different keys, or one of them is repeated.",
    fix: "Send one key in one header.",
  },
  insufficient_scope: {
    status: 403,
    title: "Insufficient scope",
    when: "The key does not have the scope that this operation requires.",
    fix: "Use a key with the scope named in `detail`.",
    also: '`WWW-Authenticate: Bearer error="insufficient_scope"` with the `scope`',
  },
  not_signed_in: {
    status: 401,
    title: "Not signed in",
    when: "The console request has no session, or the session has expired.",
    fix: "Sign in again.",
  },
  sign_in_failed: {
    status: 401,
    title: "Sign-in failed",
    when: "Incorrect email or password, or the operator is disabled.",
    fix: "Check both. An administrator can set a new password with `svc operators password`.",
  },
  csrf_refused: {
    status: 403,
    title: "Invalid CSRF token",
    when: "A console request that changes data does not have the session's CSRF token, or comes from another site.",
    fix: "Send the token from `GET /session` in `x-svc-csrf`. In a browser, reload the page.",
  },
  project_mismatch: {
    status: 403,
    title: "Project mismatch",
    when: "The key is bound to a different project from the one requested.",
    fix: "Omit `x-svc-project`, or use a key of that project.",
  },
  origin_not_allowed: {
    status: 403,
    title: "Origin not allowed",
    when: "The request comes from a website that is not allowed, or uses a host name that this server does not accept.",
    fix: "An administrator must allow the site (`allowedOrigins` of the widget, or `SVC_CORS_ORIGINS`) or add the host to `SVC_PUBLIC_URLS`.",
  },
  invalid_identity: {
    status: 403,
    title: "Invalid identity",
    when: "The widget requires signed user IDs, or the request contains one, and its hash is missing or wrong.",
    fix: "Compute the hash on your server: HMAC-SHA256 of the user ID with `identitySecret`, in lowercase hex.",
  },
  invalid_json: {
    status: 400,
    title: "Invalid JSON",
    when: "The body is not valid JSON in UTF-8.",
    fix: "Send valid JSON.",
  },
  invalid_request: {
    status: 400,
    title: "Invalid request",
    when: "A field, header, query parameter or path segment is invalid.",
    fix: "Fix the errors listed in `errors`: all of them at once, each with a JSON Pointer. If `errors` is absent, `detail` says what is allowed.",
    also: "`errors`, if fields are invalid",
  },
  not_found: {
    status: 404,
    title: "Not found",
    when: "The resource does not exist, or this key cannot access it.",
    fix: "Check the path, the ID and the project. Resources of other projects also return 404.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    when: "The path exists, but does not support this method.",
    fix: "Use one of the methods in `Allow`.",
    also: "`Allow`",
  },
  payload_too_large: {
    status: 413,
    title: "Payload too large",
    when: "The request body is too large.",
    fix: "Send a smaller body. `detail` states the limit.",
  },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    when: "The endpoint does not accept this media type, or the body is compressed.",
    fix: "Send `Content-Type: application/json`, or the type named in `detail`, without `Content-Encoding`.",
  },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency key reused",
    when: "The `Idempotency-Key` was already used with a different body or project.",
    fix: "Use a new key for each new message.",
  },
  idempotency_in_progress: {
    status: 409,
    title: "Request in progress",
    when: "Another request with this `Idempotency-Key` is still in progress.",
    fix: "Wait for its response, or retry after `Retry-After`.",
    also: "`Retry-After`",
  },
  too_many_files: {
    status: 409,
    title: "Too many files",
    when: "Too many uploaded files are waiting to be sent with a message, in this conversation or overall.",
    fix: "Send a message with some of the files, or retry later. Files that no message references are deleted after one day.",
  },
  storage_full: {
    status: 507,
    title: "Storage full",
    when: "The upload would exceed a storage limit of the conversation, the visitor, the project or the installation, or the disk of the database is full.",
    fix: "Delete files or documents, shorten their retention (`fileRetentionDays`), or raise the limit named in `detail` (such as `SVC_STORAGE_PROJECT_MAX_MB`).",
  },
  version_conflict: {
    status: 412,
    title: "Version conflict",
    when: "The object has changed since the version in the request.",
    fix: "Fetch the object again and retry with its current `ETag`.",
    also: "`ETag` of the current version",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    when: "The limit of requests, of failed authentications or of documents waiting to be processed is exceeded.",
    fix: "Wait for the number of seconds in `Retry-After`.",
    also: "`Retry-After`, `RateLimit-Policy`, `RateLimit`",
  },
  quota_exceeded: {
    status: 429,
    title: "Quota exceeded",
    when: "The project has reached its limit of messages per day or of open sockets. `quota` says which limit, how much is used and until when.",
    fix: "Retry after `Retry-After`. An administrator can raise the limit (`quotas` of the project).",
    also: "`Retry-After`",
  },
  storage_quota_exceeded: {
    status: 413,
    title: "Storage quota exceeded",
    when: "The project has reached its limit of documents or of stored content. `quota` says which limit and how much is used.",
    fix: "Delete documents or files, or shorten their retention. An administrator can raise the limit (`quotas` of the project).",
  },
  channel_disabled: {
    status: 503,
    title: "Channel disabled",
    when: "The channel is disabled.",
    fix: "An administrator can enable it: `svc channels enable api`.",
    also: "`Retry-After`",
  },
  pull_cancelled: {
    status: 409,
    title: "Pull cancelled",
    when: "The model download was cancelled.",
    fix: "Pull the model again. Data that is already downloaded is kept for a while.",
  },
  pull_failed: {
    status: 424,
    title: "Pull failed",
    when: "The model could not be downloaded after several attempts.",
    fix: "Fix the cause named in `detail`, then pull the model again. The download resumes where it stopped.",
  },
  disk_full: {
    status: 507,
    title: "Disk full",
    when: "The disk of the machine that stores the model is full.",
    fix: "Free disk space, for example with `ollama rm <model>`, then pull the model again.",
  },
  busy: {
    status: 503,
    title: "Busy",
    when: "The process that got the request has all its database connections in use. Nothing was changed.",
    fix: "Retry after `Retry-After`. If it lasts, run more processes of this app.",
    also: "`Retry-After`",
  },
  unavailable: {
    status: 503,
    title: "Unavailable",
    when: "The database, or another server that the request needs, is unreachable. If the connection was lost during the request, the message may have been accepted.",
    fix: "Retry after `Retry-After`, with an `Idempotency-Key` so that the message is not sent twice.",
    also: "`Retry-After`",
  },
  internal: {
    status: 500,
    title: "Internal error",
    when: "An unexpected error in the service. The log has details under the request ID.",
    fix: "Report it with the request ID.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Body of every error response (RFC 9457). */
export const problemSchema = z.object({
  ok: z.literal(false),
  type: z.string().describe("`urn:svc:error:` followed by the code."),
  title: z.string(),
  status: z.int(),
  code: z
    .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
    .describe("Stable error code. Use it in programs; it never changes."),
  detail: z.string().describe("Explanation for people: what is wrong and how to fix the request."),
  instance: z.string().optional().describe("Path of the request."),
  requestId: z.string().optional().describe("Request ID. Identifies the request in the log."),
  quota: reachedQuotaSchema.optional().describe("The limit of the project that is reached."),
  errors: z.array(fieldErrorSchema).optional().describe("All validation errors of the request."),
});
export type Problem = z.infer<typeof problemSchema>;

/** An error that is safe to show to callers: an error code, and a text that explains how to fix the request. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  /** The limit of the project that is reached. */
  readonly quota: ReachedQuota | undefined;
  /** Response headers that belong to this error. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    options: { errors?: FieldError[]; quota?: ReachedQuota; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause });
    this.name = "ServiceError";
    this.code = code;
    this.errors = options.errors;
    this.quota = options.quota;
    this.headers = options.headers ?? {};
  }
}
