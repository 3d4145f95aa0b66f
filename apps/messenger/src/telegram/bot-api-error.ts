import { TelegramError } from "telegraf";

/**
 * What went wrong with a call of the Bot API:
 * - `unauthorized`: the token is wrong or was revoked.
 * - `conflict`: another poller, or a webhook, takes this bot's updates.
 * - `too_many`: too many requests; `retryAfterMs` says how long to wait where Telegram says it.
 * - `forbidden`: the bot may not write there: it was blocked, kicked, or the account is gone.
 * - `bad_request`: Telegram refused what was asked. With code 404 the server does not know the method.
 * - `too_large`: a file above the limit.
 * - `unreachable`: no answer that means anything: 5xx, garbage, time-out, a cut connection, an aborted call. What was
 *   asked may have been done all the same.
 */
export type BotApiErrorKind =
  | "unauthorized"
  | "conflict"
  | "too_many"
  | "forbidden"
  | "bad_request"
  | "too_large"
  | "unreachable";

/** What a BotApiError is made of. */
interface BotApiFailure {
  kind: BotApiErrorKind;
  /** Telegram's error_code; null where no answer came that could be read. */
  code: number | null;
  /** In Telegram's words or ours, on one line, without the token. */
  description: string;
  retryAfterMs?: number | null;
  /** The id of the supergroup that this group has become. */
  migrateToChatId?: string;
}

/** A call of the Bot API failed. Neither its message nor any field holds the token or what was sent. */
export class BotApiError extends Error {
  readonly kind: BotApiErrorKind;
  /** Telegram's error_code; null where no answer came that could be read. */
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

/** So much of what a server says goes into logs and states. */
const DESCRIPTION_LIMIT = 300;

/** Longer waits than a day are not believed. */
const RETRY_AFTER_LIMIT_S = 86_400;

const KIND_OF_CODE: Readonly<Record<number, BotApiErrorKind>> = {
  401: "unauthorized",
  403: "forbidden",
  409: "conflict",
  413: "too_large",
  429: "too_many",
};

/**
 * One failed call, as telegraf throws it, in our words. Texts that come from outside are cut to one short line without
 * the token; what telegraf puts into its own errors (the address with the token, the payload) is left behind.
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

/** No answer that means anything; `description` is ours. */
export function unreachable(description: string, code: number | null = null): BotApiError {
  return new BotApiError({ kind: "unreachable", code, description });
}

function kindOf(code: number, description: string, method: string): BotApiErrorKind {
  if (code >= 500) return "unreachable";
  // A token that is no token at all is answered as an unknown address is.
  if (code === 404 && method === "getMe") return "unauthorized";
  if (code === 400 && /file is too big/i.test(description)) return "too_large";
  return KIND_OF_CODE[code] ?? "bad_request";
}

/** The answer is from outside: nothing in it is taken for granted. */
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
  // Control and format characters could forge lines of a log, or turn them around.
  return withoutToken
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, DESCRIPTION_LIMIT);
}
