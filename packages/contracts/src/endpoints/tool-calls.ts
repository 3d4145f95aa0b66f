import { toolCallSchema, toolCallStateSchema } from "../tool.ts";
import { itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Tool calls";
const PATH = "/api/v1/admin/tool-calls";

const ONCE =
  "Returns 412, without a decision, if the customer has written since the agent requested the call, the ticket was answered or routed to another agent, the tool was changed, or the tool call was already decided. With `If-Match`, the decision applies to exactly that version of the ticket, including newer messages in it.";

/** Common fields of both decisions. */
const decision = {
  method: "POST",
  tag,
  scope: "tickets:write",
  ifMatch: true,
  answers: [itemAnswer(toolCallSchema)],
  errors: ["version_conflict"],
} as const satisfies Partial<Endpoint>;

/** Tool calls of agents, and the decisions of operators on them. */
export const toolCallEndpoints = {
  listToolCalls: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List tool calls, newest first",
    scope: "tickets:read",
    query: listQuerySchema.omit({ q: true }).extend({ state: toolCallStateSchema.optional() }),
    answers: [listAnswer(toolCallSchema)],
    example: { query: { state: "waiting" } },
  },
  getToolCall: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a tool call",
    scope: "tickets:read",
    answers: [itemAnswer(toolCallSchema, { headers: { ETag: "Version of its ticket." } })],
  },
  approveToolCall: {
    ...decision,
    path: `${PATH}/{id}/approve`,
    summary: "Approve a tool call",
    description: `The tool is called once, and the agent regenerates its draft with the result. ${ONCE}`,
  },
  rejectToolCall: {
    ...decision,
    path: `${PATH}/{id}/reject`,
    summary: "Reject a tool call",
    description: `The tool is not called, and the agent regenerates its draft without it. ${ONCE}`,
  },
} as const satisfies Record<string, Endpoint>;
