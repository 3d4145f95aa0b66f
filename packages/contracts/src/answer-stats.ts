import { z } from "zod";
import { reviewPolicySchema } from "./agent.ts";

const answerCounts = {
  answers: z.int().describe("Answers of the agent that were sent or held as a draft."),
  automatic: z.int().describe("Those of them that were sent without a person."),
  accepted: z.int().describe("Sent as the agent wrote them, and the customer did not object."),
  edited: z.int().describe("Edited by a person before they were sent."),
  askedPerson: z.int().describe("Sent; the customer asked for a person next."),
  ratedBadly: z.int().describe("Sent; the visitor rated the conversation 1 or 2 of 5 next."),
  rejected: z.int().describe("Drafts that a person dismissed, or replaced with a reply of their own."),
  undecided: z.int().describe("Drafts that nobody has decided about."),
};

/** What became of answers of an agent. Each has exactly one outcome, from `accepted` to `undecided`. */
export const answerCountsSchema = z.object(answerCounts);
export type AnswerCounts = z.infer<typeof answerCountsSchema>;

/** How the answers of the agents fared in a span of time, and how sure the agents were of them. */
export const answerStatsSchema = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  agents: z
    .array(
      z.object({
        agentId: z.string(),
        name: z.string().nullable().describe("Null where the agent was deleted, like the two below."),
        reviewPolicy: reviewPolicySchema.nullable(),
        autoThreshold: z.number().nullable().describe("The agent's present threshold, 0 to 1."),
        ...answerCounts,
        byConfidence: z
          .array(z.object({ percent: z.int().min(0).max(100), ...answerCounts }))
          .describe(
            "The same counts for each whole percent of confidence with answers, rounded down, in ascending order.",
          ),
      }),
    )
    .describe("By the agent that wrote the answer, the agent with the most answers first; at most 100."),
});
export type AnswerStats = z.infer<typeof answerStatsSchema>;

/** Returns the sums of counts. */
export function sumAnswerCounts(counts: readonly AnswerCounts[]): AnswerCounts {
  const sum = (name: keyof AnswerCounts) => counts.reduce((total, count) => total + count[name], 0);
  return {
    answers: sum("answers"),
    automatic: sum("automatic"),
    accepted: sum("accepted"),
    edited: sum("edited"),
    askedPerson: sum("askedPerson"),
    ratedBadly: sum("ratedBadly"),
    rejected: sum("rejected"),
    undecided: sum("undecided"),
  };
}
