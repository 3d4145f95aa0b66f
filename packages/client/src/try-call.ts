import type { FieldFault, HttpMethod } from "@svc/contracts";
import { sendable } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { isRecord } from "./is-record.ts";
import { ServiceFault } from "./service-fault.ts";

/** Parameters of a query string; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** What is sent beside method and path. */
export interface RequestOptions {
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** A form with files, in place of `body`. */
  form?: FormData | undefined;
  /** The version that the change is made for: the call fails with `version_conflict` when there is a newer one. */
  ifMatch?: number | string | undefined;
  /** Makes repeats of a POST of messages one message. */
  idempotencyKey?: string | undefined;
  /** How long the service was asked to wait with its answer; 0 where absent. */
  waitMs?: number | undefined;
  /** Ends the call; it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** One call. */
export interface CallRequest extends RequestOptions {
  method: HttpMethod | "HEAD";
  /** From the first slash after the address on, percent-encoded. */
  path: string;
  /** Media types that are understood; any where absent. */
  accept?: string;
  /** The last event of a stream that was cut, to go on after. */
  lastEventId?: string;
}

/** An answer with a 2xx status, read to its end. */
export interface CallAnswer {
  status: number;
  headers: Headers;
  /** The JSON of the answer; null when it has no body. */
  body: unknown;
}

function urlOf({ baseUrl }: Connection, { path, query = {} }: CallRequest): string {
  if (!path.startsWith("/")) throw new ServiceFault("invalid_options", "A path begins with a slash.");
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(parameters).toString();
  return baseUrl + path + (search === "" ? "" : `?${search}`);
}

function headersOf(
  { headers }: Connection,
  { body, ifMatch, idempotencyKey, accept, lastEventId }: CallRequest,
): Record<string, string> {
  const version = typeof ifMatch === "number" ? `"${ifMatch}"` : ifMatch;
  return {
    ...headers,
    ...(accept === undefined ? {} : { Accept: accept }),
    ...(lastEventId === undefined ? {} : { "Last-Event-ID": sendable(lastEventId, "The last event") }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(version === undefined ? {} : { "If-Match": sendable(version, "ifMatch") }),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": sendable(idempotencyKey, "idempotencyKey") }),
  };
}

/** Seconds until the time that a Retry-After names, in either of its forms (RFC 9110, section 10.2.3). */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

/** Anything but a JSON text: `undefined` stands for nothing that JSON can say. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says of whom it expected JSON.
    return undefined;
  }
}

function isFieldFault(value: unknown): value is FieldFault {
  return isRecord(value) && typeof value["pointer"] === "string" && typeof value["detail"] === "string";
}

/** The fault that a problem of the service stands for: the body of an answer whose status is not 2xx. */
export function faultOf(status: number, body: unknown, headers = new Headers()): ServiceFault {
  const retryAfterSeconds = retryAfterOf(headers);
  const requestId = headers.get("x-request-id");
  if (!isRecord(body) || typeof body["code"] !== "string" || typeof body["detail"] !== "string") {
    return unexpected(status, { retryAfterSeconds, requestId });
  }
  const errors = Array.isArray(body["errors"]) ? body["errors"].filter(isFieldFault) : [];
  const named = typeof body["requestId"] === "string" ? body["requestId"] : requestId;
  return new ServiceFault(body["code"], body["detail"], { status, errors, requestId: named, retryAfterSeconds });
}

/** The fault of an answer that this service does not give. */
export function unexpected(
  status: number,
  facts: { retryAfterSeconds?: number | null; requestId?: string | null } = {},
): ServiceFault {
  const detail = `What answers (status ${status}) is not this service, or something in front of it. Check the address.`;
  return new ServiceFault("unexpected_answer", detail, { status, ...facts });
}

/** Waits for what is read, as long as the line lets it. */
export type Wait = <Read>(reading: Promise<Read>) => Promise<Read>;

/** The line that a call goes over: what ends it, and what its end means. */
export interface CallLine {
  signal: AbortSignal;
  /** Gives up after so long from now, if the answer is not read by then. */
  wait(ms: number): void;
  /** Waits for each piece of the answer for so long; what its reader does with it is no wait. */
  within(ms: number): Wait;
  /** What to throw for what broke a wait: the caller's reason where that has ended it, else a fault. */
  explain(cause: unknown): unknown;
  /** Ends the call, unless it is over. */
  close(): void;
}

/** Opens a line, which its caller closes. Throws the reason of the signal when that is aborted already. */
export function openLine(signal: AbortSignal | undefined): CallLine {
  signal?.throwIfAborted();
  const aborting = new AbortController();
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => aborting.abort();
  const wait = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      stop();
    }, ms);
  };
  signal?.addEventListener("abort", stop, { once: true });
  return {
    signal: aborting.signal,
    wait,
    within: (ms) => async (reading) => {
      wait(ms);
      const read = await reading;
      clearTimeout(timer);
      return read;
    },
    explain(cause) {
      if (signal?.aborted === true) return signal.reason;
      if (cause instanceof ServiceFault) return cause;
      return isLate
        ? new ServiceFault("timeout", "The service took the call and does not answer. Try again later.", { cause })
        : new ServiceFault("unreachable", "The service cannot be reached, or the connection was cut.", { cause });
    },
    close() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      stop();
    },
  };
}

/** Makes the request of a call; its answer is still to be read. Rejects as `fetch` does. */
export function request(connection: Connection, call: CallRequest, line: CallLine): Promise<Response> {
  const { method, body, form, waitMs = 0 } = call;
  const url = urlOf(connection, call);
  const headers = headersOf(connection, call);
  line.wait(waitMs + connection.timeoutMs);
  return connection.fetch(url, {
    method,
    headers,
    ...(form === undefined ? {} : { body: form }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A key goes nowhere but to the address that it was given for.
    redirect: "error",
    credentials: "omit",
    signal: line.signal,
  });
}

/** Reads an answer to its end. Throws ServiceFault for all but a 2xx with JSON or nothing in it. */
export async function readAnswer(response: Response): Promise<CallAnswer> {
  const { ok, status, headers } = response;
  const text = await response.text();
  const json = text === "" ? null : parseJson(text);
  if (!ok) throw faultOf(status, json, headers);
  if (json === undefined) throw unexpected(status);
  return { status, headers, body: json };
}

/** Makes a call once. Throws ServiceFault for all but a 2xx, and the reason of the signal when that aborts. */
export async function tryCall(connection: Connection, call: CallRequest): Promise<CallAnswer> {
  const line = openLine(call.signal);
  try {
    return await readAnswer(await request(connection, call, line));
  } catch (cause) {
    throw line.explain(cause);
  } finally {
    line.close();
  }
}
