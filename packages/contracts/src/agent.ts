import { z } from "zod";
import { sourceSchema } from "./reply-item.ts";
import { agentToolSchema, agentToolsInputSchema } from "./tool.ts";
import { lineUpTo, messageText, textUpTo } from "./well-formed.ts";

/** Bounds of agents. Characters are Unicode code points. */
export const AGENT_LIMITS = {
  nameMaxChars: 200,
  descriptionMaxChars: 10_000,
  instructionsMaxChars: 50_000,
  modelMaxChars: 200,
  fixedReplyMaxChars: 50_000,
  /** Knowledge bases of one agent. */
  kbIdsMaxCount: 100,
  /** Examples of one agent, and characters of each. */
  examplesMaxCount: 5_000,
  exampleMaxChars: 4_000,
  /** Bytes of a body that makes or changes an agent. */
  bodyMaxBytes: 5 * 1024 * 1024,
  /** Characters of what an agent is asked, and of what was said before. */
  inputMaxChars: 50_000,
  contextMaxChars: 50_000,
} as const;

/** When an agent's answer goes out: always, never without a person, or only when it is sure enough. */
export const reviewPolicySchema = z.enum(["auto", "review", "auto_if"]);
export type ReviewPolicy = z.infer<typeof reviewPolicySchema>;

/** An agent: who answers, from which knowledge bases, and how sure it must be. */
export const agentSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  instructions: z.string(),
  model: z.string().nullable(),
  kbIds: z.array(z.string()),
  examples: z.array(z.string()).describe("Messages that this agent should get."),
  reviewPolicy: reviewPolicySchema,
  autoThreshold: z.number().describe("Confidence from which `auto_if` sends without a person, 0 to 1."),
  fixedReply: z
    .string()
    .nullable()
    .describe("A text that the agent always answers, whatever was asked; null for a real answer."),
  tools: z.array(agentToolSchema).describe("What its language model may call while it answers."),
  enabled: z.boolean(),
  version: z.number(),
});
export type Agent = z.infer<typeof agentSchema>;

/** Name of an agent, unique in its project: one line. */
const agentNameSchema = lineUpTo(AGENT_LIMITS.nameMaxChars);

const kbIdsSchema = z
  .array(z.uuid({ error: "the id of a knowledge base" }))
  .max(AGENT_LIMITS.kbIdsMaxCount, { error: `at most ${AGENT_LIMITS.kbIdsMaxCount} knowledge bases` })
  // One given twice is one.
  .transform((ids) => [...new Set(ids.map((id) => id.toLowerCase()))]);

const examplesSchema = z
  .array(messageText(AGENT_LIMITS.exampleMaxChars))
  .max(AGENT_LIMITS.examplesMaxCount, { error: `at most ${AGENT_LIMITS.examplesMaxCount} examples` });

const thresholdError = "a number from 0 to 1";

/** What can be said of an agent besides its name. What is left out has its default, or stays as it is. */
const agentSettings = {
  description: textUpTo(AGENT_LIMITS.descriptionMaxChars)
    .optional()
    .describe("What it is for, in a sentence or two: triage goes by it."),
  instructions: textUpTo(AGENT_LIMITS.instructionsMaxChars)
    .optional()
    .describe("How it is to answer. Only a language model can follow that."),
  model: textUpTo(AGENT_LIMITS.modelMaxChars).nullable().optional(),
  kbIds: kbIdsSchema.optional(),
  examples: examplesSchema.optional(),
  reviewPolicy: z.enum(["auto", "review", "auto_if"], { error: "one of auto, review, auto_if" }).optional(),
  autoThreshold: z
    .number({ error: thresholdError })
    .min(0, { error: thresholdError })
    .max(1, { error: thresholdError })
    .optional(),
  fixedReply: messageText(AGENT_LIMITS.fixedReplyMaxChars).nullable().optional(),
  tools: agentToolsInputSchema
    .optional()
    .describe("What its language model may call while it answers; the list is replaced as a whole."),
  enabled: z.boolean().optional(),
};

/** Body of `POST /api/v1/admin/agents`. Unknown fields are faults. */
export const agentInputSchema = z.strictObject({ name: agentNameSchema, ...agentSettings });
export type AgentInput = z.infer<typeof agentInputSchema>;

/** Body of `PATCH /api/v1/admin/agents/:id`: lists are replaced as a whole. Unknown fields are faults. */
export const agentChangeSchema = z.strictObject({ name: agentNameSchema.optional(), ...agentSettings });
export type AgentChange = z.infer<typeof agentChangeSchema>;

/** Body of `POST /api/v1/admin/agents/:id/execute`. Unknown fields are faults. */
export const agentCallSchema = z.strictObject({
  input: messageText(AGENT_LIMITS.inputMaxChars).describe("What the agent is asked."),
  context: textUpTo(AGENT_LIMITS.contextMaxChars)
    .optional()
    .describe('What was asked before, one question a line, so that "And on Windows?" is understood.'),
});
export type AgentCall = z.infer<typeof agentCallSchema>;

/** What an agent answers when it is asked by itself. */
export const agentResultSchema = z.object({
  output: z
    .object({ text: z.string().nullable(), markdown: z.boolean() })
    .describe("`text` is null when the agent has nothing to say."),
  sources: z.array(sourceSchema),
  confidence: z.number().describe("0 to 1; what `autoThreshold` is compared with."),
  why: z.string().describe("How it came to that, in words."),
  usage: z
    .object({ model: z.string().nullable(), inputTokens: z.int(), outputTokens: z.int() })
    .describe("Tokens of a language model; none where none was asked."),
  durationMs: z.int(),
});
export type AgentResult = z.infer<typeof agentResultSchema>;
