import { z } from "zod";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { sourceSchema } from "./reply-item.ts";
import { agentToolSchema, agentToolsField } from "./tool.ts";
import { lineUpTo, messageText, textUpTo } from "./limits.ts";

/** Threshold of new agents (ADR 0067). */
export const DEFAULT_AUTO_THRESHOLD = 0.7;

/** Limits of agents. Characters are Unicode code points. */
export const AGENT_LIMITS = {
  nameMaxChars: 200,
  descriptionMaxChars: 10_000,
  instructionsMaxChars: 50_000,
  modelMaxChars: 200,
  fixedReplyMaxChars: 50_000,
  /** Maximum number of knowledge bases of an agent. */
  kbIdsMaxCount: 100,
  /** Maximum number of examples of an agent, and characters of each. */
  examplesMaxCount: 5_000,
  exampleMaxChars: 4_000,
  /** Maximum body size, in bytes, of a request that creates or updates an agent. */
  bodyMaxBytes: 5 * 1024 * 1024,
  /** Maximum characters of a question, and of the earlier conversation. */
  inputMaxChars: 50_000,
  contextMaxChars: 50_000,
} as const;

/** When an agent's answer is sent: always, only after approval, or if the confidence reaches the threshold. */
export const reviewPolicySchema = z.enum(["auto", "review", "auto_if"]);
export type ReviewPolicy = z.infer<typeof reviewPolicySchema>;

/** How tickets of an agent that wait for a person get an assignee: not at all, or operators on duty in turn. */
export const agentAssignmentSchema = z.enum(["none", "round-robin"], { error: "must be none or round-robin" });
export type AgentAssignment = z.infer<typeof agentAssignmentSchema>;

/** An agent: its knowledge bases, its instructions, and the confidence it needs to reply on its own. */
export const agentSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  instructions: z.string(),
  model: z.string().nullable(),
  kbIds: z.array(z.string()),
  examples: z.array(z.string()).describe("Example messages that should be routed to this agent."),
  reviewPolicy: reviewPolicySchema,
  autoThreshold: z
    .number()
    .describe("Minimum confidence, from 0 to 1, at which `auto_if` sends an answer without approval."),
  fixedReply: z.string().nullable().describe("Fixed text that the agent sends instead of an answer, or null."),
  tools: z.array(agentToolSchema).describe("Tools that the agent's language model can call."),
  assignment: agentAssignmentSchema.describe(
    "`round-robin`: tickets that need an operator are assigned to the operators on duty, in turn.",
  ),
  enabled: z.boolean(),
  version: z.number(),
});
export type Agent = z.infer<typeof agentSchema>;

/** Name of an agent, unique in its project: one line. */
const agentNameSchema = lineUpTo(AGENT_LIMITS.nameMaxChars);

const kbIdsSchema = z
  .array(z.uuid({ error: "must be the ID of a knowledge base" }))
  .max(AGENT_LIMITS.kbIdsMaxCount, { error: `must have at most ${AGENT_LIMITS.kbIdsMaxCount} knowledge bases` })
  // Duplicates are removed.
  .transform((ids) => [...new Set(ids.map((id) => id.toLowerCase()))]);

const examplesSchema = z
  .array(messageText(AGENT_LIMITS.exampleMaxChars))
  .max(AGENT_LIMITS.examplesMaxCount, { error: `must have at most ${AGENT_LIMITS.examplesMaxCount} examples` });

const thresholdError = "must be a number from 0 to 1";

