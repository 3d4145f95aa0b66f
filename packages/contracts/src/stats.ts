import { z } from "zod";
import { reviewPolicySchema } from "./agent.ts";
import { routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { channelIdSchema } from "./message-request.ts";
import { modelUsageSchema } from "./model.ts";
import { timeParameter } from "./list-query.ts";

/** Limits of statistics. */
export const STATS_LIMITS = {
  /** Maximum and default number of days of a query. */
  maxDays: 366,
  defaultDays: 30,
  /** Maximum number of days with hourly and with daily figures. */
  hoursMaxDays: 3,
  daysMaxDays: 100,
  /** Maximum number of returned questions. */
  topUnanswered: 10,
  /** Maximum number of returned agents, those with the most messages. */
  agentsMaxCount: 100,
  /** Maximum number of returned language models, those with the most calls. */
  modelsMaxCount: 100,
} as const;

const counts = {
  messages: z.int().describe("Customer messages that were processed."),
  automatic: z.int().describe("Messages answered without an operator."),
  handoffs: z.int().describe("Messages that needed an operator."),
  edits: z.int().describe("Drafts that an operator edited before sending."),
  approvals: z.int().describe("Drafts that an operator sent unchanged."),
  firstReplyMs: z
    .object({ p50: z.int().nullable(), p90: z.int().nullable() })
    .describe("Time from a ticket's first message to its first reply from an agent or an operator. Null without data."),
};

/** Intervals of a period: hours up to 3 days, days up to 100 days, otherwise weeks starting on Monday. */
export const STATS_UNITS = ["hour", "day", "week"] as const;
export type StatsUnit = (typeof STATS_UNITS)[number];

/** Statistics of a project in a period. */
export const statsSchema = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  ...counts,
  series: z
    .object({ unit: z.enum(STATS_UNITS), points: z.array(z.object({ at: z.iso.datetime(), ...counts })) })
    .describe("The same figures for each hour, day or week, by its start in the time zone, including empty ones."),
  byChannel: z.array(z.object({ channelId: channelIdSchema, ...counts })),
  byAgent: z
    .array(z.object({ agentId: z.string().nullable(), name: z.string().nullable(), ...counts }))
    .describe("By the ticket's agent; null if there is none. The name is null if the agent was deleted."),
  topUnanswered: z.array(z.object({ question: z.string(), count: z.int(), lastAt: z.iso.datetime() })),
  models: z
    .array(
      z.object({
        model: z.string().describe("Catalog ID of the model."),
        faults: z.int().describe("Calls without a usable answer."),
        ...modelUsageSchema.shape,
      }),
    )
    .describe("Calls of this project to language models."),
  ratings: z
    .object({ count: z.int(), bad: z.int().describe("Ratings of 1 or 2 of 5.") })
    .describe("Ratings of visitors in the period."),
  breaches: z
    .object({ firstReply: z.int(), nextReply: z.int(), resolution: z.int() })
    .describe("Breaches of the SLA targets in the period, by kind."),
  storage: z
    .object({
      usedBytes: z.int().describe("Bytes of files, documents, stored hook bodies and message texts."),
      maxBytes: z.int(),
      usedShare: z
        .number()
        .describe("Usage of the fullest storage limit of the project, from 0 to 1. A warning is shown from 0.8."),
    })
    .describe("Current storage of the project, independent of the period."),
});
export type Stats = z.infer<typeof statsSchema>;

/**
 * Returns true for the name of a time zone, as in Europe/Berlin. Other forms that the database accepts are rejected.
 */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // A RangeError indicates an unknown time zone.
    return false;
  }
}

/** Returns the interval for a period, so that there are approximately a hundred intervals at most. */
export function statsUnitOf(from: Date, to: Date): StatsUnit {
  const days = (to.getTime() - from.getTime()) / MS_PER_DAY;
  return days <= STATS_LIMITS.hoursMaxDays ? "hour" : days <= STATS_LIMITS.daysMaxDays ? "day" : "week";
}

const MS_PER_DAY = 86_400_000;

