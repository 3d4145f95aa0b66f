import { z } from "zod";
import { isTimeZone } from "./customer.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { quotasInputSchema, quotasSchema, textUpTo } from "./limits.ts";
import { channelIdSchema } from "./message-request.ts";
import { maskedSchema, overlapSecondsSchema, secretSchema } from "./secret.ts";
import { ticketPrioritySchema } from "./ticket.ts";

/** Days of the week, in the order of ISO 8601. */
export const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

/** Limits of business hours. */
export const BUSINESS_HOURS_LIMITS = {
  /** Maximum number of periods in a day. */
  periodsPerDayMax: 10,
  /** Maximum number of holidays. */
  holidaysMax: 400,
  /** Maximum characters of a holiday's name. */
  holidayNameMaxChars: 100,
  /** Maximum expected reply time in minutes: four weeks. */
  replyTimeMaxMinutes: 40_320,
} as const;

const clockTimeSchema = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, {
  error: "must be a time, such as `09:00` or `24:00`",
});

const periodSchema = z
  .tuple([clockTimeSchema, clockTimeSchema])
  .refine(([from, to]) => from < to, { error: "must end after it starts, on the same day" });

const daySchema = z
  .array(periodSchema)
  .max(BUSINESS_HOURS_LIMITS.periodsPerDayMax)
  .refine((periods) => periods.every(([from], index) => index === 0 || (periods[index - 1]?.[1] ?? "") <= from), {
    error: "must be periods in order that do not overlap",
  });

const holidaySchema = z.strictObject({
  date: z.iso.date().describe("Day on which the team is closed, such as `2026-12-25`."),
  name: textUpTo(BUSINESS_HOURS_LIMITS.holidayNameMaxChars).optional(),
});

/** Working hours of a project's team. Omitted days are closed. */
export const businessHoursSchema = z.strictObject({
  timeZone: z
    .string()
    .refine(isTimeZone, { error: "must be an IANA time zone, such as `Europe/Berlin`" })
    .describe("IANA time zone of the times, such as `Europe/Berlin`."),
  week: z
    .partialRecord(z.enum(WEEKDAYS), daySchema)
    .describe('Periods by day of the week, such as `{"monday": [["09:00", "12:00"], ["13:00", "17:00"]]}`.'),
  holidays: z
    .array(holidaySchema)
    .max(BUSINESS_HOURS_LIMITS.holidaysMax)
    .default([])
    .describe("Days on which the team is closed, whatever the day of the week."),
});
export type BusinessHours = z.infer<typeof businessHoursSchema>;

/** Expected reply time in minutes; null for none. */
export const replyTimeMinutesSchema = z.int().min(1).max(BUSINESS_HOURS_LIMITS.replyTimeMaxMinutes).nullable();

/** Limits of emails to customers. */
export const REPLY_EMAIL_LIMITS = { delayMaxMinutes: 1_440 } as const;

/**
 * When customers who have left the page with the widget get replies by email. Parsing an empty object returns the
 * defaults.
 */
export const replyEmailsSchema = z.strictObject({
  delayMinutes: z
    .int()
    .min(1)
    .max(REPLY_EMAIL_LIMITS.delayMaxMinutes)
    .default(5)
    .describe("Minutes that a reply waits for the customer's browser before it is sent by email. Defaults to 5."),
  recipients: z
    .enum(["all", "verified"], { error: "must be all or verified" })
    .default("all")
    .describe(
      "`verified`: only addresses that are the signed user ID or were set by an operator. `all` (default): also addresses from the form before the first message, which may belong to somebody else; these emails do not contain what the customer wrote.",
    ),
});
export type ReplyEmails = z.output<typeof replyEmailsSchema>;

/** Limits of SLA targets. */
export const SLA_LIMITS = {
  targetsMax: 50,
  /** Maximum target in minutes of business time: 90 days. */
  minutesMax: 129_600,
} as const;

const minutesField = (text: string) => z.int().min(1).max(SLA_LIMITS.minutesMax).optional().describe(text);

/** Targets for tickets of a priority and a channel, in minutes of business time. */
export const slaTargetSchema = z.strictObject({
  priority: ticketPrioritySchema.optional().describe("Priority of the tickets. Omitted for any."),
  channelId: channelIdSchema.optional().describe("Channel of the tickets. Omitted for any."),
  firstReplyMinutes: minutesField("Minutes of business time until the first reply."),
  nextReplyMinutes: minutesField("Minutes of business time until each later reply."),
  resolutionMinutes: minutesField("Minutes of business time from the first need for a person until the resolution."),
});
export type SlaTarget = z.infer<typeof slaTargetSchema>;

