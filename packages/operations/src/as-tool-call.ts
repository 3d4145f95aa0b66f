import type { ToolCall } from "@svc/contracts";
import type { ToolCallRecord } from "@svc/store";

/** A call as it is shown to people of its project. */
export function asToolCall(call: ToolCallRecord, projectName: string): ToolCall {
  const { id, ticketId, messageId, agentId, tool, access, arguments: given, state, result, decidedBy } = call;
  return {
    id,
    project: projectName,
    ticketId,
    messageId,
    agentId,
    tool,
    access,
    arguments: given,
    state,
    result,
    ms: call.durationMs,
    at: call.createdAt.toISOString(),
    decidedBy,
    decidedAt: call.decidedAt?.toISOString() ?? null,
  };
}
