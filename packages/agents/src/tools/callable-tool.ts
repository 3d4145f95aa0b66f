import { createHash } from "node:crypto";
import { BlockedAddressError, OutboundConnectionError } from "@svc/outbound";
import type { AgentTool, ArgumentSource, ToolAccess, ToolApproval, HttpTool, McpTool } from "@svc/contracts";

/** What of a tool says where its calls go and what they are. */
type ToolFacts =
  | Pick<HttpTool, "type" | "name" | "method" | "url" | "parameters" | "body" | "bind">
  | Pick<McpTool, "type" | "name" | "url">;

/** What Node says when no connection was made. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** A tool of an agent with the values of its headers: they leave this process in its calls, and nowhere else. */
export type OpenedTool = AgentTool;

/** Result of a call: `unknown` if it cannot be known whether it was made. `text` is data from the other side. */
export interface ToolOutcome {
  state: "done" | "failed" | "unknown";
  text: string;
}

/** A tool that can be called: one of HTTP, or one of those of an MCP server. */
export interface CallableTool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique among those of its agent. */
  name: string;
  description: string;
  /** JSON Schema of the arguments that a model chooses: an object. */
  parameters: Record<string, unknown>;
  access: ToolAccess;
  approval: ToolApproval;
  /** Arguments that the service fills, by their names. */
  bind: Readonly<Record<string, ArgumentSource>>;
  /** Whether anonymous customers can cause calls that no operator approves. */
  anonymous: "allow" | "refuse";
  /** Changes whenever what a call does may have changed. */
  mark: string;
  /**
   * Calls it with arguments that were checked. Never rejects but with the reason of the signal. `callId` goes along
   * with a call that writes, so that the other end knows a repeat for one.
   */
  call(input: Record<string, unknown>, options: { callId: string; signal: AbortSignal }): Promise<ToolOutcome>;
}

/** True when a request that has thrown never left: nothing can have been done by it. */
export function wasNeverSent(error: unknown): boolean {
  if (error instanceof BlockedAddressError) return true;
  return error instanceof OutboundConnectionError && NEVER_CONNECTED.has(error.errorCode);
}

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
