import { QUEUE_COUNT_MAX, STATS_LIMITS, ServiceError, WORK_QUEUES, statsUnitOf } from "@svc/contracts";
import type { ChannelId, StatsQuery, StatsUnit, WorkQueue } from "@svc/contracts";
import { readAnswerStats } from "./answer-stats.ts";
import type { AgentAnswerStats } from "./answer-stats.ts";
import { sqlStateOf } from "../db.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { MODEL_SUMS, asModelSums } from "./model-calls.ts";
import type { ModelSums } from "./model-calls.ts";

/** Figures of a project, of one of its channels or of one of its agents. */
export interface StatsCounts {
  messages: number;
  automatic: number;
  handoffs: number;
  edits: number;
  approvals: number;
  /** Milliseconds from the first message of a ticket to its first reply; null without any. */
  firstReplyMs: { p50: number | null; p90: number | null };
}

/** How a project fared in a span of time. */
export interface ProjectStats {
  total: StatsCounts;
  /** For each unit of the span, the empty ones too, in their order. */
  series: { unit: StatsUnit; points: ({ at: Date } & StatsCounts)[] };
  byChannel: ({ channelId: ChannelId } & StatsCounts)[];
  byAgent: ({ agentId: string | null; name: string | null } & StatsCounts)[];
  topUnanswered: { question: string; count: number; lastAt: Date }[];
  models: ({ model: string; faults: number } & ModelSums)[];
}

/** What waits in a queue of a project, and what was given up. */
export interface QueueState {
  queue: WorkQueue;
  /** At most QUEUE_COUNT_MAX are counted, of `failed` too. */
  waiting: number;
  oldestDueAt: Date | null;
  failed: number;
}

interface ModelRow {
  model: string;
  calls: number;
  faults: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
}

interface GroupRow {
  is_channel: boolean;
  is_agent: boolean;
  is_point: boolean;
  point: Date | null;
  channel_id: ChannelId | null;
  agent_id: string | null;
}

interface CountRow extends GroupRow {
  messages: number;
  automatic: number;
  handoffs: number;
  edits: number;
  approvals: number;
}

interface TimeRow extends GroupRow {
  p50: number | null;
  p90: number | null;
}

/** Which row of grouping sets a row is. */
const keyOf = (row: GroupRow) =>
  row.is_channel
    ? `channel ${row.channel_id}`
    : row.is_agent
      ? `agent ${row.agent_id}`
      : row.is_point
        ? pointKey(row.point)
        : "";
const pointKey = (at: Date | null) => `point ${at?.getTime()}`;

// When each unit of a span began, from $1 to before $2, where the time zone is $3. Hours follow each other in time; days
// and weeks do so on the calendar of that place, where some have an hour more or less than others.
const onCalendar = (unit: "day" | "week") => `
  SELECT local AT TIME ZONE $3::text AS at FROM generate_series(
    date_trunc('${unit}', $1::timestamptz AT TIME ZONE $3::text),
    ($2::timestamptz - interval '1 microsecond') AT TIME ZONE $3::text, interval '1 ${unit}') local`;
const POINTS = {
  hour: `
    SELECT at FROM generate_series(
      date_trunc('hour', $1::timestamptz, $3::text), $2::timestamptz - interval '1 microsecond', interval '1 hour') at`,
  day: onCalendar("day"),
  week: onCalendar("week"),
} as const satisfies Record<StatsUnit, string>;

