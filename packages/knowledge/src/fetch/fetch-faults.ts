import { STATUS_CODES } from "node:http";
import { ServiceError } from "@svc/contracts";
import {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  TooManyRedirectsError,
} from "@svc/outbound";
import type { OutboundResponse } from "@svc/outbound";

type FaultCode = "invalid_request" | "payload_too_large" | "unavailable";

/** An error of an address, with its position in the request that names it. */
function fault(code: FaultCode, detail: string, more: { cause?: unknown; headers?: Record<string, string> } = {}) {
  return new ServiceError(code, detail, {
    ...more,
    ...(code === "unavailable" ? {} : { errors: [{ pointer: "/url", code: "not_fetched", detail }] }),
  });
}

/** Statuses that pass by themselves beside those of the 500s: RFC 9110 (408), RFC 8470 (425), RFC 6585 (429). */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

const ADVICE: Readonly<Record<number, string>> = {
  401: "The page requires signing in, so it cannot be read.",
  403: "Access to the page is restricted, so it cannot be read.",
  404: "The page does not exist. Check the URL.",
  410: "The page was removed. Check the URL.",
};

/** Whether an answer brings a page: any status of the 200s that has one. */
const bringsPage = (status: number) => status >= 200 && status < 300 && status !== 204 && status !== 205;

/** What a status means that brings no page: `unavailable` for what passes, else `invalid_request`; null for a page. */
export function faultOfStatus({ status, headers }: OutboundResponse): ServiceError | null {
  if (bringsPage(status)) return null;
  const name = STATUS_CODES[status];
  const answered = `The server responded with ${status}${name === undefined ? "" : ` (${name})`}.`;
  if (status < 500 && !PASSING.has(status)) {
    return fault("invalid_request", `${answered} ${ADVICE[status] ?? "Check the URL."}`);
  }
  const retryAfter = headers["retry-after"];
  const hasSeconds = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter);
  return fault(
    "unavailable",
    `${answered} Try again later.`,
    hasSeconds ? { headers: { "retry-after": retryAfter } } : {},
  );
}

/** Codes of Node that mean a certificate or a handshake that will be no better at the next try. */
const TLS_FAULT = /CERT|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/;

function faultOfConnection(error: OutboundConnectionError): ServiceError {
  const { errorCode } = error;
  if (errorCode === "ENOTFOUND") {
    return fault("invalid_request", "The host name does not exist. Check the URL.", { cause: error });
  }
  if (TLS_FAULT.test(errorCode)) {
    const detail = `The certificate of the server is not trusted (${errorCode}). Its administrator must fix it.`;
    return fault("invalid_request", detail, { cause: error });
  }
  if (errorCode.startsWith("HPE_")) {
    return fault("invalid_request", "The server at this host and port does not use HTTP. Check the URL.", {
      cause: error,
    });
  }
  return fault("unavailable", `The connection failed (${errorCode}). Check the host, or retry later.`, {
    cause: error,
  });
}

/**
 * What went wrong in a fetch as a ServiceError that says what to do, and never what a name resolved to: `unavailable`
 * for what may pass by itself. Anything else, as the reason of a signal, is answered as it is.
 */
export function faultOfFetch(error: unknown): unknown {
  if (error instanceof BlockedAddressError) {
    return fault("invalid_request", `This URL cannot be fetched. ${error.reason}`, { cause: error });
  }
  if (error instanceof TooManyRedirectsError) {
    const detail = `The server redirects in a loop, or more than ${error.maxRedirects} times. Use the final URL.`;
    return fault("invalid_request", detail, { cause: error });
  }
  if (error instanceof ResponseTooLargeError) {
    const megabytes = Math.round(error.maxResponseBytes / 1024 / 1024);
    return fault("payload_too_large", `The page has more than ${megabytes} MB, which is the maximum.`, {
      cause: error,
    });
  }
  if (error instanceof OutboundTimeoutError) {
    const seconds = Math.round(error.timeoutMs / 1_000);
    return fault("unavailable", `The page was not completely received within ${seconds} s. Retry later.`, {
      cause: error,
    });
  }
  return error instanceof OutboundConnectionError ? faultOfConnection(error) : error;
}
