import { z } from "zod";
import {
  AGENT_LIMITS,
  agentCallSchema,
  agentChangeSchema,
  agentInputSchema,
  agentResultSchema,
  agentSchema,
} from "../agent.ts";
import { replayInputSchema, replayResultSchema } from "../replay.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Agents";
const PATH = "/api/v1/admin/agents";

/** Agents (service document, section 4.4). */
export const agentEndpoints = {
  listAgents: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List agents, newest first",
    scope: "agents:read",
    query: listQuerySchema,
    answers: [listAnswer(agentSchema)],
  },
  createAgent: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create an agent",
    scope: "agents:write",
    body: { schema: agentInputSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    answers: [createdAnswer(agentSchema)],
    example: { body: { name: "Billing", description: "Invoices, payments and refunds." } },
  },
  getAgent: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get an agent",
    scope: "agents:read",
    answers: [itemAnswer(agentSchema)],
  },
  updateAgent: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Update an agent",
    description: "Omitted fields stay unchanged. Lists are replaced as a whole.",
    scope: "agents:write",
    body: { schema: agentChangeSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    ifMatch: true,
    answers: [itemAnswer(agentSchema)],
    example: { body: { autoThreshold: 0.6 } },
  },
  deleteAgent: {
    method: "DELETE",
    path: `${PATH}/{id}`,
    tag,
    summary: "Delete an agent",
    description:
      "The agent's conversations are routed to another agent with their next message. Knowledge bases are not deleted.",
    scope: "agents:write",
    ifMatch: true,
    answers: [itemAnswer(agentSchema)],
  },
  executeAgent: {
    method: "POST",
    path: `${PATH}/{id}/execute`,
    tag,
    summary: "Run an agent without a ticket",
    scope: "agents:execute",
    body: { schema: agentCallSchema },
    isCancellable: true,
    answers: [
      {
        status: 200,
        when: "Result of the agent.",
        schema: z.object({ ok: z.literal(true) }).extend(agentResultSchema.shape),
      },
    ],
    example: { body: { input: "How do I send a message with curl?" } },
  },
  replayAgent: {
    method: "POST",
    path: `${PATH}/{id}/replay`,
    tag,
    summary: "Replay past conversations with a changed agent",
    description:
      "The current and the changed agent answer the messages of past replies that operators approved, edited or wrote, with " +
      "the conversation as it was then and the current knowledge. Nothing is sent, stored or changed, and no tool is called. " +
      "Responds within 50 seconds; `isComplete` is false if not all replies were compared.",
    scope: "agents:execute",
    alsoScope: "tickets:read",
    body: { schema: replayInputSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    isCancellable: true,
    answers: [
      {
        status: 200,
        when: "Comparison of both agents.",
        schema: z.object({ ok: z.literal(true) }).extend(replayResultSchema.shape),
      },
    ],
    example: { body: { against: { autoThreshold: 0.6 }, limit: 20 } },
  },
} as const satisfies Record<string, Endpoint>;
