import type { Agent } from "@svc/contracts";

/**
 * Whether an answer of this agent goes out without a person. An agent whose answers are always reviewed is taken as one
 * that sends what reaches its threshold: what its answers are worth is the question here.
 */
export function isSent(
  agent: Pick<Agent, "reviewPolicy" | "autoThreshold"> | null,
  answer: { text: string | null; confidence: number },
): boolean {
  if (agent === null || answer.text === null) return false;
  return agent.reviewPolicy === "auto" || answer.confidence >= agent.autoThreshold;
}
