import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Inspector } from "./find-inspector.ts";

/** Description of a tool as a client receives it. */
export interface SeenTool {
  name: string;
  outputSchema?: unknown;
}

/** Result of a call as a client receives it. */
export interface SeenResult {
  isError?: boolean;
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** A third-party client of the protocol. */
export interface McpClient {
  /** The negotiated revision; null if the client does not report it. */
  revision: string | null;
  list(): Promise<SeenTool[]>;
  call(name: string, args?: Record<string, unknown>): Promise<SeenResult>;
  close(): Promise<void>;
}

/** Returns a fetch that alternates between these servers, like a load balancer. */
function fetchFromAll(urls: readonly string[]): typeof fetch {
  let count = 0;
  return (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    const { origin } = new URL(urls[count++ % urls.length] ?? "");
    return fetch(new URL(asked.pathname, origin), init);
  };
}

const INFO = { name: "journey", version: "1" };
const first = (urls: readonly string[]) => new URL("/mcp", urls[0]);

/** Opens the client of the official package for 2026-07-28 and older, which negotiates the revision. */
export async function openClient(urls: readonly string[], key: string): Promise<McpClient> {
  const client = new Client(INFO, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(first(urls), { requestInit, fetch: fetchFromAll(urls) }));
  return {
    revision: client.getNegotiatedProtocolVersion() ?? null,
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as SeenResult,
    close: () => client.close(),
  };
}

/** Opens the client of the official package for the revisions of 2025. */
export async function openOlderClient(urls: readonly string[], key: string): Promise<McpClient> {
  const client = new OlderClient(INFO);
  const requestInit = { headers: { "X-Api-Key": key } };
  const transport = new OlderTransport(first(urls), { requestInit, fetch: fetchFromAll(urls) });
  await client.connect(transport);
  return {
    revision: transport.protocolVersion ?? null,
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as SeenResult,
    close: () => client.close(),
  };
}

/** Opens the Inspector's command line, which connects again for each call. */
export function openInspector(inspector: Inspector, [url = ""]: readonly string[], key: string): McpClient {
  const ask = async (...words: string[]): Promise<unknown> => {
    const target = ["--cli", `${url}/mcp`, "--transport", "http", "--header", `X-Api-Key: ${key}`];
    const { stdout, stderr, code } = await inspector(...target, ...words);
    try {
      return JSON.parse(stdout);
    } catch (error) {
      throw new Error(`the Inspector ended with ${code}: ${stdout}${stderr}`, { cause: error });
    }
  };
  const wordOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return {
    revision: null,
    list: async () => ((await ask("--method", "tools/list")) as { tools: SeenTool[] }).tools,
    async call(name, args = {}) {
      const given = Object.entries(args).flatMap(([field, value]) => ["--tool-arg", `${field}=${wordOf(value)}`]);
      return (await ask("--method", "tools/call", "--tool-name", name, ...given)) as SeenResult;
    },
    close: () => Promise.resolve(),
  };
}
