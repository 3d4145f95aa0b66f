import { z } from "zod";
import { itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { toolAccessSchema } from "./tool.ts";

/** State of a tool call. `unknown`: it is not known whether the call was made. */
export const toolCallStateSchema = z.enum(["waiting", "approved", "running", "done", "failed", "unknown", "rejected"]);
export type ToolCallState = z.infer<typeof toolCallStateSchema>;

/** Maximum characters of a result in lists and tickets. */
export const TOOL_RESULT_SHOWN_MAX_CHARS = 4_000;

/** A call of a tool that an agent has made or requested. */
export const toolCallSchema = z.object({
  id: z.string(),
  project: z.string().describe("Agent that requested the call."),
  ticketId: z.string(),
  messageId: z.string().describe("The message that the agent answers."),
  agentId: z.string(),
  tool: z.string().describe("Name of the tool, as the language model knows it."),
  access: toolAccessSchema,
  arguments: z.record(z.string(), z.unknown()),
  state: toolCallStateSchema.describe(
    "`waiting` for an operator; `approved`, about to run; `running`; `done` or `failed` according to the response; `unknown` if it is not known whether the call was made, so that a person must check; `rejected` by an operator, or because its message no longer needs it.",
  ),
  result: z
    .string()
    .nullable()
    .describe(
      `Result of the call, at most ${TOOL_RESULT_SHOWN_MAX_CHARS} characters; untrusted content from the server.`,
    ),
  ms: z.int().nullable().describe("Duration of the call."),
  at: z.iso.datetime(),
  decidedBy: z.string().nullable().describe("The operator who approved or rejected the call."),
  decidedAt: z.iso.datetime().nullable(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

const route = routesAt("Tool calls", "/api/v1/admin/tool-calls");

const ONCE =
  "Returns 412, without a decision, if the customer has written since the agent requested the call, the ticket was answered or routed to another agent, the tool was changed, or the tool call was already decided. With `If-Match`, the decision applies to exactly that version of the ticket, including newer messages in it.";

/** Common fields of both decisions. */
const decision = {
  ifMatch: true,
  answers: [itemAnswer(toolCallSchema)],
  errors: ["version_conflict"],
} as const satisfies Partial<Endpoint>;

/** Tool calls of agents, and the decisions of operators on them. */
export const toolCallEndpoints = {
  listToolCalls: {
    ...route("GET", "tickets:read", "List tool calls, newest first"),
    query: listQuery.omit({ q: true }).extend({ state: toolCallStateSchema.optional() }),
    answers: [listAnswer(toolCallSchema)],
    example: { query: { state: "waiting" } },
  },
  getToolCall: {
    ...route("GET /{id}", "tickets:read", "Get a tool call"),
    answers: [itemAnswer(toolCallSchema, { headers: { ETag: "Version of its ticket." } })],
  },
  approveToolCall: {
    ...route("POST /{id}/approve", "tickets:write", "Approve a tool call"),
    ...decision,
    description: `The tool is called once, and the agent regenerates its draft with the result. ${ONCE}`,
  },
  rejectToolCall: {
    ...route("POST /{id}/reject", "tickets:write", "Reject a tool call"),
    ...decision,
    description: `The tool is not called, and the agent regenerates its draft without it. ${ONCE}`,
  },
} as const satisfies Record<string, Endpoint>;
