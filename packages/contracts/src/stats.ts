import { z } from "zod";
import { channelIdSchema } from "./incoming-message.ts";
import { modelUsageSchema } from "./model-usage.ts";
import { timeParameter } from "./time-parameter.ts";

/** Bounds of statistics. */
export const STATS_LIMITS = {
  /** Days that can be asked for at once, and where nothing is said. */
  maxDays: 366,
  defaultDays: 30,
  /** Days that are told hour by hour, and day by day, at most. */
  hoursMaxDays: 3,
  daysMaxDays: 100,
  /** Questions that are told at most. */
  topUnanswered: 10,
  /** Agents that are told at most, those with the most messages. */
  agentsMaxCount: 100,
  /** Language models that are told at most, those with the most calls. */
  modelsMaxCount: 100,
} as const;

const counts = {
  messages: z.int().describe("Messages of customers that were worked on."),
  automatic: z.int().describe("Those of them that were answered without a person."),
  handoffs: z.int().describe("Those of them that a person had to look at."),
  edits: z.int().describe("Drafts that an operator changed before they were sent."),
  approvals: z.int().describe("Drafts that an operator sent as they were."),
  firstReplyMs: z
    .object({ p50: z.int().nullable(), p90: z.int().nullable() })
    .describe("From the first message of a ticket to its first reply by an agent or an operator; null without any."),
};

/** What a span of time is divided into: hours up to 3 days, days up to 100 days, then weeks, which begin on Monday. */
export const STATS_UNITS = ["hour", "day", "week"] as const;
export type StatsUnit = (typeof STATS_UNITS)[number];

/** How a project fared in a span of time. */
export const statsSchema = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  ...counts,
  series: z
    .object({ unit: z.enum(STATS_UNITS), points: z.array(z.object({ at: z.iso.datetime(), ...counts })) })
    .describe(
      "The same figures for each hour, day or week, by when it began in the time zone, those with nothing too.",
    ),
  byChannel: z.array(z.object({ channelId: channelIdSchema, ...counts })),
  byAgent: z
    .array(z.object({ agentId: z.string().nullable(), name: z.string().nullable(), ...counts }))
    .describe("By the agent that has the ticket; null where none has. The name is null where it was deleted."),
  topUnanswered: z.array(z.object({ question: z.string(), count: z.int(), lastAt: z.iso.datetime() })),
  models: z
    .array(
      z.object({
        model: z.string().describe("Its id in the catalogue."),
        faults: z.int().describe("Calls that gave no usable answer."),
        ...modelUsageSchema.shape,
      }),
    )
    .describe("Calls of language models that this project made."),
  storage: z
    .object({
      usedBytes: z.int().describe("Bytes of files, documents, kept hook bodies and texts of messages."),
      maxBytes: z.int(),
      usedShare: z
        .number()
        .describe("The part of the fullest limit of the project that is used; a warning from 0.8 on."),
    })
    .describe("What the project stores now, whatever the span of time."),
});
export type Stats = z.infer<typeof statsSchema>;

/** What statistics can be asked for. */
export interface StatsInput {
  /** From this time on; 30 days before `to` where absent. */
  from?: string | undefined;
  /** Before this time; now where absent. */
  to?: string | undefined;
  channelId?: string | undefined;
  agentId?: string | undefined;
  /** Where days begin, as in Europe/Berlin; UTC where absent. */
  timeZone?: string | undefined;
}

/** True for a time zone by its name, as in Europe/Berlin; what the database would take besides is none. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // A RangeError: nobody knows it.
    return false;
  }
}

/** The unit in which a span of time is told: about a hundred of it at most. */
export function statsUnitOf(from: Date, to: Date): StatsUnit {
  const days = (to.getTime() - from.getTime()) / MS_PER_DAY;
  return days <= STATS_LIMITS.hoursMaxDays ? "hour" : days <= STATS_LIMITS.daysMaxDays ? "day" : "week";
}

const MS_PER_DAY = 86_400_000;

/** What is asked of the statistics, as `StatsInput` has it, with both times. `now` is where nothing is said. */
export function statsInputSchema(now: Date) {
  return z
    .object({
      from: timeParameter.optional(),
      to: timeParameter.optional(),
      channelId: z.enum(channelIdSchema.options, { error: `one of ${channelIdSchema.options.join(", ")}` }).optional(),
      agentId: z.uuid({ error: "the id of an agent" }).optional(),
      timeZone: z.string().max(64).refine(isTimeZone, { error: "a time zone, as in Europe/Berlin" }).default("UTC"),
    })
    .transform(({ to = now, from = new Date(to.getTime() - STATS_LIMITS.defaultDays * MS_PER_DAY), ...rest }) => ({
      from,
      to,
      ...rest,
    }))
    .refine(({ from, to }) => from < to, { path: ["from"], error: "a time before the end" })
    .refine(({ from, to }) => to.getTime() - from.getTime() <= STATS_LIMITS.maxDays * MS_PER_DAY, {
      path: ["from"],
      error: `at most ${STATS_LIMITS.maxDays} days before the end`,
    });
}
export type StatsQuery = z.output<ReturnType<typeof statsInputSchema>>;
