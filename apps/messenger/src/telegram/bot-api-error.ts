import { TelegramError } from "telegraf";

/**
 * Kinds of errors of the Bot API:
 * - `unauthorized`: the token is invalid or revoked.
 * - `conflict`: another poller, or a webhook, receives this bot's updates.
 * - `too_many`: too many requests; `retryAfterMs` is the wait that Telegram requests, if any.
 * - `forbidden`: the bot may not write to the chat: it was blocked or removed, or the account was deleted.
 * - `bad_request`: Telegram rejected the request. With code 404 the server does not know the method.
 * - `too_large`: a file exceeds the limit.
 * - `unreachable`: no usable response: 5xx, invalid JSON, a timeout, a dropped connection, an aborted call. The
 * request may have been carried out all the same.
 */
export type BotApiErrorKind =
  | "unauthorized"
  | "conflict"
  | "too_many"
  | "forbidden"
  | "bad_request"
  | "too_large"
  | "unreachable";

/** Fields of a BotApiError. */
interface BotApiFailure {
  kind: BotApiErrorKind;
  /** Telegram's error_code; null without a readable response. */
  code: number | null;
  /** Text of Telegram or of this service, on one line, without the token. */
  description: string;
  retryAfterMs?: number | null;
  /** ID of the supergroup that this group has become. */
  migrateToChatId?: string;
}

/** A failed call of the Bot API. Neither its message nor any field contains the token or the payload. */
export class BotApiError extends Error {
  readonly kind: BotApiErrorKind;
  /** Telegram's error_code; null without a readable response. */
  readonly code: number | null;
  readonly description: string;
  readonly retryAfterMs: number | null;
  declare readonly migrateToChatId?: string;

  constructor(failure: BotApiFailure) {
    super(`Bot API: ${failure.description}`);
    this.name = "BotApiError";
    this.kind = failure.kind;
    this.code = failure.code;
    this.description = failure.description;
    this.retryAfterMs = failure.retryAfterMs ?? null;
    if (failure.migrateToChatId !== undefined) this.migrateToChatId = failure.migrateToChatId;
  }
}

/** Maximum length of a server's text in logs and states. */
const DESCRIPTION_LIMIT = 300;

/** Maximum wait that Telegram can request, in seconds; longer ones are cut to it. */
const RETRY_AFTER_LIMIT_S = 86_400;

const KIND_OF_CODE: Readonly<Record<number, BotApiErrorKind>> = {
  401: "unauthorized",
  403: "forbidden",
  409: "conflict",
  413: "too_large",
  429: "too_many",
};

/**
 * Converts an error of telegraf. External texts are shortened to one line without the token; the details of
 * telegraf's own errors (the URL with the token, the payload) are dropped.
 */
export function classifyFailure(error: unknown, call: { method: string; token: string }): BotApiError {
  if (error instanceof BotApiError) return error;
  if (!(error instanceof TelegramError)) return unreachable("The response cannot be parsed");
  const { error_code: code, description: said, parameters } = readAnswer(error.response);
  if (code === null) return unreachable("The response cannot be parsed");
  const description = cleanText(said, call.token) || `Error ${code}`;
  const retryAfterS = parameters.retry_after;
  return new BotApiError({
    kind: kindOf(code, description, call.method),
    code,
    description,
    retryAfterMs: retryAfterS === null ? null : Math.min(retryAfterS, RETRY_AFTER_LIMIT_S) * 1000,
    ...(parameters.migrate_to_chat_id === null ? {} : { migrateToChatId: String(parameters.migrate_to_chat_id) }),
  });
}

/** Returns the error for an unusable response; `description` is written by this service. */
export function unreachable(description: string, code: number | null = null): BotApiError {
  return new BotApiError({ kind: "unreachable", code, description });
}

function kindOf(code: number, description: string, method: string): BotApiErrorKind {
  if (code >= 500) return "unreachable";
  // Telegram responds to a malformed token as to an unknown path.
  if (code === 404 && method === "getMe") return "unauthorized";
  if (code === 400 && /file is too big/i.test(description)) return "too_large";
  return KIND_OF_CODE[code] ?? "bad_request";
}

/** The response is external input and is validated. */
function readAnswer(response: object) {
  const answer: Partial<Record<"error_code" | "description" | "parameters", unknown>> = response;
  const parameters: Partial<Record<string, unknown>> =
    typeof answer.parameters === "object" && answer.parameters !== null ? { ...answer.parameters } : {};
  return {
    error_code: wholeNumber(answer.error_code),
    description: typeof answer.description === "string" ? answer.description : "",
    parameters: {
      retry_after: positive(wholeNumber(parameters["retry_after"])),
      migrate_to_chat_id: wholeNumber(parameters["migrate_to_chat_id"]),
    },
  };
}

const wholeNumber = (value: unknown): number | null => (Number.isSafeInteger(value) ? Number(value) : null);

const positive = (value: number | null): number | null => (value !== null && value >= 0 ? value : null);

function cleanText(text: string, token: string): string {
  const withoutToken = token === "" ? text : text.replaceAll(token, "<token>");
  // Control and format characters could forge or reverse lines of a log.
  return withoutToken
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, DESCRIPTION_LIMIT);
}
