/** What a tool answers: every field that one of them can have. */
export interface ToolData {
  hits: { title: string }[];
  items: { id: string; name: string }[];
  nextCursor: string | null;
  cleanedText: string;
  issues: { quotes: { start: number; end: number }[] }[];
}

/** A tool as it is listed. */
export interface ListedTool {
  name: string;
  inputSchema: { properties?: object };
  outputSchema: { properties?: object };
}

/** Every field that a result can have: tests look into those that they expect. */
export interface RpcResult {
  tools: ListedTool[];
  content: { type: string; text: string }[];
  structuredContent: ToolData;
  isError?: boolean;
}

/** A message of JSON-RPC as it came: a result where it has no error. */
export interface RpcMessage {
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result: RpcResult;
  error?: { code: number; message: string; data?: unknown };
}

/** An answer with everything that was told on its way. */
export interface RpcAnswer {
  status: number;
  headers: Headers;
  messages: RpcMessage[];
  last: RpcMessage;
}

/** What a client of the older revisions begins with. */
export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

/** The reserved fields that a request of 2026-07-28 carries. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The messages of a body: of a stream of events, of one document, or none. */
export function parseEvents(text: string): RpcMessage[] {
  if (text.trim() === "") return [];
  if (text.trimStart().startsWith("{") || text.trimStart().startsWith("[")) {
    const read: RpcMessage | RpcMessage[] = JSON.parse(text);
    return [read].flat();
  }
  const data = text.split("\n").filter((line) => line.startsWith("data: ") && line.length > "data: ".length);
  return data.map((line): RpcMessage => JSON.parse(line.slice("data: ".length)));
}
