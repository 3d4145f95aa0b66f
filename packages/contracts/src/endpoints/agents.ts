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
    summary: "Make an agent",
    scope: "agents:write",
    body: { schema: agentInputSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    answers: [createdAnswer(agentSchema)],
    example: { body: { name: "Billing", description: "Invoices, payments and refunds." } },
  },
  getAgent: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Read an agent",
    scope: "agents:read",
    answers: [itemAnswer(agentSchema)],
  },
  updateAgent: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Change an agent",
    description: "What is left out stays as it is; lists are replaced as a whole.",
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
    description: "Its chats go to another agent with their next message; its knowledge bases stay.",
    scope: "agents:write",
    ifMatch: true,
    answers: [itemAnswer(agentSchema)],
  },
  executeAgent: {
    method: "POST",
    path: `${PATH}/{id}/execute`,
    tag,
    summary: "Ask an agent without a ticket",
    scope: "agents:execute",
    body: { schema: agentCallSchema },
    answers: [
      { status: 200, when: "Its answer.", schema: z.object({ ok: z.literal(true) }).extend(agentResultSchema.shape) },
    ],
    example: { body: { input: "How do I send a message with curl?" } },
  },
  replayAgent: {
    method: "POST",
    path: `${PATH}/{id}/replay`,
    tag,
    summary: "Compare an agent with a changed one on what people have answered",
    description:
      "Both answer the messages of past replies that people approved, edited or wrote, with the chat as it was then and the " +
      "knowledge of now; nothing is sent, kept or changed, and no tool is called. Answers within 50 seconds, with " +
      "`isComplete: false` where that was too little.",
    scope: "agents:execute",
    alsoScope: "tickets:read",
    body: { schema: replayInputSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    answers: [
      {
        status: 200,
        when: "What would change.",
        schema: z.object({ ok: z.literal(true) }).extend(replayResultSchema.shape),
      },
    ],
    example: { body: { against: { autoThreshold: 0.6 }, limit: 20 } },
  },
} as const satisfies Record<string, Endpoint>;