// What waits in each queue of the project ($1), when the first of it could have been done, and what was given up. Each is
// counted no further than the limit: the indexes of what waits and of what failed lead to it.
const counted = (from: string) => `(SELECT count(*)::int FROM (SELECT FROM ${from} LIMIT ${QUEUE_COUNT_MAX}) counted)`;
const QUEUES = {
  messages: `
    SELECT ${counted("messages WHERE state = 'received' AND project_id = $1")} AS waiting,
      (SELECT min(greatest(created_at, not_before)) FROM messages
       WHERE state = 'received' AND project_id = $1 AND coalesce(not_before, created_at) <= now()) AS oldest,
      ${counted("messages WHERE state = 'failed' AND project_id = $1 AND covered_by IS NULL")} AS failed`,
  replies: `
    SELECT ${counted("outboxes WHERE settled_seq < wanted_seq AND project_id = $1")} AS waiting,
      (SELECT min(next_at) FROM outboxes
       WHERE settled_seq < wanted_seq AND project_id = $1 AND next_at <= now()) AS oldest,
      ${counted("replies WHERE is_dead AND project_id = $1")} AS failed`,
  callbacks: `
    SELECT ${counted("deliveries WHERE state = 'pending' AND project_id = $1")} AS waiting,
      (SELECT min(greatest(created_at, next_at)) FROM deliveries
       WHERE state = 'pending' AND project_id = $1 AND next_at <= now()) AS oldest,
      ${counted("deliveries WHERE state = 'dead' AND project_id = $1")} AS failed`,
  documents: `
    SELECT ${counted("ingests WHERE project_id = $1")} AS waiting,
      (SELECT min(greatest(created_at, next_at)) FROM ingests WHERE project_id = $1 AND next_at <= now()) AS oldest,
      ${counted("documents d JOIN kbs k ON k.id = d.kb_id AND k.project_id = $1 AND k.deleted_at IS NULL WHERE d.status = 'failed'")} AS failed`,
} as const satisfies Record<WorkQueue, string>;

const STATEMENT_LIMIT_SECONDS = 20;
/** Enough to sort and join the answers of 100,000 tickets without files; PostgreSQL's default is 4 MB. */
const WORK_MEMORY = "64MB";
const QUERY_CANCELED = "57014";
const INVALID_PARAMETER_VALUE = "22023";

/**
 * Figures over the tickets that a project works on. They are read over many rows: `db` is a pool of their own with one
 * connection, so that of several calls one is at work and nothing else waits for them.
 */
