import { parseUrl, placeholdersOf } from "@svc/contracts";
import type { HttpTool } from "@svc/contracts";
import {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  guardedRequest,
} from "@svc/outbound";
import type { AddressGuard, OutboundRequest, OutboundResponse } from "@svc/outbound";
import { findUnboundIdentifiers, withoutBound } from "./check-arguments.ts";
import { markOfTool, wasNeverSent, toolText } from "./callable-tool.ts";
import type { CallableTool, ToolOutcome } from "./callable-tool.ts";

const PLACEHOLDER = /\{([^{}]*)\}/g;
const ONLY_PLACEHOLDER = /^([^=]*)=\{([^{}]*)\}$/;

/** Characters that leave their path segment on servers that decode before splitting, or decode twice. */
const SEPARATOR = /[/\\\u2044\u2215\u29F5\uFF0F\uFF3C]|%(?:25)*(?:2e|2f|5c)/i;

/** The URL of a call and the remaining arguments; or what is wrong with the arguments. */
type FilledUrl = { url: string; rest: Record<string, unknown> } | { problem: string };

type Scalar = string | number | boolean;

const isScalar = (value: unknown): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** Timeout of one call, redirects included. */
const TIMEOUT_MS = 10_000;
/** Maximum size of a response as received; the model gets less. */
const ANSWER_MAX_BYTES = 1024 * 1024;
const REDIRECTS_MAX_COUNT = 3;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const failed = (text: string): ToolOutcome => ({ state: "failed", text });

/** Returns the text of a response, or a description if it is binary. */
function bodyText({ body, headers }: OutboundResponse): string {
  const type = headers["content-type"] ?? "";
  const isMedia = /^(?:image|audio|video|font)\/|octet-stream|\/(?:zip|pdf|gzip)\b/i.test(type);
  if (isMedia || body.includes(0)) return `(${body.length} bytes that are not text)`;
  return new TextDecoder().decode(body);
}

/** Returns the outcome of a response: 2xx is success, anything else a rejection by the server. */
function outcomeOf(response: OutboundResponse): ToolOutcome {
  const { status } = response;
  const state = status >= 200 && status < 300 ? "done" : "failed";
  return { state, text: `HTTP ${status}\n${bodyText(response)}` };
}

/**
 * Returns the target of a redirect to the same origin; null for any other response. The caller follows it only for
 * calls that read.
 */
function redirectOf({ status, headers, url }: OutboundResponse): URL | null {
  if (!REDIRECTS.has(status) || headers.location === undefined) return null;
  const from = new URL(url);
  const to = parseUrl(headers.location, from.href);
  return to !== null && to.origin === from.origin ? to : null;
}

/** Sends a request, and follows redirects on the same host if that cannot repeat an effect. */
async function request(guard: AddressGuard, first: OutboundRequest, isRead: boolean): Promise<OutboundResponse> {
  const deadline = performance.now() + first.timeoutMs;
  let next = first;
  for (let redirects = 0; ; redirects++) {
    const response = await guardedRequest(guard, next);
    const target = isRead && first.method === "GET" ? redirectOf(response) : null;
    if (target === null || redirects >= REDIRECTS_MAX_COUNT) return response;
    next = { ...first, url: target, timeoutMs: Math.max(1, deadline - performance.now()) };
  }
}

/** Returns the outcome of a call that threw: the kind of error tells whether it may have been made. */
function errorOf(error: unknown, isRead: boolean): ToolOutcome {
  if (error instanceof BlockedAddressError) return failed("The URL of this tool is not allowed.");
  if (error instanceof ResponseTooLargeError) {
    const isDone = error.status >= 200 && error.status < 300;
    const text = `HTTP ${error.status}\n(the response is longer than ${ANSWER_MAX_BYTES} bytes and was not read)`;
    return { state: isDone && !isRead ? "done" : "failed", text };
  }
  if (wasNeverSent(error)) return failed("The connection failed.");
  const what =
    error instanceof OutboundTimeoutError
      ? `No response within ${TIMEOUT_MS / 1_000} s.`
      : `The connection dropped (${error instanceof OutboundConnectionError ? error.errorCode : "fault"}).`;
  return isRead ? failed(what) : { state: "unknown", text: `${what} It is unknown whether the call took effect.` };
}

