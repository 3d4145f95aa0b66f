import { errorCode } from "@svc/primitives";

const CODES = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08|57P|53300)/;
const MESSAGES =
  /Connection (?:is closed|terminated|ended|closed)|timeout exceeded|Query read timeout|Command timed out|Socket timeout|max retries per request|Stream isn't writeable|not queryable|after calling end/i;

/** True when a fault means that the server of the queues cannot be reached, and not that one job has a problem. */
export function isConnectionFault(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionFault);
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  return (code !== undefined && CODES.test(code)) || MESSAGES.test(error.message);
}
