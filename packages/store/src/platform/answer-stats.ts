import { STATS_LIMITS, sumAnswerCounts } from "@svc/contracts";
import type { AnswerCounts, ReviewPolicy, StatsQuery } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("platform/answer-stats");

/**
 * What an event of a ticket means for the answer of an agent: it was sent or held, a person decided about it, the customer
 * asked for a person or rated the conversation badly.
 */
export type AnswerStep = "sent" | "held" | "approve" | "edit" | "reject" | "person" | "badRating";

/** The highest score of a visitor that counts as a bad rating, of 1 to 5. */
export const BAD_RATING_MAX_SCORE = 2;

/** How the answers of an agent fared, in total and by confidence. */
export interface AgentAnswerStats extends AnswerCounts {
  agentId: string;
  /** Null where the agent was deleted, as the two below. */
  name: string | null;
  reviewPolicy: ReviewPolicy | null;
  autoThreshold: number | null;
  /** For each whole percent of confidence with answers, rounded down, in ascending order. */
  byConfidence: ({ percent: number } & AnswerCounts)[];
}

interface BucketRow extends AnswerCounts {
  agentId: string;
  percent: number;
}

interface AgentRow {
  id: string;
  name: string;
  reviewPolicy: ReviewPolicy;
  autoThreshold: number;
}

/** Reads how the agents' answers of a span of time fared, the agent with the most answers first. */
export async function readAnswerStats(
  tx: Db,
  project: ProjectId,
  { from, to, channelId, agentId }: Omit<StatsQuery, "timeZone">,
): Promise<AgentAnswerStats[]> {
  const rows = await sql.buckets.all<BucketRow>(tx, { project, from, to, channelId, agentId });
  const byAgent = new Map<string, AgentAnswerStats["byConfidence"]>();
  for (const { agentId: id, ...bucket } of rows) byAgent.set(id, [...(byAgent.get(id) ?? []), bucket]);
  const agents = await sql.listAgents.all<AgentRow>(tx, { project, ids: [...byAgent.keys()] });
  const known = new Map(agents.map((agent) => [agent.id, agent]));
  return [...byAgent]
    .map(([id, byConfidence]): AgentAnswerStats => {
      const agent = known.get(id);
      return {
        agentId: id,
        name: agent?.name ?? null,
        reviewPolicy: agent?.reviewPolicy ?? null,
        autoThreshold: agent?.autoThreshold ?? null,
        ...sumAnswerCounts(byConfidence),
        byConfidence,
      };
    })
    .toSorted((a, b) => b.answers - a.answers)
    .slice(0, STATS_LIMITS.agentsMaxCount);
}
