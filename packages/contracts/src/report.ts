import { z } from "zod";
import { routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { channelIdSchema } from "./message-request.ts";
import { projectNameSchema } from "./project.ts";
import { STATS_UNITS, answerCountsSchema } from "./stats.ts";

/** Limits of reports. */
export const REPORT_LIMITS = {
  /** Maximum number of ratings in a report, and in the file of the table `ratings`: the newest. */
  ratings: 50,
  ratingsFile: 10_000,
  /** Days before the period from which business time counts: a longer wait counts as this long. */
  businessTimeDays: 366,
} as const;

const count = (text: string) => z.int().describe(text);
const timeMs = (text: string) =>
  z.int().nullable().describe(`${text}, in milliseconds of business time. Null without data.`);

/** Figures of a report: one row of its tables. */
export const reportFiguresSchema = z.object({
  conversations: count("Conversations that began in the period."),
  messages: count("Customer messages that were processed."),
  automatic: count("Messages answered without an operator."),
  handoffs: count("Messages that needed an operator."),
  selfService: count(
    "Conversations that began in the period, in which an agent replied and no person had to take part so far.",
  ),
  resolved: count("Tickets that were resolved in the period and have not been reopened."),
  replies: count("Replies that operators wrote, edited or approved."),
  approvals: count("Drafts that an operator sent unchanged."),
  edits: count("Drafts that an operator edited before sending."),
  rejections: count("Drafts that an operator dismissed or replaced with a different reply."),
  firstReplyP50Ms: timeMs("Median time from the first message of a conversation to its first reply, also by an agent"),
  firstReplyP90Ms: timeMs("90th percentile of the same time"),
  teamReplyP50Ms: timeMs("Median time from the first message that waited for a person to that person's reply"),
  teamReplyP90Ms: timeMs("90th percentile of the same time"),
  resolutionP50Ms: timeMs("Median time from the first message of a ticket to its resolution"),
  resolutionP90Ms: timeMs("90th percentile of the same time"),
  ratings: count("Ratings of visitors, one for each conversation."),
  goodRatings: count("Ratings of 4 or 5 of 5."),
  badRatings: count("Ratings of 1 or 2 of 5."),
  firstReplyBreaches: count("Breaches of the SLA target for the first reply."),
  nextReplyBreaches: count("Breaches of the SLA target for a later reply."),
  resolutionBreaches: count("Breaches of the SLA target for the resolution."),
});
export type ReportFigures = z.infer<typeof reportFiguresSchema>;
export type ReportFigure = keyof ReportFigures;

/** Names of the figures, in the order of columns. */
export const REPORT_FIGURES = Object.keys(reportFiguresSchema.shape) as ReportFigure[];

/** Ways in which a report groups its figures. */
export const REPORT_GROUPS = ["time", "hours", "weekdays", "channels", "agents", "operators"] as const;
export type ReportGroup = (typeof REPORT_GROUPS)[number];

/** Ages of the backlog: each row has the tickets that have waited less than this many hours, and no less than the one before. */
export const BACKLOG_HOURS = [1, 4, 24, 72, 168, null] as const;

const reportRowSchema = z.object({
  key: z
    .string()
    .nullable()
    .describe(
      "What the row is about: a time, an hour (0 to 23), a weekday (1 for Monday to 7), a channel, or the ID of an agent or an actor such as `operator:…`. Null for conversations without an agent.",
    ),
  name: z.string().nullable().describe("Name of the agent or person. Null for other rows and if it was deleted."),
  ...reportFiguresSchema.shape,
  previous: reportFiguresSchema.describe("The same figures in the period before."),
});
export type ReportRow = z.infer<typeof reportRowSchema>;

const backlogRowSchema = z.object({
  upToHours: z
    .int()
    .nullable()
    .describe("Tickets that have waited less than this many hours. Null for all longer waits."),
  tickets: count("Tickets that wait for a person."),
  unassigned: count("Those of them that nobody is assigned to."),
  snoozed: count("Those of them that are snoozed."),
});
export type BacklogRow = z.infer<typeof backlogRowSchema>;

const ratingSchema = z.object({
  ticketId: z.uuid(),
  at: z.iso.datetime(),
  score: z.int().min(1).max(5),
  comment: z.string().nullable(),
  channelId: channelIdSchema,
  agentId: z.string().nullable(),
  agentName: z.string().nullable(),
  operator: z
    .string()
    .nullable()
    .describe("Who replied last before the rating, such as `operator:…`. Null for nobody."),
  operatorName: z.string().nullable(),
});
export type ReportRating = z.infer<typeof ratingSchema>;

const draftRowSchema = z.object({
  key: z.string().describe("ID of the agent."),
  name: z.string().nullable().describe("Null if the agent was deleted."),
  ...answerCountsSchema.shape,
  previous: answerCountsSchema.describe("The same counts in the period before."),
});
export type ReportDraftRow = z.infer<typeof draftRowSchema>;

const period = z.object({ from: z.iso.datetime(), to: z.iso.datetime() });

/** Figures of a project in a period and in the period of the same length before it. */
export const reportSchema = z.object({
  ...period.shape,
  previous: period.describe("The period before, of the same length."),
  timeZone: z.string().describe("Time zone of days, hours and weekdays."),
  isBusinessTime: z.boolean().describe("True if times count business hours only, because the project has some."),
  unit: z.enum(STATS_UNITS).describe("Interval of the rows of `time`."),
  total: z.object({ ...reportFiguresSchema.shape, previous: reportFiguresSchema }),
  time: z.array(reportRowSchema).describe("By hour, day or week, including empty ones; `previous` by position."),
  hours: z.array(reportRowSchema).describe("By hour of the day, from 0 to 23."),
  weekdays: z.array(reportRowSchema).describe("By day of the week, Monday first."),
  channels: z.array(reportRowSchema),
  agents: z.array(reportRowSchema).describe("By the ticket's agent. At most 100."),
  operators: z
    .array(reportRowSchema)
    .describe(
      "By person: replies, first replies, resolutions and ratings of the conversations in which the person replied last, and breaches of assigned tickets. At most 100.",
    ),
  drafts: z.array(draftRowSchema).describe("Outcomes of answers by agent."),
  backlog: z.array(backlogRowSchema).describe("Tickets that wait for a person now, by age, independent of the period."),
  comments: z.array(ratingSchema).describe(`Newest ratings with a comment, at most ${REPORT_LIMITS.ratings}.`),
});
export type Report = z.infer<typeof reportSchema>;

/** Tables of a report that can be exported. */
export const REPORT_TABLES = [
  "total",
  ...REPORT_GROUPS,
  "drafts",
  "backlog",
  "ratings",
  "questions",
  "models",
] as const;
export const reportTableSchema = z.enum(REPORT_TABLES);
export type ReportTable = z.infer<typeof reportTableSchema>;

const query = z.object({
  from: z.string().optional().describe("Start of the period, inclusive: RFC 3339, or a date (UTC)."),
  to: z.string().optional().describe("End of the period, exclusive. Defaults to now."),
  channelId: channelIdSchema.optional(),
  agentId: z.string().optional().describe("Only tickets of this agent."),
  timeZone: z
    .string()
    .optional()
    .describe("Time zone, as in Europe/Berlin. Defaults to that of the project's business hours, otherwise UTC."),
});

const route = routesAt("Statistics", "/api/v1/admin/stats/report");

const csvAnswer = {
  status: 200,
  when: "The rows as CSV (RFC 4180), with a header.",
  schema: null,
  mediaType: "text/csv",
  headers: { "Content-Disposition": "`attachment`, with the file name." },
} as const;

/** Reports. */
export const reportEndpoints = {
  getReport: {
    ...route("GET", "tickets:read", "Get a report with the period before"),
    description:
      "Ratings, reply and resolution times in business time, volume, self-service, SLA breaches and figures by person, " +
      "each with the period before. Defaults to the last 30 days, at most 366 days.",
    query,
    answers: [
      { status: 200, when: "The report.", schema: z.object({ ok: z.literal(true) }).extend(reportSchema.shape) },
    ],
    example: { query: { channelId: "widget" } },
  },
  exportReport: {
    ...route("GET /csv", "tickets:read", "Get a table of a report as CSV"),
    description:
      "A table of the report as a file; columns that end with `.previous` are of the period before. Cells that a spreadsheet " +
      "would take for a formula begin with an apostrophe. The file is UTF-8 and begins with a byte order mark, by which Excel " +
      "recognizes it. `ratings` are the newest 10,000, with and without comments.",
    query: query.extend({ table: reportTableSchema.describe("Table to export.") }),
    answers: [csvAnswer],
    example: { query: { table: "agents" } },
  },
} as const satisfies Record<string, Endpoint>;

/** Limits of a report of usage. */
export const USAGE_LIMITS = {
  /** Default number of days, today included. */
  defaultDays: 30,
  maxDays: 366,
  /** Maximum number of rows, one for each project and day. */
  maxRows: 50_000,
} as const;

/** Usage of a project on one day. */
export const usageDaySchema = z.object({
  day: z.iso.date().describe("Day (UTC)."),
  project: z.string(),
  projectId: z.uuid(),
  messages: z
    .int()
    .describe("Messages that were accepted. A repeated request counts once; deleting a message changes nothing."),
  documents: z.int().describe("Documents that were added. Updates of a document do not count."),
  storedBytes: z.int().describe("Stored content at the end of the day, or now for today."),
  sockets: z.int().describe("Maximum widget sockets that were open at the same time, measured every two seconds."),
  modelTokens: z.int().describe("Tokens of language models, input and output together."),
});
export type UsageDay = z.infer<typeof usageDaySchema>;

const date = z.iso.date({ error: "must be a date such as 2026-11-21" });

/** Query of a report of usage, with its period filled in. */
export const usageInputSchema = (now: Date) =>
  z
    .strictObject({ from: date.optional(), to: date.optional(), project: projectNameSchema.optional() })
    .transform(({ to = now.toISOString().slice(0, 10), project, ...given }) => {
      const start = Date.parse(to) - (USAGE_LIMITS.defaultDays - 1) * 86_400_000;
      return { from: given.from ?? new Date(start).toISOString().slice(0, 10), to, project };
    })
    .refine(({ from, to }) => from <= to, { path: ["from"], error: "must not be after `to`" })
    .refine(({ from, to }) => Date.parse(to) - Date.parse(from) < USAGE_LIMITS.maxDays * 86_400_000, {
      path: ["from"],
      error: `must be at most ${USAGE_LIMITS.maxDays} days before \`to\``,
    });
export type UsageInput = z.input<ReturnType<typeof usageInputSchema>>;

const usageQuery = z.object({
  from: z.string().optional().describe("First day (UTC). Defaults to 30 days before `to`."),
  to: z.string().optional().describe("Last day (UTC), inclusive. Defaults to today."),
  project: z.string().optional().describe("Name of the only project. Defaults to all projects."),
});

const usageRoute = routesAt("Usage", "/api/v1/admin/usage");

/** Usage of projects. */
export const usageEndpoints = {
  getUsage: {
    ...usageRoute("GET", "admin:*", "Get usage by project and day"),
    description: `Returns one row for each project and day, the newest day first; at most ${USAGE_LIMITS.maxDays} days, and the newest ${USAGE_LIMITS.maxRows} rows. Counts are exact for what was accepted.`,
    query: usageQuery,
    answers: [
      {
        status: 200,
        when: "The usage.",
        schema: z.object({ ok: z.literal(true), from: z.iso.date(), to: z.iso.date(), items: z.array(usageDaySchema) }),
      },
    ],
    example: { query: { from: "2026-11-01", to: "2026-11-30" } },
  },
  exportUsage: {
    ...usageRoute("GET /csv", "admin:*", "Get usage by project and day as CSV"),
    description:
      "The same rows as a file with the columns `day`, `project`, `projectId`, `messages`, `documents`, `storedBytes`, `sockets` and `modelTokens`.",
    query: usageQuery,
    answers: [csvAnswer],
    example: { query: { from: "2026-11-01", to: "2026-11-30" } },
  },
} as const satisfies Record<string, Endpoint>;
