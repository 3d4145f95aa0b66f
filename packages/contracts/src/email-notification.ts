import { z } from "zod";
import { isTimeZone } from "./customer.ts";
import { itemAnswer, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Kinds of emails to operators, by their names in `NotificationSettings`. */
export const NOTIFICATION_KINDS = ["assigned", "mentioned", "slaBreached", "needsReview", "digest"] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** Languages of emails to operators. */
export const NOTIFICATION_LANGUAGES = ["en", "de"] as const;

const timeSchema = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: "must be a time, such as `09:00`" });
const flagSchema = z.boolean({ error: "must be true or false" });

/** Push notifications of an operator, in the subscribed browsers. Parsing an empty object returns the defaults. */
const pushSettingsSchema = z.strictObject({
  assigned: flagSchema.default(true),
  mentioned: flagSchema.default(true),
  slaBreached: flagSchema.default(true),
  needsReview: flagSchema.default(false),
  showsSubject: flagSchema
    .default(false)
    .describe("Shows subjects of tickets and names of colleagues, also on a locked screen. Defaults to false."),
});

/**
 * Emails of an operator. Replaced as a whole; omitted fields have their defaults. Parsing an empty object returns the
 * defaults.
 */
export const notificationSettingsSchema = z.strictObject({
  assigned: flagSchema.default(true).describe("When somebody assigns a ticket to the operator. Defaults to true."),
  mentioned: flagSchema.default(true).describe("When a note mentions the operator. Defaults to true."),
  slaBreached: flagSchema
    .default(true)
    .describe("When a ticket of the operator, or one without assignee, misses an SLA target. Defaults to true."),
  needsReview: flagSchema
    .default(false)
    .describe("When a ticket of the operator, or one without assignee, needs review. Defaults to false."),
  digest: flagSchema.default(false).describe("Open work once a day, unless there is none. Defaults to false."),
  digestAt: timeSchema.default("08:00").describe("When the daily digest is sent. Defaults to `08:00`."),
  quietHours: z
    .tuple([timeSchema, timeSchema])
    .refine(([from, to]) => from !== to, { error: "must end at another time than it starts" })
    .meta({ examples: [["20:00", "07:00"]] })
    .nullable()
    .default(null)
    .describe(
      'Hours without emails, such as `["20:00", "07:00"]`; they are sent afterwards. Null (default): emails at any time.',
    ),
  timeZone: z
    .string()
    .refine(isTimeZone, { error: "must be an IANA time zone, such as `Europe/Berlin`" })
    .default("UTC")
    .describe("IANA time zone of these times. Defaults to `UTC`."),
  language: z.enum(NOTIFICATION_LANGUAGES).default("en").describe("Language of the emails. Defaults to `en`."),
  push: pushSettingsSchema
    .prefault({})
    .describe("Push notifications, by the same names. Quiet hours and the language count for them too."),
});
export type NotificationSettings = z.output<typeof notificationSettingsSchema>;

/** Body of `POST /api/v1/admin/email/test`. Unknown fields are rejected. */
export const testEmailSchema = z.strictObject({
  to: z
    .string()
    .max(254)
    .pipe(z.email({ error: "must be an email address, such as ann@example.com" })),
});

/** Result of a test email. */
export const testEmailResultSchema = z.object({
  to: z.string(),
  state: z.enum(["sent", "failed"]).describe("`sent`: the mail server has accepted the email."),
  failure: z.string().nullable().describe("Why the mail server did not accept it."),
});
export type TestEmailResult = z.infer<typeof testEmailResultSchema>;

/** Emails. */
export const emailEndpoints = {
  sendTestEmail: {
    ...routesAt("Email", "/api/v1/admin/email")("POST /test", "admin:*", "Send a test email"),
    description: "Uses `SVC_SMTP_URL` and `SVC_EMAIL_FROM`. The request waits until the mail server has responded.",
    body: { schema: testEmailSchema },
    answers: [itemAnswer(testEmailResultSchema)],
    example: { body: { to: "ann@example.com" } },
  },
} as const satisfies Record<string, Endpoint>;
