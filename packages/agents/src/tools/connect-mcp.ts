import type {
  CallToolResult,
  Client,
  JsonSchemaValidator,
  PriorDiscovery,
  Tool,
  jsonSchemaValidator,
} from "@modelcontextprotocol/client";
import { guardedRequest } from "@svc/outbound";
import type { AddressGuard, OutboundMethod, OutboundResponse } from "@svc/outbound";
import { wasNeverSent } from "./callable-tool.ts";

/** Timeout of one exchange. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Maximum size of a response as received, including a whole event stream. */
const ANSWER_MAX_BYTES = 1024 * 1024;

const METHODS: Readonly<Record<string, OutboundMethod>> = { POST: "POST", DELETE: "DELETE" };
/** Statuses whose responses have no body, even if a server sends one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Options of an exchange, and callbacks about it. */
interface FetchHooks {
  /** Returns additional headers of a request with this body. */
  headersFor(body: string): Record<string, string>;
  /** Called with the reason why the exchange with this body had no response; the client gets it too. */
  onError(error: unknown, body: string): void;
}

/** Timeout of connecting, of a whole list with all its pages, and of a call. */
const TIMEOUT_MS = 10_000;
const PAGES_MAX_COUNT = 10;

/** An MCP server, and the headers of its requests. */
export interface McpServer {
  url: string;
  headers: Record<string, string>;
}

/** Discovery from an earlier connection; null if there is none. */
export type McpPrior = PriorDiscovery | null;

/** A list of tools, and the discovery for the next connection. */
export interface McpListing {
  tools: Tool[];
  prior: McpPrior;
}

/** A call without a result: `wasSent` tells whether it may have been made. */
export class McpCallError extends Error {
  /** False if the call cannot have had an effect. */
  readonly wasSent: boolean;

  constructor(message: string, wasSent: boolean, cause: unknown) {
    super(message, { cause });
    this.name = "McpCallError";
    this.wasSent = wasSent;
  }
}

/** Disables validation of results against the server's output schemas: an untrusted schema would be compiled. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Data>(): JsonSchemaValidator<Data> {
    return (input) => ({ valid: true, data: input as Data, errorMessage: undefined });
  },
};

const isCall = (body: string) => {
  const message: unknown = body === "" ? null : JSON.parse(body);
  return typeof message === "object" && message !== null && "method" in message && message.method === "tools/call";
};

/** Connects with the protocol revision that the server supports, runs a function and closes the connection. */
async function connected<Result>(
  { url, headers }: McpServer,
  {
    guard,
    signal,
    prior,
    onCall,
    onError = () => undefined,
  }: {
    guard: AddressGuard;
    signal: AbortSignal;
    prior: McpPrior;
    /** Called with the reason why the exchange of a call had no response. */
    onError?: (error: unknown) => void;
    /** Called before a call is sent; returns additional headers. */
    onCall: () => Record<string, string>;
  },
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { Client: McpClient, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: guardedFetch(guard, {
      headersFor: (body) => (isCall(body) ? onCall() : {}),
      // Messages after a call, such as its cancellation, do not show whether the call was sent.
      onError: (error, body) => (isCall(body) ? onError(error) : undefined),
    }),
    // An interrupted call is not resumed: the caller decides how to treat it.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 0,
      maxReconnectionDelay: 0,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const client = new McpClient(
    { name: "svc", version: "1" },
    {
      versionNegotiation: { mode: "auto" },
      jsonSchemaValidator: UNCHECKED,
      // There is no user to ask.
      inputRequired: { autoFulfill: false },
      listMaxPages: PAGES_MAX_COUNT,
    },
  );
  try {
    await client.connect(transport, { timeout: TIMEOUT_MS, signal, ...(prior === null ? {} : { prior }) });
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Lists the tools of a server, within 10 seconds. Rejects if it is unreachable or does not support MCP. */
export function listMcpTools(server: McpServer, { guard }: { guard: AddressGuard }): Promise<McpListing> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return connected(server, { guard, signal, prior: null, onCall: () => ({}) }, async (client) => {
    const { tools } = await client.listTools(undefined, { timeout: TIMEOUT_MS, signal });
    const discover = client.getDiscoverResult();
    return { tools, prior: discover === undefined ? { kind: "legacy" } : { kind: "modern", discover } };
  });
}

/** Calls a tool of a server once. Rejects with an `McpCallError` if there is no result. */
export async function callMcpTool(
  server: McpServer,
  call: { tool: Tool; input: Record<string, unknown>; headers: Record<string, string> },
  { guard, signal, prior }: { guard: AddressGuard; signal: AbortSignal; prior: McpPrior },
): Promise<CallToolResult> {
  const { ProtocolError, SdkHttpError } = await import("@modelcontextprotocol/client");
  // Whether the call may have been sent.
  const sent = { isOut: false };
  const onCall = () => {
    sent.isOut = true;
    return call.headers;
  };
  const onError = (error: unknown) => {
    sent.isOut = !wasNeverSent(error);
  };
  try {
    return await connected(server, { guard, signal, prior, onCall, onError }, (client) =>
      client.callTool(
        { name: call.tool.name, arguments: call.input },
        { timeout: TIMEOUT_MS, signal, toolDefinition: call.tool },
      ),
    );
  } catch (error) {
    const text = error instanceof Error ? error.message : "unknown error";
    // An error response of the server is a response.
    const isAnswered = error instanceof ProtocolError || error instanceof SdkHttpError;
    throw new McpCallError(text, sent.isOut && !isAnswered, error);
  }
}

function headersOf({ headers }: OutboundResponse): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") copied.append(name, value);
  }
  return copied;
}

/**
 * Creates a `fetch` through the address guard for an MCP client: no redirects, at most 10 s and 1 MB per response. An
 * event stream is read to its end first, so one that never ends is an error; the optional stream for server
 * notifications is not opened.
 */
function guardedFetch(guard: AddressGuard, hooks: FetchHooks) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const method = METHODS[init.method ?? "GET"];
    if (method === undefined) return new Response(null, { status: 405 });
    const body = typeof init.body === "string" ? init.body : "";
    const answer = await guardedRequest(guard, {
      method,
      url,
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...hooks.headersFor(body) },
      body,
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxResponseBytes: ANSWER_MAX_BYTES,
      ...(init.signal == null ? {} : { signal: init.signal }),
    }).catch((error: unknown) => {
      hooks.onError(error, body);
      throw error;
    });
    const content = BODILESS.has(answer.status) ? null : new Uint8Array(answer.body);
    return new Response(content, { status: answer.status, headers: headersOf(answer) });
  };
}
