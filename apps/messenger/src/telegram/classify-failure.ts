import { TelegramError } from "telegraf";
import { BotApiError, type BotApiErrorKind } from "./bot-api-error.ts";

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
