import { ServiceFault } from "@svc/client";

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page, or nothing: the status says enough.
    return null;
  }
}

/**
 * The JSON of an answer. Throws ServiceFault for what is none, such as the page of a proxy that asks for a sign-in of its
 * own.
 */
export function readAnswer(status: number, text: string, headers: Headers): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceFault("unexpected_answer", "What answered is not the console's server.", {
      status,
      requestId: headers.get("x-request-id"),
      cause,
    });
  }
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** The fault that an answer with this status and body stands for: a problem (RFC 9457), or whatever else answers. */
export function readFault(status: number, text: string, headers: Headers): ServiceFault {
  const body = parse(text);
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : null;
  const requestId = headers.get("x-request-id");
  if (!isRecord(body) || typeof body["code"] !== "string") {
    return new ServiceFault("unexpected_answer", `The server answered with status ${status}.`, {
      status,
      requestId,
      retryAfterSeconds,
    });
  }
  const errors = (Array.isArray(body["errors"]) ? body["errors"] : []).filter(isRecord).map((fault) => ({
    pointer: textOf(fault["pointer"]),
    code: textOf(fault["code"]),
    detail: textOf(fault["detail"]),
  }));
  const detail = textOf(body["detail"]) || textOf(body["title"]);
  return new ServiceFault(body["code"], detail, { status, errors, requestId, retryAfterSeconds });
}
