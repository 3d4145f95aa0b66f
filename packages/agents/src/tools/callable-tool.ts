import { BlockedAddressError, OutboundConnectionError } from "@svc/outbound";
import type { AgentTool, ArgumentSource, ToolAccess, ToolApproval } from "@svc/contracts";

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
