import { STATS_LIMITS, sumAnswerCounts } from "@svc/contracts";
import type { AnswerCounts, ReviewPolicy, StatsQuery } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

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
  agent_id: string;
  percent: number;
}

interface AgentRow {
  id: string;
  name: string;
  review_policy: ReviewPolicy;
  auto_threshold: number;
}

// The steps of the project's tickets from the beginning of the span on, each with the two that follow it in its ticket.
// An answer that another one replaced before a person decided does not count; nor does a decision that was undone before
// another one. Steps belong to the project that their ticket came in to; those of tickets from elsewhere are found by
// ticket, as in the other statistics. The index on steps has all columns that this reads.
const STEPS = `
  SELECT id, ticket_id, at, answer_step AS step, answer_confidence AS confidence, answer_agent_id AS agent_id
  FROM ticket_events`;
const BUCKETS = `
  WITH steps AS (
    SELECT s.*, lead(s.step) OVER w AS next, lead(s.step, 2) OVER w AS after_next
    FROM (
      ${STEPS} WHERE project_id = $1 AND at >= $2 AND answer_step IS NOT NULL
      UNION ALL
      ${STEPS}
      WHERE ticket_id IN (SELECT ticket_id FROM ticket_list WHERE project_id = $1 AND foreign_chat_id IS NOT NULL)
        AND project_id <> $1 AND at >= $2 AND answer_step IS NOT NULL
    ) s
    JOIN ticket_list l ON l.ticket_id = s.ticket_id AND l.project_id = $1 AND ($4::text IS NULL OR l.channel_id = $4)
    WINDOW w AS (PARTITION BY s.ticket_id ORDER BY s.id)
  ), answers AS (
    SELECT agent_id, step, floor(confidence::float8 * 100 + 1e-4)::int AS percent,
      CASE
        WHEN step = 'sent' THEN CASE WHEN next IN ('person', 'badRating') THEN next ELSE 'approve' END
        WHEN next = 'reject' AND after_next IN ('approve', 'edit') THEN after_next
        WHEN next IN ('approve', 'edit') AND after_next IN ('person', 'badRating') THEN after_next
        WHEN next IN ('approve', 'edit', 'reject') THEN next
        ELSE 'undecided'
      END AS outcome
    FROM steps
    WHERE step IN ('sent', 'held') AND at < $3 AND ($5::uuid IS NULL OR agent_id = $5)
      AND NOT (step = 'held' AND coalesce(next, '') IN ('sent', 'held'))
  )
  SELECT agent_id, percent, count(*) AS answers,
    count(*) FILTER (WHERE step = 'sent') AS automatic,
    count(*) FILTER (WHERE outcome = 'approve') AS accepted,
    count(*) FILTER (WHERE outcome = 'edit') AS edited,
    count(*) FILTER (WHERE outcome = 'person') AS "askedPerson",
    count(*) FILTER (WHERE outcome = 'badRating') AS "ratedBadly",
    count(*) FILTER (WHERE outcome = 'reject') AS rejected,
    count(*) FILTER (WHERE outcome = 'undecided') AS undecided
  FROM answers GROUP BY agent_id, percent ORDER BY agent_id, percent`;

/** Reads how the agents' answers of a span of time fared, the agent with the most answers first. */
export async function readAnswerStats(
  tx: Db,
  project: ProjectId,
  { from, to, channelId, agentId }: Omit<StatsQuery, "timeZone">,
): Promise<AgentAnswerStats[]> {
  const rows = await tx.query<BucketRow>(BUCKETS, [project, from, to, channelId ?? null, agentId ?? null]);
  const byAgent = new Map<string, AgentAnswerStats["byConfidence"]>();
  for (const { agent_id: id, ...bucket } of rows) byAgent.set(id, [...(byAgent.get(id) ?? []), bucket]);
  const agents = await tx.query<AgentRow>(
    "SELECT id, name, review_policy, auto_threshold FROM agents WHERE project_id = $1 AND id = ANY ($2::uuid[])",
    [project, [...byAgent.keys()]],
  );
  const known = new Map(agents.map((agent) => [agent.id, agent]));
  return [...byAgent]
    .map(([id, byConfidence]): AgentAnswerStats => {
      const agent = known.get(id);
      return {
        agentId: id,
        name: agent?.name ?? null,
        reviewPolicy: agent?.review_policy ?? null,
        autoThreshold: agent?.auto_threshold ?? null,
        ...sumAnswerCounts(byConfidence),
        byConfidence,
      };
    })
    .toSorted((a, b) => b.answers - a.answers)
    .slice(0, STATS_LIMITS.agentsMaxCount);
}
