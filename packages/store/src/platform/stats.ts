import { sqlStateOf } from "../db.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { MODEL_SUMS } from "./models.ts";
import type { ModelSums } from "./models.ts";
import {
  ISSUE_CHAT_PREFIX,
  QUEUE_COUNT_MAX,
  STATS_LIMITS,
  ServiceError,
  WORK_QUEUES,
  statsUnitOf,
  sumAnswerCounts,
} from "@svc/contracts";
import type { AnswerCounts, ChannelId, ReviewPolicy, StatsQuery, StatsUnit, WorkQueue } from "@svc/contracts";

/**
 * Effect of a ticket event on an agent's answer: it was sent or held, a person decided on it, the customer asked for a
 * person or gave a bad rating.
 */
export type AnswerStep = "sent" | "held" | "approve" | "edit" | "reject" | "person" | "badRating";

/** The highest score of a visitor that counts as a bad rating, from 1 to 5. */
export const BAD_RATING_MAX_SCORE = 2;

/** Outcomes of an agent's answers, in total and by confidence. */
export interface AgentAnswerStats extends AnswerCounts {
  agentId: string;
  /** Null if the agent was deleted, as the two below. */
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

/** Returns the outcomes of the agents' answers in a span of time, the agent with the most answers first. */
export async function readAnswerStats(
  tx: Db,
  project: ProjectId,
  { from, to, channelId, agentId }: Omit<StatsQuery, "timeZone">,
): Promise<AgentAnswerStats[]> {
  const rows = await sql.buckets.all<BucketRow>(tx, { project, from, to, channelId, agentId });
  const byAgent = new Map<string, AgentAnswerStats["byConfidence"]>();
  for (const { agentId: id, ...bucket } of rows) byAgent.set(id, [...(byAgent.get(id) ?? []), bucket]);
  const agents = await sql.listAnsweringAgents.all<AgentRow>(tx, { project, ids: [...byAgent.keys()] });
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

/** Statistics of a project, a channel or an agent. */
export interface StatsCounts {
  messages: number;
  automatic: number;
  handoffs: number;
  edits: number;
  approvals: number;
  /** Milliseconds from the first message of a ticket to its first reply; null without any. */
  firstReplyMs: { p50: number | null; p90: number | null };
}

/** Statistics of a project in a span of time. */
export interface ProjectStats {
  total: StatsCounts;
  /** For each unit of the span in order, including empty ones. */
  series: { unit: StatsUnit; points: ({ at: Date } & StatsCounts)[] };
  byChannel: ({ channelId: ChannelId } & StatsCounts)[];
  byAgent: ({ agentId: string | null; name: string | null } & StatsCounts)[];
  topUnanswered: { question: string; count: number; lastAt: Date }[];
  models: ({ model: string; faults: number } & ModelSums)[];
}

/** Waiting and failed items in a queue of a project. */
export interface QueueState {
  queue: WorkQueue;
  /** Counted up to QUEUE_COUNT_MAX, as is `failed`. */
  waiting: number;
  oldestDueAt: Date | null;
  failed: number;
}

interface GroupRow {
  isChannel: boolean;
  isAgent: boolean;
  isPoint: boolean;
  point: Date | null;
  channelId: ChannelId | null;
  agentId: string | null;
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

/** Returns the group of a row of grouping sets. */
const keyOf = (row: GroupRow) =>
  row.isChannel
    ? `channel ${row.channelId}`
    : row.isAgent
      ? `agent ${row.agentId}`
      : row.isPoint
        ? pointKey(row.point)
        : "";
const pointKey = (at: Date | null) => `point ${at?.getTime()}`;

const STATEMENT_LIMIT_SECONDS = 20;
const QUERY_CANCELED = "57014";
const INVALID_PARAMETER_VALUE = "22023";

/** Returns the start times of the units of a span. */
export const listPoints = (tx: Db, unit: StatsUnit, span: { from: Date; to: Date; timeZone: string }) =>
  sql[POINTS[unit]].all(tx, span);

/** The statement for the start times of each unit. */
const POINTS = { hour: "hours", day: "days", week: "weeks" } as const satisfies Record<StatsUnit, string>;

/**
 * Reads in one transaction with one snapshot. The database cancels statements that take too long: the caller has
 * received an error by then.
 */
export async function readInTime<Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  try {
    return await db.transaction(async (tx) => {
      await sql.setSnapshot.run(tx);
      await sql.setTimeout.run(tx);
      await sql.setMemory.run(tx);
      return work(tx);
    });
  } catch (error) {
    const state = sqlStateOf(error);
    // A time zone that the database does not know yet.
    if (state === INVALID_PARAMETER_VALUE) {
      throw new ServiceError("invalid_request", "The database does not support this time zone.", { cause: error });
    }
    if (state !== QUERY_CANCELED) throw error;
    const text = `The statistics took longer than ${STATEMENT_LIMIT_SECONDS} s. Request a shorter period.`;
    throw new ServiceError("unavailable", text, { cause: error });
  }
}

/** Returns the statistics of a span of time. Rejects with unavailable, also if it takes longer than 20 s. */
export async function read(
  db: Db,
  project: ProjectId,
  { from, to, channelId, agentId, timeZone }: StatsQuery,
): Promise<ProjectStats> {
  const values = { project, from, to, channelId, agentId };
  const unit = statsUnitOf(from, to);
  const { counts, times, points, unanswered, models } = await readInTime(db, async (tx) => ({
    counts: await sql.count.all<CountRow>(tx, { ...values, unit, timeZone }),
    times: await sql.times.all<TimeRow>(tx, { ...values, unit, timeZone }),
    points: await listPoints(tx, unit, { from, to, timeZone }),
    unanswered: await sql.topUnanswered.all(tx, values),
    models: await sql.models.all<ProjectStats["models"][number]>(tx, values),
  }));
  const rows = new Map<string, CountRow & Partial<TimeRow>>();
  const none = { messages: 0, automatic: 0, handoffs: 0, edits: 0, approvals: 0 };
  for (const row of times) rows.set(keyOf(row), { ...none, ...row });
  for (const row of counts) rows.set(keyOf(row), { ...rows.get(keyOf(row)), ...row });
  const groups = [...rows.values()].toSorted((a, b) => b.messages - a.messages);
  const total = rows.get("");
  const byAgent = groups.filter((row) => row.isAgent).slice(0, STATS_LIMITS.agentsMaxCount);
  const names = await sql.listAgents.all(db, {
    project,
    ids: byAgent.flatMap((row) => row.agentId ?? []),
  });
  const nameOf = new Map(names.map(({ id, name }) => [id, name]));
  return {
    total: asCounts(total ?? none),
    series: { unit, points: points.map(({ at }) => ({ at, ...asCounts(rows.get(pointKey(at)) ?? none) })) },
    byChannel: groups.flatMap((row) =>
      row.channelId === null ? [] : [{ channelId: row.channelId, ...asCounts(row) }],
    ),
    byAgent: byAgent.map((row) => ({
      agentId: row.agentId,
      name: nameOf.get(row.agentId ?? "") ?? null,
      ...asCounts(row),
    })),
    topUnanswered: unanswered,
    models,
  };
}

/**
 * Returns the outcomes of the agents' answers in a span of time. Rejects with unavailable, also if it takes longer than
 * 20 s.
 */
export const readAnswers = (db: Db, project: ProjectId, query: StatsQuery): Promise<AgentAnswerStats[]> =>
  readInTime(db, (tx) => readAnswerStats(tx, project, query));

/**
 * Returns the current state of the queues of a project. Rejects with unavailable, also if it takes longer than 20 s.
 */
export const readQueues = (db: Db, project: ProjectId): Promise<QueueState[]> =>
  readInTime(db, async (tx) => {
    const states: QueueState[] = [];
    for (const queue of WORK_QUEUES) {
      const row = await sql[queue].one<{ waiting: number; oldest: Date | null; failed: number }>(tx, { project });
      states.push({
        queue,
        waiting: row?.waiting ?? 0,
        oldestDueAt: row?.oldest ?? null,
        failed: row?.failed ?? 0,
      });
    }
    return states;
  });

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

/** Queues whose depth is measured, over all projects. */
export const DEPTH_QUEUES = [
  "messages",
  "issues",
  "decisions",
  "replies",
  "callbacks",
  "documents",
  "messenger_updates",
  "model_pulls",
] as const;
export type DepthQueue = (typeof DEPTH_QUEUES)[number];

/** Current state of a queue of the installation. */
export interface QueueDepth {
  queue: DepthQueue;
  /** Number of unfinished items, including running and postponed ones. */
  waiting: number;
  /** Number of these that are due or running. */
  due: number;
  /** Time since the oldest due item became due, in seconds; 0 if none is due. */
  oldestDueAgeS: number;
  /** Dead letters; null if a queue has none, or no index to count them. */
  dead: number | null;
}

/**
 * Maximum of rows that are read per queue: longer ones are reported with this length, and their age is a lower bound.
 */
const READ_MAX = 100_000;

/** Sums up waiting rows by the time at which they become due: `at`. */
const waits = (queue: DepthQueue, rows: string) => `
  SELECT '${queue}' AS queue, count(*)::int AS waiting, (count(*) FILTER (WHERE at <= now()))::int AS due,
    coalesce(extract(epoch FROM now() - min(at) FILTER (WHERE at <= now())), 0)::float8 AS oldest_due_age_s
  FROM (${rows} LIMIT ${READ_MAX}) ${queue}`;

const countOf = (rows: string) => `(SELECT count(*)::int FROM (SELECT 1 FROM ${rows} LIMIT ${READ_MAX}) dead)`;

const sql = statements("platform/stats", {
  statementLimitSeconds: STATEMENT_LIMIT_SECONDS,
  queueMaxCount: QUEUE_COUNT_MAX,
  topUnanswered: STATS_LIMITS.topUnanswered,
  modelsMaxCount: STATS_LIMITS.modelsMaxCount,
  modelSums: MODEL_SUMS,
  lookMax: READ_MAX,
  waits: waits("messages", "SELECT at FROM received WHERE NOT is_issue"),
  waits2: waits("issues", "SELECT at FROM received WHERE is_issue"),
  waits3: waits("decisions", "SELECT greatest(created_at, not_before) AS at FROM reviews WHERE finished_at IS NULL"),
  waits4: waits("replies", "SELECT next_at AS at FROM outboxes WHERE settled_seq < wanted_seq"),
  waits5: waits("callbacks", "SELECT greatest(created_at, next_at) AS at FROM deliveries WHERE state = 'pending'"),
  waits6: waits("documents", "SELECT greatest(created_at, next_at) AS at FROM ingests"),
  waits7: waits(
    "messenger_updates",
    "SELECT greatest(received_at, next_at) AS at FROM messenger_updates WHERE state = 'waiting'",
  ),
  waits8: waits("model_pulls", "SELECT greatest(started_at, next_at) AS at FROM model_pulls WHERE state = 'running'"),
  countOf: countOf("messages WHERE state = 'failed' AND covered_by IS NULL"),
  countOf2: countOf("replies WHERE is_dead"),
  countOf3: countOf("deliveries WHERE state = 'dead'"),
  countOf4: countOf("messenger_updates WHERE state = 'dead'"),
});

/** Returns the state of every queue, in one statement. */
export const readDepths = (db: Db) => sql.depths.all<QueueDepth>(db, { issueChatPrefix: ISSUE_CHAT_PREFIX });
