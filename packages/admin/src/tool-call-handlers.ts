import type { toolCallEndpoints } from "@svc/contracts";
import { decideToolCall, getToolCall, listToolCalls } from "@svc/operations";
import type { ToolCallListInput } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Calls of agents' tools. */
export const toolCallHandlers: AdminHandlers<typeof toolCallEndpoints> = {
  async listToolCalls(context, { principal, listQuery, query }) {
    const input = { ...listQuery(), state: query("state") } as ToolCallListInput;
    return { list: await listToolCalls(context, principal, input) };
  },
  getToolCall: (context, { principal, param }) => getToolCall(context, principal, param()),
  approveToolCall: async (context, { principal, param, ifMatch }) => ({
    item: await decideToolCall.approve(context, principal, param(), ifMatch()),
  }),
  rejectToolCall: async (context, { principal, param, ifMatch }) => ({
    item: await decideToolCall.reject(context, principal, param(), ifMatch()),
  }),
};
