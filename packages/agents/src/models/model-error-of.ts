import { isRecord } from "@svc/primitives";
import { ModelError } from "./model-error.ts";
import { explainStatus } from "./explain-status.ts";

/** An error's cause has a cause, and so on; no deeper than this is looked. */
const MAX_DEPTH = 6;

/** What errors of the client library mean, by their names. */
const NAMED_FAULTS: ReadonlyMap<string, () => ModelError> = new Map(
  Object.entries({
    AI_InvalidResponseDataError: () => new ModelError("cut", "the answer ended before it was complete"),
    AI_JSONParseError: () => new ModelError("invalid_output", "the provider's response cannot be parsed"),
    AI_TypeValidationError: () => new ModelError("invalid_output", "the provider's response cannot be parsed"),
    AI_NoOutputGeneratedError: () => new ModelError("cut", "the answer ended before it was complete"),
    AI_EmptyResponseBodyError: () => new ModelError("empty", "the model returned an empty answer"),
  }),
);

/**
 * The `ModelError` that an error of the client library comes from or means. What it says of a provider's text is short
 * and without the key.
 */
export function modelErrorOf(error: unknown, apiKey: string | undefined): ModelError {
  let cause = error;
  for (let depth = 0; depth < MAX_DEPTH && isRecord(cause); depth += 1) {
    if (cause instanceof ModelError) return cause;
    cause = cause["cause"];
  }
  if (!isRecord(error)) return new ModelError("provider_fault", "the provider failed");
  const named = NAMED_FAULTS.get(String(error["name"]));
  if (named !== undefined) return named();
  const said = typeof error["responseBody"] === "string" ? error["responseBody"] : saidBy(error);
  const status = typeof error["statusCode"] === "number" ? error["statusCode"] : statusOf(error);
  const explained = explainStatus({ status, headers: new Headers() }, said, apiKey).error;
  // What fails after its answer has begun has broken off.
  return explained.fault === "provider_fault" ? new ModelError("cut", explained.message, { cause: error }) : explained;
}

/** What an error says; of those of the client library only that, since they carry the whole question with them. */
function saidBy(error: Record<string, unknown>): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

/** The status of an error within a response, by its type. */
function statusOf(error: Record<string, unknown>): number {
  return /rate_limit|429/.test(`${String(error["type"])} ${String(error["code"])}`) ? 429 : 500;
}
