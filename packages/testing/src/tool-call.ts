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
