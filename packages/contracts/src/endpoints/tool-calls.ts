import { toolCallSchema, toolCallStateSchema } from "../tool.ts";
import { itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Tool calls";
const PATH = "/api/v1/admin/tool-calls";

const ONCE =
  "Refused with 412, and nothing is called, when the customer has written since, the ticket is answered or has another agent by now, the tool was changed, or the call was decided already. With `If-Match` it counts for the ticket as it was read: also after a newer message that is in it, and for no other version.";

/** What both decisions have in common. */
const decision = {
  method: "POST",
  tag,
  scope: "tickets:write",
  ifMatch: true,
  answers: [itemAnswer(toolCallSchema)],
  errors: ["version_conflict"],
} as const satisfies Partial<Endpoint>;

/** Calls of agents' tools, and what operators decide about those that wait. */
export const toolCallEndpoints = {
  listToolCalls: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List calls of agents' tools, newest first",
    scope: "tickets:read",
    query: listQuerySchema.omit({ q: true }).extend({ state: toolCallStateSchema.optional() }),
    answers: [listAnswer(toolCallSchema)],
    example: { query: { state: "waiting" } },
  },
  getToolCall: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Read a call of a tool",
    scope: "tickets:read",
    answers: [itemAnswer(toolCallSchema, { headers: { ETag: "Version of its ticket." } })],
  },
  approveToolCall: {
    ...decision,
    path: `${PATH}/{id}/approve`,
    summary: "Let a call that waits be made",
    description: `It is made once, and the agent makes its draft anew with what came of it. ${ONCE}`,
  },
  rejectToolCall: {
    ...decision,
    path: `${PATH}/{id}/reject`,
    summary: "Refuse a call that waits",
    description: `It is never made, and the agent makes its draft anew without it. ${ONCE}`,
  },
} as const satisfies Record<string, Endpoint>;
