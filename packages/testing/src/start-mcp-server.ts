import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import { closerOf, listenOnLoopback } from "./child-process.ts";

/** Returns a request to the tool server: a tool call of the revision 2026-07-28. */
export function toolCall(key: string, name: string, args: Record<string, unknown>) {
  const revision = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    path: "/mcp",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args, _meta: meta },
    }),
  };
}

/** A tool of a test's MCP server. */
export interface McpTestTool {
  name: string;
  description?: string;
  /** JSON Schema of its arguments; any object by default. */
  parameters?: object;
  annotations?: ToolAnnotations;
  call: (input: unknown) => CallToolResult | Promise<CallToolResult>;
}

/** Requests that a test's MCP server received. */
export interface McpTestRequest {
  httpMethod: string;
  headers: IncomingMessage["headers"];
  /** The protocol's method, such as `tools/call`; undefined if the request has none. */
  method: string | undefined;
}

/** An MCP server on a real port, without sessions. */
export interface McpTestServer {
  readonly url: string;
  readonly requests: readonly McpTestRequest[];
  /** Cuts open connections and frees the port. Idempotent. */
  close(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function methodOf(body: string): string | undefined {
  const message: unknown = body === "" ? null : JSON.parse(body);
  if (typeof message !== "object" || message === null || !("method" in message)) return undefined;
  return typeof message.method === "string" ? message.method : undefined;
}

async function giveAnswer(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}

/**
 * Starts a server of the official package with these tools on a port of 127.0.0.1. It supports every revision of the
 * protocol, or with `isOld` only those before 2026-07-28. A test file that does not close it fails.
 */
export async function startMcpServer(
  tools: readonly McpTestTool[],
  { isOld = false }: { isOld?: boolean } = {},
): Promise<McpTestServer> {
  const requests: McpTestRequest[] = [];
  // Loaded only by tests that need it.
  const { McpServer, createMcpHandler, fromJsonSchema, legacyStatelessFallback } =
    await import("@modelcontextprotocol/server");
  const makeServer = () => {
    const mcp = new McpServer({ name: "test", version: "1.0.0" });
    for (const { name, description = name, parameters = { type: "object" }, annotations, call } of tools) {
      const inputSchema = fromJsonSchema(parameters as Parameters<typeof fromJsonSchema>[0]);
      mcp.registerTool(
        name,
        { description, inputSchema, ...(annotations === undefined ? {} : { annotations }) },
        (input) => call(input),
      );
    }
    return mcp;
  };
  const handler = isOld ? { fetch: legacyStatelessFallback(makeServer) } : createMcpHandler(makeServer);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const httpMethod = request.method ?? "GET";
    requests.push({ httpMethod, headers: request.headers, method: methodOf(body) });
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : [],
    );
    const asked = new Request(`http://${request.headers.host ?? "127.0.0.1"}${request.url ?? "/"}`, {
      method: httpMethod,
      headers,
      ...(body === "" ? {} : { body }),
    });
    await giveAnswer(response, await handler.fetch(asked));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listenOnLoopback(server);
  const url = `http://127.0.0.1:${port}/mcp`;
  return { url, requests, close: closerOf(server, `an MCP server at ${url}`) };
}