/** SLA targets of a project. For a ticket, the first that matches its priority and channel counts. */
export const slaTargetsSchema = z.array(slaTargetSchema).max(SLA_LIMITS.targetsMax);

/** Limits of a project's settings. */
export const PROJECT_LIMITS = {
  /** Maximum characters (Unicode code points) of the handoff text. */
  handoffTextMaxChars: 5_000,
  /** Maximum number of languages with their own handoff text. */
  handoffTextsMax: 100,
  /** Maximum characters of the greeting in Telegram. */
  greetingMaxChars: 4_000,
  /** Maximum retention in days, approximately a hundred years. */
  retentionMaxDays: 36_500,
  /** Maximum concurrent calls to language models in each process. */
  modelConcurrencyMax: 1_000,
  /** Maximum tokens of language models per day. */
  modelTokensPerDayMax: 1_000_000_000_000,
} as const;

/** Name of a project, as in `x-svc-project`. */
export const projectNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
  error: "must have 1 to 63 characters of a-z, 0-9 and -, starting with a letter or digit",
});

const languageSchema = z.string().regex(/^[a-z]{2}$/, { error: "must be an ISO 639-1 language, such as `de`" });

const retentionDaysSchema = z.int().min(1).max(PROJECT_LIMITS.retentionMaxDays).nullable();

const upTo = (max: number) => z.int().min(1).max(max).nullable();

const modelLimitsSchema = z.strictObject({
  concurrency: upTo(PROJECT_LIMITS.modelConcurrencyMax)
    .optional()
    .describe("Maximum concurrent calls in each process. Defaults to 8; null for no limit."),
  tokensPerDay: upTo(PROJECT_LIMITS.modelTokensPerDayMax)
    .optional()
    .describe("Maximum tokens per day (UTC), questions and answers together. Null (default) for no limit."),
});

/** Optional fields of a project. Omitted fields have their default or stay unchanged. */
const projectSettings = {
  handoffText: textUpTo(PROJECT_LIMITS.handoffTextMaxChars)
    .optional()
    .describe(
      "Text sent to a customer when the conversation is handed over to a person. Defaults to the service's own text; empty sends nothing, in any language. Customers who write in another language receive the text from `handoffTexts`, or the service's own text in that language, if there is one.",
    ),
  handoffTexts: z
    .record(languageSchema, textUpTo(PROJECT_LIMITS.handoffTextMaxChars).min(1))
    .refine((texts) => Object.keys(texts).length <= PROJECT_LIMITS.handoffTextsMax, {
      error: `must have at most ${PROJECT_LIMITS.handoffTextsMax} languages`,
    })
    .optional()
    .describe("Handoff texts by language (ISO 639-1), such as `de`. Replaces all of them. Defaults to none."),
  greeting: textUpTo(PROJECT_LIMITS.greetingMaxChars)
    .optional()
    .describe(
      "Greeting for customers who start the Telegram bot. If empty (default), the service's own text, in the customer's language if available.",
    ),
  tablesAsXlsx: z
    .boolean()
    .optional()
    .describe("If true (default), each Markdown table in an answer is also sent as an XLSX file."),
  retentionDays: retentionDaysSchema
    .optional()
    .describe("Days after its last activity that a conversation is deleted. Null (default) to keep it forever."),
  fileRetentionDays: retentionDaysSchema
    .optional()
    .describe(
      "Days after which files from visitors and Telegram customers are deleted; their conversations then show them as expired. Defaults to 90. Null to keep them as long as the conversation.",
    ),
  modelLimits: modelLimitsSchema
    .optional()
    .describe("Limits of language models for the project. Above them, agents answer without a language model."),
  quotas: quotasInputSchema
    .optional()
    .describe("Limits of the project. Above them, requests fail with `quota_exceeded` or `storage_quota_exceeded`."),
  businessHours: businessHoursSchema
    .nullable()
    .optional()
    .describe("When the project's team works. Replaces all of it. Null (default): always."),
  replyTimeMinutes: replyTimeMinutesSchema
    .optional()
    .describe(
      "Minutes within which the team usually replies during business hours. Customers read it in handoff texts and in the widget. Null (default) to promise nothing.",
    ),
  slaTargets: slaTargetsSchema
    .optional()
    .describe(
      "Targets for replies and resolutions, in minutes of business time. For a ticket, the first entry that matches its priority and channel counts. Replaces all of them. Defaults to none. Applies to tickets that change afterwards.",
    ),
  replyEmails: replyEmailsSchema
    .nullable()
    .optional()
    .describe(
      "Sends replies of the widget by email to customers who have left. Requires a mail server. Replaces all of it. Null (default): no emails to customers.",
    ),
};

