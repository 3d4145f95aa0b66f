import { createHash } from "node:crypto";
import { parseUrl, placeholdersOf } from "@svc/contracts";
import type { HttpTool } from "@svc/contracts";
import type { Log } from "@svc/log";
import {
  BlockedAddressError,
  guardedRequest,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
} from "@svc/outbound";
import type { AddressGuard, OutboundRequest, OutboundResponse } from "@svc/outbound";
import type { Sealer, StoredTool } from "@svc/store";
import type { ChatTool } from "../models/language-model.ts";
import { canonicalJson, markOfTool, toolText, wasNeverSent } from "./callable-tool.ts";
import type { CallableTool, OpenedTool, ToolOutcome } from "./callable-tool.ts";
import { bindArguments, checkArguments, findUnboundIdentifiers, withoutBound } from "./check-arguments.ts";
import type { ToolCustomer } from "./check-arguments.ts";
import { createMcpTools } from "./mcp-tools.ts";

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

/** Maximum number of tools of one agent. */
const TOOLS_MAX_COUNT = 100;
/** Maximum length of a name that providers accept. */
const NAME_MAX_CHARS = 64;

/** Returns the callable tools of an agent. */
export type ToolOpener = (tools: readonly OpenedTool[]) => Promise<CallableTool[]>;

/** Makes names unique: long names are cut, duplicates get a number. */
function withUniqueNames(tools: readonly CallableTool[]): CallableTool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    let name = tool.name.slice(0, NAME_MAX_CHARS);
    for (let number = 2; taken.has(name); number++) {
      const suffix = `_${number}`;
      name = `${tool.name.slice(0, NAME_MAX_CHARS - suffix.length)}${suffix}`;
    }
    taken.add(name);
    return { ...tool, name };
  });
}

/**
 * Creates the function that returns the callable tools of an agent from its tools with decrypted headers: HTTP tools,
 * and those of its MCP servers, whose lists are fetched through the address guard at most once a minute. One per
 * process.
 */
export function createToolOpener({ guard, log }: { guard: AddressGuard; log: Log }): ToolOpener {
  const findMcpTools = createMcpTools({ guard, log });
  return async (tools) => {
    const own = tools.flatMap((tool) => (tool.type === "http" ? [httpTool(tool, guard)] : []));
    const servers = tools.flatMap((tool) => (tool.type === "mcp" ? [findMcpTools(tool)] : []));
    // A server cannot take the name or the position of a tool that the administrator has configured.
    return withUniqueNames([...own, ...(await Promise.all(servers)).flat()].slice(0, TOOLS_MAX_COUNT));
  };
}

/**
 * Decrypts the headers of tools. A tool with a header that cannot be decrypted (it was sealed with another key) is left
 * out.
 */
export function openHeaders(tools: readonly StoredTool[], sealer: Pick<Sealer, "open">): OpenedTool[] {
  return tools.flatMap((tool) => {
    const headers: Record<string, string> = {};
    for (const [name, sealed] of Object.entries(tool.headers)) {
      const value = sealer.open(sealed);
      if (value === null) return [];
      headers[name] = value;
    }
    return [{ ...tool, headers }];
  });
}

/** Maximum number of tool calls per message. */
const CALLS_MAX_COUNT = 20;

/** A call that a model has requested, with validated arguments. */
export interface RequestedCall {
  tool: CallableTool;
  arguments: Record<string, unknown>;
  /** Equal for the same tool and arguments. */
  key: string;
  /** Number of equal calls before it: always 0 for a call that writes, since that is made once. */
  occurrence: number;
}

/** Decides about each call, makes the allowed ones, and returns the result for the model. */
type ToolCallHandler = (call: RequestedCall, signal: AbortSignal) => Promise<string>;

/** Returns the result of a call for the model. */
export function outcomeText({ state, text }: ToolOutcome): string {
  return state === "done" ? text : `${state === "failed" ? "The call failed." : "The call was aborted."}\n${text}`;
}

/**
 * Offers tools to a model: validates the arguments, adds the bound ones of this customer, and leaves the rest to the
 * handler. `onRefused` is called for calls that are rejected for this customer. Equal calls that write are made once,
 * also if requested concurrently. The tools reject only if the handler does.
 */
export function offerTools(
  tools: readonly CallableTool[],
  handleCall: ToolCallHandler,
  { customer, onRefused }: { customer: ToolCustomer; onRefused: (tool: CallableTool, refusal: string) => void },
): ChatTool[] {
  const occurrences = new Map<string, number>();
  const writes = new Map<string, Promise<string>>();
  let count = 0;

  function ask(tool: CallableTool, input: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    const key = createHash("sha256")
      .update(canonicalJson([tool.mark, tool.name, input]))
      .digest("hex");
    const isRead = tool.access === "read";
    const asked = isRead ? undefined : writes.get(key);
    if (asked !== undefined) return asked;
    const occurrence = isRead ? (occurrences.get(key) ?? 0) : 0;
    occurrences.set(key, occurrence + 1);
    const answer = handleCall({ tool, arguments: input, key, occurrence }, signal);
    if (!isRead) writes.set(key, answer);
    return answer;
  }

  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    async execute(input, { signal }) {
      count++;
      if (count > CALLS_MAX_COUNT)
        return "Not called: too many calls for this message. Answer with the results so far.";
      const checked = await checkArguments(tool.parameters, input);
      if ("problem" in checked) return `Not called: ${checked.problem}.`;
      const bound = bindArguments(tool, customer, checked.arguments);
      if ("arguments" in bound) return ask(tool, bound.arguments, signal);
      onRefused(tool, bound.refusal);
      return bound.refusal;
    },
  }));
}

/** Handles the tool calls of a question without a ticket: makes only read-only calls. */
export const handleReadOnlyCalls: ToolCallHandler = async ({ tool, arguments: input, key }, signal) => {
  if (tool.access === "write") return "Not called: tools that change something require a ticket.";
  if (tool.approval === "operator") return "Not called: an operator must approve this call, which requires a ticket.";
  return outcomeText(await tool.call(input, { callId: key, signal }));
};