/** Returns the schema of a query for statistics, with both times set. `now` is the default end. */
export function statsInputSchema(now: Date) {
  return z
    .object({
      from: timeParameter.optional(),
      to: timeParameter.optional(),
      channelId: z.enum(channelIdSchema.options).optional(),
      agentId: z.uuid({ error: "must be the ID of an agent" }).optional(),
      timeZone: z
        .string()
        .max(64)
        .refine(isTimeZone, { error: "must be a time zone, such as Europe/Berlin" })
        .default("UTC"),
    })
    .transform(({ to = now, from = new Date(to.getTime() - STATS_LIMITS.defaultDays * MS_PER_DAY), ...rest }) => ({
      from,
      to,
      ...rest,
    }))
    .refine(({ from, to }) => from < to, { path: ["from"], error: "must be earlier than the end" })
    .refine(({ from, to }) => to.getTime() - from.getTime() <= STATS_LIMITS.maxDays * MS_PER_DAY, {
      path: ["from"],
      error: `must be at most ${STATS_LIMITS.maxDays} days before the end`,
    });
}
export type StatsInput = z.input<ReturnType<typeof statsInputSchema>>;
export type StatsQuery = z.output<ReturnType<typeof statsInputSchema>>;

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

/** Background queues, in the order in which a message passes them. */
export const WORK_QUEUES = ["messages", "replies", "callbacks", "documents"] as const;
export type WorkQueue = (typeof WORK_QUEUES)[number];

/** Maximum number of rows that are counted per queue. */
export const QUEUE_COUNT_MAX = 10_000;

/** State of a project's queue. */
export const queueHealthSchema = z.object({
  queue: z.enum(WORK_QUEUES),
  waiting: z
    .int()
    .describe(`Number of unfinished jobs, including running ones; ${QUEUE_COUNT_MAX} means that many or more.`),
  oldestDueAt: z.iso.datetime().nullable().describe("Since when the oldest job has been due. Null if none is due."),
  failed: z.int().describe("Number of failed jobs, whether or not they can be retried."),
});
export type QueueHealth = z.infer<typeof queueHealthSchema>;

const SPAN_QUERY = {
  from: z.string().optional().describe("Start of the period, inclusive: RFC 3339, or a date (UTC)."),
  to: z.string().optional().describe("End of the period, exclusive. Defaults to now."),
  channelId: channelIdSchema.optional(),
};

const route = routesAt("Statistics", "/api/v1/admin");

/** Statistics. */
export const statsEndpoints = {
  getStats: {
    ...route("GET /stats", "tickets:read", "Get message and answer statistics"),
    description: "Defaults to the last 30 days. At most 366 days.",
    query: z.object({
      ...SPAN_QUERY,
      agentId: z.string().optional().describe("Only tickets of this agent."),
      timeZone: z
        .string()
        .optional()
        .describe("Time zone for the days of `series`, as in Europe/Berlin. Defaults to UTC."),
    }),
    answers: [
      { status: 200, when: "The statistics.", schema: z.object({ ok: z.literal(true) }).extend(statsSchema.shape) },
    ],
    example: { query: { channelId: "api" } },
  },
  getAnswerStats: {
    ...route("GET /stats/answers", "tickets:read", "Get outcomes of the agents' answers"),
    description:
      "Counts of answers that were sent, accepted, edited or rejected, and after which the customer asked for a person or " +
      "gave a negative rating, by agent and confidence. Shows how many answers a different threshold would have sent. Defaults " +
      "to the last 30 days, at most 366 days. Counts only answers with sources or from a language model.",
    query: z.object({
      ...SPAN_QUERY,
      agentId: z.string().optional().describe("Only answers of this agent."),
    }),
    answers: [
      { status: 200, when: "The counts.", schema: z.object({ ok: z.literal(true) }).extend(answerStatsSchema.shape) },
    ],
    example: { query: { channelId: "widget" } },
  },
  getQueues: {
    ...route("GET /queues", "tickets:read", "Get the state of the queues"),
    description: "Returns how many jobs of the project are waiting, since when, and how many have failed.",
    answers: [
      {
        status: 200,
        when: "One item per queue.",
        schema: z.object({ ok: z.literal(true), items: z.array(queueHealthSchema) }),
      },
    ],
    example: {},
  },
} as const satisfies Record<string, Endpoint>;
