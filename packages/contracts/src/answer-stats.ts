import { z } from "zod";
import { reviewPolicySchema } from "./agent.ts";

const answerCounts = {
  answers: z.int().describe("Answers of the agent that were sent or held as drafts."),
  automatic: z.int().describe("Answers sent without approval."),
  accepted: z.int().describe("Answers sent unchanged, without an objection from the customer."),
  edited: z.int().describe("Answers edited by an operator before they were sent."),
  askedPerson: z.int().describe("Answers after which the customer asked for a person."),
  ratedBadly: z.int().describe("Answers after which the visitor rated the conversation 1 or 2 of 5."),
  rejected: z.int().describe("Drafts that an operator dismissed or replaced with a different reply."),
  undecided: z.int().describe("Drafts without a decision yet."),
};

/** Outcomes of an agent's answers. Each answer has exactly one outcome, from `accepted` to `undecided`. */
export const answerCountsSchema = z.object(answerCounts);
export type AnswerCounts = z.infer<typeof answerCountsSchema>;

/** Outcomes of the agents' answers in a period, by confidence. */
export const answerStatsSchema = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  agents: z
    .array(
      z.object({
        agentId: z.string(),
        name: z.string().nullable().describe("Null if the agent was deleted; so are `mode` and `autoThreshold`."),
        reviewPolicy: reviewPolicySchema.nullable(),
        autoThreshold: z.number().nullable().describe("Current threshold of the agent, from 0 to 1."),
        ...answerCounts,
        byConfidence: z
          .array(z.object({ percent: z.int().min(0).max(100), ...answerCounts }))
          .describe("Counts per whole percent of confidence (rounded down) that has answers, in ascending order."),
      }),
    )
    .describe("By the agent that wrote the answer, most answers first. At most 100 agents."),
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
