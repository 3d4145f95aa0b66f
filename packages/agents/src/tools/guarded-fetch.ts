import { guardedRequest } from "@svc/outbound";
import type { AddressGuard, OutboundMethod, OutboundResponse } from "@svc/outbound";

/** Of one exchange. */
const TIMEOUT_MS = 10_000;
/** Of an answer on the wire, a whole stream of events included. */
const ANSWER_MAX_BYTES = 1024 * 1024;

const METHODS: Readonly<Record<string, OutboundMethod>> = { POST: "POST", DELETE: "DELETE" };
/** Statuses whose responses have no body, even if a server sends one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Options of an exchange, and callbacks about it. */
export interface FetchHooks {
  /** Further headers of a request with this body. */
  headersFor(body: string): Record<string, string>;
  /** Called with the reason why the exchange with this body had no response; the client gets it too. */
  onFault(error: unknown, body: string): void;
}

function headersOf({ headers }: OutboundResponse): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") copied.append(name, value);
  }
  return copied;
}

/**
 * A `fetch` through the address guard, for a client of an MCP server: no redirects, at most 10 s and 1 MB an answer. An
 * answer that is a stream of events is read to its end first, so one that never ends is an error; the stream that a
 * server may keep open for news is not asked for.
 */
export function guardedFetch(guard: AddressGuard, hooks: FetchHooks) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const method = METHODS[init.method ?? "GET"];
    if (method === undefined) return new Response(null, { status: 405 });
    const body = typeof init.body === "string" ? init.body : "";
    const answer = await guardedRequest(guard, {
      method,
      url,
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...hooks.headersFor(body) },
      body,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: ANSWER_MAX_BYTES,
      ...(init.signal == null ? {} : { signal: init.signal }),
    }).catch((error: unknown) => {
      hooks.onFault(error, body);
      throw error;
    });
    const content = BODILESS.has(answer.status) ? null : new Uint8Array(answer.body);
    return new Response(content, { status: answer.status, headers: headersOf(answer) });
  };
}