/**
 * Creates a tool that is one HTTP request: through the address guard, within 10 seconds, without a redirect to another
 * host. Its results never contain the values of its headers.
 */
export function httpTool(tool: HttpTool, guard: AddressGuard): CallableTool {
  const { name, description, parameters, access, approval, headers, bind = {} } = tool;
  const inPath = placeholdersOf(tool.url.split("?")[0] ?? "");
  const identifiers = findUnboundIdentifiers(parameters, bind, inPath);
  const isRead = access === "read";
  return {
    name,
    description,
    parameters: withoutBound(parameters, bind),
    access,
    approval,
    bind,
    anonymous: tool.anonymous ?? (identifiers.length > 0 ? "refuse" : "allow"),
    mark: markOfTool(tool),

    async call(input, { callId, signal }) {
      if (signal.aborted && !isRead) return failed("Not called: the run was aborted.");
      const filled = fillUrl(tool.url, input);
      if ("problem" in filled) return failed(`Not called: ${filled.problem}.`);
      const sends = tool.body === "json";
      try {
        const response = await request(
          guard,
          {
            method: tool.method,
            url: filled.url,
            headers: {
              accept: "application/json, text/*;q=0.9, */*;q=0.5",
              "user-agent": "svc-agent-tools",
              ...headers,
              ...(sends ? { "content-type": "application/json" } : {}),
              ...(isRead ? {} : { "idempotency-key": callId }),
            },
            ...(sends ? { body: JSON.stringify(filled.rest) } : {}),
            timeoutMs: TIMEOUT_MS,
            maxResponseBytes: ANSWER_MAX_BYTES,
            signal,
          },
          isRead,
        );
        const { state, text } = outcomeOf(response);
        return { state, text: toolText(text, headers) };
      } catch (error) {
        if (isRead) signal.throwIfAborted();
        return errorOf(error, isRead);
      }
    },
  };
}

/**
 * Expands a URL template with percent-encoded arguments. An argument can only change its own path segment or query
 * value: one that would lead elsewhere (`..`, a slash, an empty segment) is an error. A query parameter that consists
 * only of an absent argument is left out.
 */
export function fillUrl(template: string, given: Readonly<Record<string, unknown>>): FilledUrl {
  const [path = "", ...queries] = template.split("?");
  const rest: Record<string, unknown> = { ...given };
  const errors: string[] = [];

  function textOf(name: string): string {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    delete rest[name];
    if (isScalar(value)) return encodeURIComponent(String(value));
    errors.push(`${name} must be a string or a number, because it is part of the URL`);
    return "";
  }

  const filledPath = path.replaceAll(PLACEHOLDER, (_, name: string) => {
    if (SEPARATOR.test(String(given[name])))
      errors.push(`${name} must not contain a slash, because it is part of the path`);
    const text = textOf(name);
    if (text === "" && errors.length === 0) errors.push(`${name} must not be empty, because it is part of the URL`);
    return text;
  });
  const pairs = queries
    .join("?")
    .split("&")
    .filter((pair) => {
      const name = ONLY_PLACEHOLDER.exec(pair)?.[2];
      return pair !== "" && (name === undefined || (Object.hasOwn(given, name) && given[name] !== null));
    })
    .map((pair) => pair.replaceAll(PLACEHOLDER, (_, name: string) => textOf(name)));
  for (const [, name = ""] of template.matchAll(PLACEHOLDER)) delete rest[name];
  const [error] = errors;
  if (error !== undefined) return { problem: error };
  const url = pairs.length === 0 ? filledPath : `${filledPath}?${pairs.join("&")}`;
  return leadsWhereItSays(url, template)
    ? { url, rest }
    : { problem: "an argument would change the host or path of the URL" };
}

/** Returns false if parsing removes a path segment, such as `.` and `..`, also in encoded form. */
function leadsWhereItSays(url: string, template: string): boolean {
  const filled = parseUrl(url);
  const plain = parseUrl(template.replaceAll(PLACEHOLDER, "x"));
  if (filled === null || plain === null || filled.origin !== plain.origin) return false;
  const parts = filled.pathname.split("/");
  const wanted = plain.pathname.split("/");
  return parts.length === wanted.length && wanted.every((part, index) => part === "" || parts[index] !== "");
}
