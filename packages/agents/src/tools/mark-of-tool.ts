import { createHash } from "node:crypto";
import type { HttpTool, McpTool } from "@svc/contracts";

/** What of a tool says where its calls go and what they are. */
type ToolFacts =
  | Pick<HttpTool, "type" | "name" | "method" | "url" | "parameters" | "body" | "bind">
  | Pick<McpTool, "type" | "name" | "url">;

function factsOf(tool: ToolFacts): unknown[] {
  if (tool.type === "mcp") return [tool.type, tool.name, tool.url];
  const facts = [tool.type, tool.name, tool.method, tool.url, tool.parameters, tool.body];
  // Tools without bindings keep the mark that they had before there were any.
  return Object.keys(tool.bind ?? {}).length === 0 ? facts : [...facts, tool.bind];
}

/**
 * The same text as long as a tool does the same (hexadecimal): an approval is for the tool as it was, and a call that
 * was made is known by it. Its description, its headers and who has to approve do not belong to it.
 */
export function markOfTool(tool: ToolFacts): string {
  return createHash("sha256")
    .update(canonicalJson(factsOf(tool)))
    .digest("hex")
    .slice(0, 32);
}

/** The mark of one tool of an MCP server. */
export function markOfRemoteTool(server: ToolFacts, remoteName: string): string {
  return `${markOfTool(server)}:${remoteName}`;
}

/** Whether a mark is that of this tool, or of one that this MCP server has. */
export function isMarkOf(tool: ToolFacts, mark: string): boolean {
  const own = markOfTool(tool);
  return mark === own || (tool.type === "mcp" && mark.startsWith(`${own}:`));
}

/** JSON in which the fields of each object stand in the order of their names: the same text for the same value. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const fields = Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(fields);
  });
}
