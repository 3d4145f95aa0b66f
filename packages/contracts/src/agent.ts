import { z } from "zod";

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
  /** Messages that this agent should get. */
  examples: z.array(z.string()),
  reviewPolicy: reviewPolicySchema,
  /** Confidence from which `auto_if` sends without a person, 0 to 1. */
  autoThreshold: z.number(),
  /** A text that the agent always answers, whatever was asked; null for a real answer. */
  fixedReply: z.string().nullable(),
  tools: z.array(z.unknown()),
  enabled: z.boolean(),
  version: z.number(),
});
export type Agent = z.infer<typeof agentSchema>;
