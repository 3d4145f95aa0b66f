import { isRecord } from "@svc/primitives";
import { excerptOf } from "@svc/outbound";

/** Error of one request, and whether a retry may resolve it. */
export interface RequestError {
  error: ModelError;
  canRetry: boolean;
  /** Delay that the provider requests, in milliseconds, or null. */
  retryAfterMs: number | null;
}

const EXCERPT_CHARS = 120;

const STATUS_ERRORS: Readonly<Record<number, { fault: ModelErrorKind; text: string }>> = {
  401: { fault: "unauthorized", text: "the provider rejected the API key (401)" },
  402: { fault: "unauthorized", text: "the provider requires payment (402)" },
  403: { fault: "unauthorized", text: "the provider rejected the API key (403)" },
  404: { fault: "unknown_model", text: "the provider does not know this model or URL (404)" },
  413: { fault: "too_long", text: "the question is too long for the model (413)" },
};

/** Errors by a pattern of the provider's message, for statuses that have no error in `STATUS_ERRORS`. */
const MESSAGE_ERRORS: readonly { pattern: RegExp; fault: ModelErrorKind; text: string }[] = [
  {
    pattern: /context.{0,20}(?:length|window|size)|too (?:long|large)|maximum context|prompt is too/i,
    fault: "too_long",
    text: "the question is too long for the model",
  },
  {
    pattern: /content.?(?:filter|policy|management)|safety|moderation/i,
    fault: "refused",
    text: "the provider's content filter blocked the question",
  },
  {
    pattern:
      /model.{0,80}(?:not found|not exist|not a valid|unknown|not loaded)|(?:unknown|invalid|not a valid) model/i,
    fault: "unknown_model",
    text: "the provider does not know this model",
  },
];

/** A request that was too early or hit a busy server: a retry may succeed. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** An exhausted quota does not recover within seconds. */
const USED_UP = /insufficient_quota|quota.{0,40}exceeded|billing/i;

/** Maximum depth of nested error causes that is searched. */
const MAX_DEPTH = 6;

/** Errors of the client library by name. */
const NAMED_ERRORS: ReadonlyMap<string, () => ModelError> = new Map(
  Object.entries({
    AI_InvalidResponseDataError: () => new ModelError("cut", "the answer ended before it was complete"),
    AI_JSONParseError: () => new ModelError("invalid_output", "the provider's response cannot be parsed"),
    AI_TypeValidationError: () => new ModelError("invalid_output", "the provider's response cannot be parsed"),
    AI_NoOutputGeneratedError: () => new ModelError("cut", "the answer ended before it was complete"),
    AI_EmptyResponseBodyError: () => new ModelError("empty", "the model returned an empty answer"),
  }),
);

/** Reason why a model gave no usable answer. */
export type ModelErrorKind =
  | "unreachable"
  | "timeout"
  | "cut"
  | "unauthorized"
  | "unknown_model"
  | "rate_limited"
  | "provider_fault"
  | "refused"
  | "empty"
  | "invalid_output"
  | "too_long"
  | "tool_loop"
  | "resting"
  | "busy"
  | "over_budget";

/** A model gave no usable answer: `message` explains why, for operators, never for customers, and contains no keys. */
export class ModelError extends Error {
  readonly fault: ModelErrorKind;

  constructor(error: ModelErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "ModelError";
    this.fault = error;
  }
}

/**
 * Converts an error of the client library to a `ModelError`. A provider's text in it is shortened, and the key removed.
 */
export function modelErrorOf(error: unknown, apiKey: string | undefined): ModelError {
  let cause = error;
  for (let depth = 0; depth < MAX_DEPTH && isRecord(cause); depth += 1) {
    if (cause instanceof ModelError) return cause;
    cause = cause["cause"];
  }
  if (!isRecord(error)) return new ModelError("provider_fault", "the provider failed");
  const named = NAMED_ERRORS.get(String(error["name"]));
  if (named !== undefined) return named();
  const said = typeof error["responseBody"] === "string" ? error["responseBody"] : saidBy(error);
  const status = typeof error["statusCode"] === "number" ? error["statusCode"] : statusOf(error);
  const explained = explainStatus({ status, headers: new Headers() }, said, apiKey).error;
  // An error after the answer has begun is an interruption.
  return explained.fault === "provider_fault" ? new ModelError("cut", explained.message, { cause: error }) : explained;
}

/** Returns an error's message; other properties of the client library's errors contain the whole question. */
function saidBy(error: Record<string, unknown>): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

/** Returns the status of an error within a response, by its type. */
function statusOf(error: Record<string, unknown>): number {
  return /rate_limit|429/.test(`${String(error["type"])} ${String(error["code"])}`) ? 429 : 500;
}

/** Returns the error for an unsuccessful response. */
export function explainStatus(
  { status, headers }: Pick<Response, "status" | "headers">,
  body: string,
  secret: string | undefined,
): RequestError {
  const retryAfterMs = retryAfterOf(headers);
  const known = STATUS_ERRORS[status];
  // The message about a wrong key omits the server's own: some servers repeat half of the key.
  if (known !== undefined) return lasting(known.fault, known.text);
  if (status >= 300 && status < 400) {
    return lasting("provider_fault", `the provider redirects to another URL (${status}); set that URL instead`);
  }
  const excerpt = excerptOf(body, { secret, maxChars: EXCERPT_CHARS });
  const said = excerpt === "" ? "" : `: ${excerpt}`;
  if (status === 429) {
    const error = new ModelError("rate_limited", `the provider's rate limit is exceeded (429${said})`);
    return { error, canRetry: !USED_UP.test(body), retryAfterMs };
  }
  const match = MESSAGE_ERRORS.find((error) => error.pattern.test(excerpt));
  if (status < 500 && !RETRYABLE_STATUSES.has(status)) {
    return match === undefined
      ? lasting("refused", `the provider rejected the request (${status}${said})`)
      : lasting(match.fault, `${match.text} (${status}${said})`);
  }
  // llama.cpp responds with 500 to a question that is too long.
  if (match?.fault === "too_long") return lasting(match.fault, `${match.text} (${status}${said})`);
  return {
    error: new ModelError("provider_fault", `the provider returned ${status}${said}`),
    canRetry: true,
    retryAfterMs,
  };
}

function lasting(error: ModelErrorKind, text: string): RequestError {
  return { error: new ModelError(error, text), canRetry: false, retryAfterMs: null };
}

/** Returns `Retry-After` in milliseconds, from seconds or a date. Null if it is missing or invalid. */
function retryAfterOf(headers: Headers): number | null {
  const given = headers.get("retry-after")?.trim() ?? "";
  if (given === "") return null;
  const ms = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