/** Optional fields of an agent. Omitted fields have their default or stay unchanged. */
const agentSettings = {
  description: textUpTo(AGENT_LIMITS.descriptionMaxChars)
    .optional()
    .describe("What the agent is responsible for, in a sentence or two. Used to route conversations."),
  instructions: textUpTo(AGENT_LIMITS.instructionsMaxChars)
    .optional()
    .describe("Instructions for the language model. Ignored without one."),
  model: textUpTo(AGENT_LIMITS.modelMaxChars).nullable().optional(),
  kbIds: kbIdsSchema.optional(),
  examples: examplesSchema.optional(),
  reviewPolicy: z.enum(["auto", "review", "auto_if"]).optional(),
  autoThreshold: z
    .number({ error: thresholdError })
    .min(0, { error: thresholdError })
    .max(1, { error: thresholdError })
    .optional()
    .describe(`Minimum confidence at which \`auto_if\` sends. Defaults to ${DEFAULT_AUTO_THRESHOLD}.`),
  fixedReply: messageText(AGENT_LIMITS.fixedReplyMaxChars).nullable().optional(),
  tools: agentToolsField.optional().describe("Tools that the language model can call. Replaces the whole list."),
  assignment: agentAssignmentSchema.optional().describe("Defaults to `none`."),
  enabled: z.boolean().optional(),
};

/** Body of `POST /api/v1/admin/agents`. Unknown fields are rejected. */
export const agentInputSchema = z.strictObject({ name: agentNameSchema, ...agentSettings });
export type AgentInput = z.input<typeof agentInputSchema>;

/** Body of `PATCH /api/v1/admin/agents/:id`. Lists are replaced as a whole. Unknown fields are rejected. */
export const agentChangeSchema = z.strictObject({ name: agentNameSchema.optional(), ...agentSettings });
export type AgentChange = z.input<typeof agentChangeSchema>;

/** Body of `POST /api/v1/admin/agents/:id/execute`. Unknown fields are rejected. */
export const agentCallSchema = z.strictObject({
  input: messageText(AGENT_LIMITS.inputMaxChars).describe("Question for the agent."),
  context: textUpTo(AGENT_LIMITS.contextMaxChars)
    .optional()
    .describe('Earlier questions, one per line, so that follow-ups such as "And on Windows?" are understood.'),
});
export type AgentCall = z.infer<typeof agentCallSchema>;

/** Result of running an agent without a ticket. */
export const agentResultSchema = z.object({
  output: z
    .object({ text: z.string().nullable(), markdown: z.boolean() })
    .describe("`text` is null if the agent has no answer."),
  sources: z.array(sourceSchema),
  confidence: z.number().describe("Confidence from 0 to 1. Compared with `autoThreshold`."),
  why: z.string().describe("Explanation of the confidence."),
  usage: z
    .object({ model: z.string().nullable(), inputTokens: z.int(), outputTokens: z.int() })
    .describe("Tokens used by the language model. Null if none was called."),
  durationMs: z.int(),
});
export type AgentResult = z.infer<typeof agentResultSchema>;

const route = routesAt("Agents", "/api/v1/admin/agents");

/** Agents (service document, section 4.4). */
export const agentEndpoints = {
  listAgents: {
    ...route("GET", "agents:read", "List agents, newest first"),
    query: listQuery,
    answers: [listAnswer(agentSchema)],
  },
  createAgent: {
    ...route("POST", "agents:write", "Create an agent"),
    body: { schema: agentInputSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    answers: [createdAnswer(agentSchema)],
    example: { body: { name: "Billing", description: "Invoices, payments and refunds." } },
  },
  getAgent: {
    ...route("GET /{id}", "agents:read", "Get an agent"),
    answers: [itemAnswer(agentSchema)],
  },
  updateAgent: {
    ...route("PATCH /{id}", "agents:write", "Update an agent"),
    description: "Omitted fields stay unchanged. Lists are replaced as a whole.",
    body: { schema: agentChangeSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    ifMatch: true,
    answers: [itemAnswer(agentSchema)],
    example: { body: { autoThreshold: 0.6 } },
  },
  deleteAgent: {
    ...route("DELETE /{id}", "agents:write", "Delete an agent"),
    description:
      "The agent's conversations are routed to another agent with their next message. Knowledge bases are not deleted.",
    ifMatch: true,
    answers: [itemAnswer(agentSchema)],
  },
  executeAgent: {
    ...route("POST /{id}/execute", "agents:execute", "Run an agent without a ticket"),
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
} as const satisfies Record<string, Endpoint>;
