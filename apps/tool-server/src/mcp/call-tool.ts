import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { ServiceError } from "@svc/contracts";
import type { Cancellations, Caller } from "./cancellations.ts";
import { errorResult } from "./error-result.ts";
import { tellProgress } from "./tell-progress.ts";
import type { Tool, ToolDeps } from "./tool.ts";

/** What a call of a tool needs besides what the tool does. */
export interface CallContext {
  deps: ToolDeps;
  cancellations: Cancellations;
  /** Aborted some time after the service has begun to stop. */
  closing: AbortSignal;
}

/** What callers are told for whom there is no time left before the process ends. */
export const stopping = () => new ServiceError("unavailable", "The service is shutting down. Retry in a few seconds.");
const cancelled = (): CallToolResult => ({
  content: [{ type: "text", text: "The call was cancelled." }],
  isError: true,
});

/**
 * Calls a tool. Every failure of the domain is a result that says what to do; what is a fault of the service is in the
 * log, with the request id that the result names. The work ends when the caller hangs up or cancels, and when a
 * service that stops has waited long enough for it.
 */
export async function callTool(
  { deps, cancellations, closing }: CallContext,
  caller: Caller,
  tool: Tool,
  { args, context }: { args: unknown; context: ServerContext },
): Promise<CallToolResult> {
  const { principal } = caller;
  const { mcpReq } = context;
  const ended = new AbortController();
  const signal = AbortSignal.any([mcpReq.signal, ended.signal, closing]);
  const unfollow = cancellations.follow(caller, mcpReq.id, () => ended.abort());
  const finish = tool.waitingFor === undefined ? () => undefined : tellProgress(context, tool.waitingFor, deps.log);
  try {
    return await tool.call(deps, principal, args, signal);
  } catch (error) {
    if (error instanceof ServiceError) return errorResult(error);
    if (signal.aborted) return closing.aborted ? errorResult(stopping()) : cancelled();
    const { requestId } = principal;
    deps.log.error({ error, requestId, tool: tool.definition.name }, "tool call failed");
    return errorResult(
      new ServiceError("internal", `Internal error. Quote the request ID ${requestId} when you report it.`),
    );
  } finally {
    finish();
    unfollow();
  }
}
