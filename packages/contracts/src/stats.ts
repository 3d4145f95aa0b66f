import { z } from "zod";
import { channelIdSchema } from "./incoming-message.ts";
import { modelUsageSchema } from "./model-usage.ts";
import { timeParameter } from "./time-parameter.ts";

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

/** Input of a query for statistics. */
export interface StatsInput {
  /** Start, inclusive. Defaults to 30 days before `to`. */
  from?: string | undefined;
  /** End, exclusive. Defaults to now. */
  to?: string | undefined;
  channelId?: string | undefined;
  agentId?: string | undefined;
  /** Time zone of the days, as in Europe/Berlin. Defaults to UTC. */
  timeZone?: string | undefined;
}

/**
 * Returns true for the name of a time zone, as in Europe/Berlin. Other forms that the database accepts are rejected.
 */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // A RangeError: nobody knows it.
    return false;
  }
}

/** Returns the interval for a period, so that there are approximately a hundred intervals at most. */
export function statsUnitOf(from: Date, to: Date): StatsUnit {
  const days = (to.getTime() - from.getTime()) / MS_PER_DAY;
  return days <= STATS_LIMITS.hoursMaxDays ? "hour" : days <= STATS_LIMITS.daysMaxDays ? "day" : "week";
}

const MS_PER_DAY = 86_400_000;

/** Returns the schema of a query for statistics, see `StatsInput`, with both times set. `now` is the default end. */
export function statsInputSchema(now: Date) {
  return z
    .object({
      from: timeParameter.optional(),
      to: timeParameter.optional(),
      channelId: z
        .enum(channelIdSchema.options, { error: `must be one of ${channelIdSchema.options.join(", ")}` })
        .optional(),
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
export type StatsQuery = z.output<ReturnType<typeof statsInputSchema>>;