/** Body of `POST /api/v1/projects`. Unknown fields are rejected. */
export const projectInputSchema = z.strictObject({ name: projectNameSchema, ...projectSettings });
export type ProjectInput = z.infer<typeof projectInputSchema>;

/** Body of `PATCH /api/v1/projects/:id`. Unknown fields are rejected. */
export const projectChangeSchema = z.strictObject({
  name: projectNameSchema.optional(),
  ...projectSettings,
  webhookSecret: secretSchema
    .optional()
    .describe(
      "Secret that signs the project's callbacks. If null, callbacks are signed with the API key that sent the message. Shown as ******** if set. The secret of `default` is that of the channel `api`.",
    ),
  overlapSeconds: overlapSecondsSchema,
});
export type ProjectChange = z.infer<typeof projectChangeSchema>;

/**
 * Body of `DELETE /api/v1/projects/:id`. Any `confirm` is valid here; if it is not the project's name, the response
 * describes what would be deleted.
 */
export const projectDeletionSchema = z.strictObject({
  confirm: z.string().optional().meta({ maxLength: 63, description: "Name of the project, to confirm the deletion." }),
});

/** A project as shown to administrators. */
export const projectItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  handoffText: z.string(),
  handoffTexts: z.record(z.string(), z.string()),
  greeting: z.string(),
  tablesAsXlsx: z.boolean(),
  retentionDays: z.int().nullable(),
  fileRetentionDays: z.int().nullable(),
  modelLimits: z.object({ concurrency: z.int().nullable(), tokensPerDay: z.int().nullable() }),
  quotas: quotasSchema,
  businessHours: businessHoursSchema.nullable(),
  replyTimeMinutes: z.int().nullable(),
  slaTargets: slaTargetsSchema,
  replyEmails: replyEmailsSchema.nullable(),
  webhookSecret: maskedSchema,
  previousWebhookSecretUntil: z.iso
    .datetime()
    .nullable()
    .describe("Until when the previous secret also signs. Null if it no longer does."),
  createdAt: z.iso.datetime(),
  version: z.int(),
});
export type ProjectItem = z.infer<typeof projectItemSchema>;

const route = routesAt("Projects", "/api/v1/projects");

/** Projects (service document, section 4.4). */
export const projectEndpoints = {
  listProjects: {
    ...route("GET", "admin:*", "List projects, newest first"),
    query: listQuery,
    answers: [listAnswer(projectItemSchema)],
  },
  createProject: {
    ...route("POST", "admin:*", "Create a project"),
    body: { schema: projectInputSchema },
    answers: [createdAnswer(projectItemSchema)],
    example: { body: { name: "north", handoffText: "A colleague of ours will answer you." } },
  },
  getProject: {
    ...route("GET /{id}", "admin:*", "Get a project"),
    answers: [itemAnswer(projectItemSchema)],
  },
  updateProject: {
    ...route("PATCH /{id}", "admin:*", "Update a project"),
    description:
      "Omitted fields stay unchanged. `retentionDays: null` disables the retention limit. A new name takes effect within a second, including in the widget's settings. `default` cannot be renamed.",
    body: { schema: projectChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(projectItemSchema)],
    example: { body: { handoffText: "A colleague of ours will answer you.", retentionDays: 365 } },
  },
  deleteProject: {
    ...route("DELETE /{id}", "admin:*", "Delete a project and everything in it"),
    description:
      "`confirm` must be the project's name; otherwise the response is 400 and describes what would be deleted. The project and its content are inaccessible immediately, and its keys stop working; storage is freed in the background. `default` and the widget's project cannot be deleted.",
    body: { schema: projectDeletionSchema, isOptional: true },
    ifMatch: true,
    answers: [itemAnswer(projectItemSchema, { when: "The project before its deletion." })],
    example: { body: { confirm: "north" } },
  },
} as const satisfies Record<string, Endpoint>;