export function statsOf(db: Db) {
  const TICKETS = `l.project_id = $1 AND ($4::text IS NULL OR l.channel_id = $4) AND ($5::uuid IS NULL OR l.agent_id = $5)`;
  const GROUPS = `grouping(l.channel_id) = 0 AS is_channel, grouping(l.agent_id) = 0 AS is_agent,
    grouping(l.point) = 0 AS is_point, l.point, l.channel_id, l.agent_id`;
  const GROUPING = "GROUP BY GROUPING SETS ((), (l.channel_id), (l.agent_id), (l.point))";
  const pointOf = (time: string) => `date_trunc($6::text, ${time}, $7::text) AS point`;

  // Each run of the stages for a message leaves one event, which says whether its answer was sent without a person; what
  // the pipeline does for a person's decision leaves others, which name it. A message that was worked on again, after it
  // had failed or was given back to the agent, has several: the last one counts. The narrow rows of ticket_list stand for
  // the tickets. An event belongs to the project that its ticket came in to, and its index leads to those of the span;
  // of tickets that came in elsewhere, their own indexes do.
  const RUN = "actor = 'pipeline' AND message_id IS NOT NULL AND NOT data ? 'review'";
  const COUNTED_EVENTS = `at >= $2 AND at < $3 AND (${RUN} OR data ->> 'decision' IN ('edit', 'approve'))`;
  const EVENT_FACTS = `id, ticket_id, at, data ->> 'decision' AS decision, CASE WHEN ${RUN} THEN message_id END AS run_of,
    CASE WHEN NOT (${RUN}) THEN id END AS decision_id, data #>> '{gate,sends}' AS sends,
    data #>> '{gate,rejects}' AS rejects`;
  const COUNT = `
    SELECT ${GROUPS},
      count(l.run_of) AS messages,
      count(l.run_of) FILTER (WHERE l.sends = 'true') AS automatic,
      count(l.run_of) FILTER (WHERE l.sends = 'false' AND l.rejects IS DISTINCT FROM 'true') AS handoffs,
      count(*) FILTER (WHERE l.run_of IS NULL AND l.decision = 'edit') AS edits,
      count(*) FILTER (WHERE l.run_of IS NULL AND l.decision = 'approve') AS approvals
    FROM (
      SELECT DISTINCT ON (e.run_of, e.decision_id) l.channel_id, l.agent_id, e.run_of, e.sends, e.rejects, e.decision,
        ${pointOf("e.at")}
      FROM (
        SELECT ${EVENT_FACTS} FROM ticket_events WHERE project_id = $1 AND ${COUNTED_EVENTS}
        UNION ALL
        SELECT ${EVENT_FACTS} FROM ticket_events
        WHERE ticket_id IN (SELECT ticket_id FROM ticket_list WHERE project_id = $1 AND foreign_chat_id IS NOT NULL)
          AND project_id <> $1 AND ${COUNTED_EVENTS}
      ) e JOIN ticket_list l ON l.ticket_id = e.ticket_id
      WHERE ${TICKETS}
      ORDER BY e.run_of, e.decision_id, e.id DESC
    ) l
    ${GROUPING}`;

  // Tickets that were begun in the span. From when the first message was accepted, so that what waits before the pipeline
  // counts as well.
  const TIMES = `
    SELECT ${GROUPS},
      percentile_disc(0.5) WITHIN GROUP (ORDER BY l.waited_ms) AS p50,
      percentile_disc(0.9) WITHIN GROUP (ORDER BY l.waited_ms) AS p90
    FROM (
      SELECT l.channel_id, l.agent_id, ${pointOf("coalesce(m.created_at, t.created_at)")},
        (extract(epoch FROM t.first_reply_at - coalesce(m.created_at, t.created_at)) * 1000)::bigint AS waited_ms
      FROM ticket_list l JOIN tickets t ON t.id = l.ticket_id AND t.first_reply_at IS NOT NULL
      LEFT JOIN LATERAL (SELECT created_at FROM messages WHERE ticket_id = t.id ORDER BY seq LIMIT 1) m ON true
      WHERE l.created_us >= (extract(epoch FROM $2::timestamptz) * 1000000)::bigint
        AND l.created_us < (extract(epoch FROM $3::timestamptz) * 1000000)::bigint AND ${TICKETS}
    ) l
    ${GROUPING}`;

  // The gaps that were asked for in the span, by how often that was.
  const TOP_UNANSWERED = `
    SELECT g.question, asked.count, asked.last_at
    FROM gaps g CROSS JOIN LATERAL (
      SELECT count(*) AS count, max(x.at) AS last_at FROM gap_examples x
      WHERE x.gap_id = g.id AND x.at >= $2 AND x.at < $3 AND ($4::text IS NULL AND $5::uuid IS NULL OR EXISTS (
        SELECT FROM ticket_list l WHERE l.ticket_id = x.ticket_id AND ${TICKETS}
      ))
    ) asked
    WHERE g.project_id = $1 AND g.last_at >= $2 AND g.status = 'open' AND asked.count > 0
    ORDER BY asked.count DESC, asked.last_at DESC LIMIT ${STATS_LIMITS.topUnanswered}`;

  // Calls of the span that the project has made, by model; of one channel or agent: those for its tickets.
  const MODELS = `
    SELECT c.model, count(c.fault) AS faults, ${MODEL_SUMS}
    FROM model_calls c
    WHERE c.project_id = $1 AND c.at >= $2 AND c.at < $3 AND ($4::text IS NULL AND $5::uuid IS NULL OR EXISTS (
      SELECT FROM ticket_list l WHERE l.ticket_id = c.ticket_id AND ${TICKETS}
    ))
    GROUP BY c.model ORDER BY calls DESC, c.model LIMIT ${STATS_LIMITS.modelsMaxCount}`;

  /**
   * Reads in one transaction and on one connection, in one state of the data. The database itself ends what takes too
   * long: whoever asked has been told then.
   */
  async function readInTime<Result>(work: (tx: Db) => Promise<Result>): Promise<Result> {
    try {
      return await db.transaction(async (tx) => {
        await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
        await tx.query(`SET LOCAL statement_timeout = '${STATEMENT_LIMIT_SECONDS}s'`);
        // A process reads one set of figures at a time, so that this much for sorts and joins is used once.
        await tx.query(`SET LOCAL work_mem = '${WORK_MEMORY}'`);
        return work(tx);
      });
    } catch (error) {
      const state = sqlStateOf(error);
      // A zone that is newer than the ones that the database knows.
      if (state === INVALID_PARAMETER_VALUE) {
        throw new ServiceError("invalid_request", "The database does not support this time zone.", { cause: error });
      }
      if (state !== QUERY_CANCELED) throw error;
      const text = `The statistics took longer than ${STATEMENT_LIMIT_SECONDS} s. Request a shorter period.`;
      throw new ServiceError("unavailable", text, { cause: error });
    }
  }

  return {
    /** The figures of a span of time. Rejects with unavailable, also when they take longer than 20 s. */
    async read(project: ProjectId, { from, to, channelId, agentId, timeZone }: StatsQuery): Promise<ProjectStats> {
      const values = [project, from, to, channelId ?? null, agentId ?? null];
      const unit = statsUnitOf(from, to);
      const byPoint = [...values, unit, timeZone];
      const { counts, times, points, unanswered, models } = await readInTime(async (tx) => ({
        counts: await tx.query<CountRow>(COUNT, byPoint),
        times: await tx.query<TimeRow>(TIMES, byPoint),
        points: await tx.query<{ at: Date }>(POINTS[unit], [from, to, timeZone]),
        unanswered: await tx.query<{ question: string; count: number; last_at: Date }>(TOP_UNANSWERED, values),
        models: await tx.query<ModelRow>(MODELS, values),
      }));
      const rows = new Map<string, CountRow & Partial<TimeRow>>();
      const none = { messages: 0, automatic: 0, handoffs: 0, edits: 0, approvals: 0 };
      for (const row of times) rows.set(keyOf(row), { ...none, ...row });
      for (const row of counts) rows.set(keyOf(row), { ...rows.get(keyOf(row)), ...row });
      const groups = [...rows.values()].toSorted((a, b) => b.messages - a.messages);
      const total = rows.get("");
      const byAgent = groups.filter((row) => row.is_agent).slice(0, STATS_LIMITS.agentsMaxCount);
      const names = await db.query<{ id: string; name: string }>(
        "SELECT id, name FROM agents WHERE project_id = $1 AND id = ANY ($2::uuid[])",
        [project, byAgent.flatMap((row) => row.agent_id ?? [])],
      );
      const nameOf = new Map(names.map(({ id, name }) => [id, name]));
      return {
        total: asCounts(total ?? none),
        series: { unit, points: points.map(({ at }) => ({ at, ...asCounts(rows.get(pointKey(at)) ?? none) })) },
        byChannel: groups.flatMap((row) =>
          row.channel_id === null ? [] : [{ channelId: row.channel_id, ...asCounts(row) }],
        ),
        byAgent: byAgent.map((row) => ({
          agentId: row.agent_id,
          name: nameOf.get(row.agent_id ?? "") ?? null,
          ...asCounts(row),
        })),
        topUnanswered: unanswered.map((row) => ({ question: row.question, count: row.count, lastAt: row.last_at })),
        models: models.map((row) => ({ model: row.model, faults: row.faults, ...asModelSums(row) })),
      };
    },

    /**
     * Returns what became of the agents' answers in a span of time. Rejects with unavailable, also if it takes longer than
     * 20 s.
     */
    readAnswers: (project: ProjectId, query: StatsQuery): Promise<AgentAnswerStats[]> =>
      readInTime((tx) => readAnswerStats(tx, project, query)),

    /** How the queues of a project are now. Rejects with unavailable, also when that takes longer than 20 s. */
    readQueues: (project: ProjectId): Promise<QueueState[]> =>
      readInTime(async (tx) => {
        const states: QueueState[] = [];
        for (const queue of WORK_QUEUES) {
          const [row] = await tx.query<{ waiting: number; oldest: Date | null; failed: number }>(QUEUES[queue], [
            project,
          ]);
          states.push({
            queue,
            waiting: row?.waiting ?? 0,
            oldestDueAt: row?.oldest ?? null,
            failed: row?.failed ?? 0,
          });
        }
        return states;
      }),
  };
}

function asCounts(row: Omit<CountRow, keyof GroupRow> & Partial<TimeRow>): StatsCounts {
  return {
    messages: row.messages,
    automatic: row.automatic,
    handoffs: row.handoffs,
    edits: row.edits,
    approvals: row.approvals,
    firstReplyMs: { p50: row.p50 ?? null, p90: row.p90 ?? null },
  };
}
