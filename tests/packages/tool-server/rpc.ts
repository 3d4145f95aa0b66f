/** Result of a tool: every field that one of them can have. */
export interface ToolData {
  hits: { title: string }[];
  items: { id: string; name: string }[];
  nextCursor: string | null;
  cleanedText: string;
  issues: { quotes: { start: number; end: number }[] }[];
}

/** A listed tool. */
export interface ListedTool {
  name: string;
  inputSchema: { properties?: object };
  outputSchema: { properties?: object };
}

/** Every field that a result can have; tests read those that they expect. */
export interface RpcResult {
  tools: ListedTool[];
  content: { type: string; text: string }[];
  structuredContent: ToolData;
  isError?: boolean;
}

/** A received message of JSON-RPC: a result if it has no error. */
export interface RpcMessage {
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result: RpcResult;
  error?: { code: number; message: string; data?: unknown };
}

/** A response with all notifications before it. */
export interface RpcAnswer {
  status: number;
  headers: Headers;
  messages: RpcMessage[];
  last: RpcMessage;
}

/** Parameters of a client's `initialize` in older revisions. */
export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

/** The reserved fields of a request of 2026-07-28. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Returns the messages of a body: an event stream, one document, or none. */
export function parseEvents(text: string): RpcMessage[] {
  if (text.trim() === "") return [];
  if (text.trimStart().startsWith("{") || text.trimStart().startsWith("[")) {
    const read: RpcMessage | RpcMessage[] = JSON.parse(text);
    return [read].flat();
  }
  const data = text.split("\n").filter((line) => line.startsWith("data: ") && line.length > "data: ".length);
  return data.map((line): RpcMessage => JSON.parse(line.slice("data: ".length)));
}
