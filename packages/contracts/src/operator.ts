import { z } from "zod";
import { isTimeZone } from "./customer.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { projectNameSchema } from "./project.ts";
import { countChars, lineUpTo, wellFormedString } from "./limits.ts";

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

/** Limits of operators. Characters are Unicode code points. */
export const OPERATOR_LIMITS = {
  nameMaxChars: 200,
  emailMaxChars: 254,
  passwordMinChars: 12,
  passwordMaxChars: 200,
  rolesMaxCount: 1_000,
  signatureMaxChars: 1_000,
  publicNameMaxChars: 60,
} as const;

/** Roles in a project: administrators manage it, operators answer customers, viewers read. */
export const operatorRoleSchema = z.enum(["administrator", "operator", "viewer"]);
export type OperatorRole = z.infer<typeof operatorRoleSchema>;

/** A role in one project, by its name, or in all of them (`*`). */
const roleSchema = z.strictObject({ project: z.union([z.literal("*"), projectNameSchema]), role: operatorRoleSchema });

/** An operator, without the password. */
export const operatorSchema = z.object({
  id: z.uuid(),
  email: z.string(),
  name: z.string(),
  roles: z.array(z.object({ project: z.string(), role: operatorRoleSchema })),
  hasPassword: z.boolean(),
  onDuty: z.boolean().describe("True if tickets can be assigned to this operator in turn."),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime().nullable(),
  disabledAt: z.iso.datetime().nullable().describe("Since when this operator is disabled and cannot sign in."),
  notifications: notificationSettingsSchema.describe("Which emails the operator gets, and when."),
  version: z.int(),
});
export type Operator = z.infer<typeof operatorSchema>;

/** A link with which an operator sets a password. */
export const operatorLinkSchema = z.object({
  token: z.string().describe("Append it to the console's URL as `/link#<token>`. Shown only once."),
  expiresAt: z.iso.datetime(),
});
export type OperatorLink = z.infer<typeof operatorLinkSchema>;

const emailSchema = z
  .string()
  .max(OPERATOR_LIMITS.emailMaxChars)
  .pipe(z.email({ error: "must be an email address, such as ann@example.com" }));

const nameSchema = lineUpTo(OPERATOR_LIMITS.nameMaxChars);

const { passwordMinChars, passwordMaxChars } = OPERATOR_LIMITS;
/** A new password. */
export const operatorPasswordField = wellFormedString
  .refine((password) => countChars(password) >= passwordMinChars && countChars(password) <= passwordMaxChars, {
    error: `must have ${passwordMinChars} to ${passwordMaxChars} characters`,
    params: { code: "invalid_password" },
  })
  .meta({ minLength: passwordMinChars, maxLength: passwordMaxChars });

const rolesSchema = z
  .array(roleSchema)
  .max(OPERATOR_LIMITS.rolesMaxCount, { error: `must have at most ${OPERATOR_LIMITS.rolesMaxCount} roles` })
  .superRefine((roles, context) => {
    const seen = new Set<string>();
    for (const [index, { project }] of roles.entries()) {
      if (seen.has(project)) {
        const message = "must not have more than one role per project";
        context.addIssue({ code: "custom", path: [index, "project"], message, params: { code: "repeated" } });
      }
      seen.add(project);
    }
  });

/** Body of `POST /api/v1/admin/operators`. Unknown fields are rejected. */
export const operatorInputSchema = z.strictObject({
  email: emailSchema,
  name: nameSchema,
  roles: rolesSchema.optional().describe("Defaults to none."),
  password: operatorPasswordField
    .nullable()
    .optional()
    .describe("If null or omitted, the operator has no password and cannot sign in with one."),
});
export type OperatorInput = z.infer<typeof operatorInputSchema>;

/** Body of `PATCH /api/v1/admin/operators/:id`. Roles are replaced as a whole. Unknown fields are rejected. */
export const operatorChangeSchema = z.strictObject({
  email: emailSchema.optional(),
  name: nameSchema.optional(),
  roles: rolesSchema.optional(),
  password: operatorPasswordField.nullable().optional().describe("Null removes the password."),
  disabled: z.boolean({ error: "must be true or false" }).optional(),
  notifications: notificationSettingsSchema
    .optional()
    .describe("Which emails the operator gets, and when. Replaced as a whole."),
  onDuty: z.boolean({ error: "must be true or false" }).optional(),
});

const route = routesAt("Operators", "/api/v1/admin/operators");

/** Operators. */
export const operatorEndpoints = {
  listOperators: {
    ...route("GET", "admin:*", "List operators, newest first"),
    description: "`q` searches name and email address.",
    query: listQuery,
    answers: [listAnswer(operatorSchema)],
  },
  createOperator: {
    ...route("POST", "admin:*", "Create an operator"),
    description: "The email address must be unique (case-insensitive). Passwords are never returned.",
    body: { schema: operatorInputSchema },
    answers: [createdAnswer(operatorSchema)],
    example: {
      body: { email: "ann@example.com", name: "Ann", roles: [{ project: "default", role: "operator" }] },
    },
  },
  getOperator: {
    ...route("GET /{id}", "admin:*", "Get an operator"),
    answers: [itemAnswer(operatorSchema)],
  },
  updateOperator: {
    ...route("PATCH /{id}", "admin:*", "Update an operator"),
    description:
      "Omitted fields stay unchanged. Roles are replaced as a whole. The last administrator cannot lose the role. Disabling an operator does not unassign tickets; find them with `GET /api/v1/admin/tickets?assignee=`.",
    body: { schema: operatorChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(operatorSchema)],
    example: { body: { name: "Ann Miller" } },
  },
  deleteOperator: {
    ...route("DELETE /{id}", "admin:*", "Delete an operator"),
    description:
      "The last administrator cannot be deleted. Tickets stay assigned to a deleted operator; find them with `GET /api/v1/admin/tickets?assignee=`, and unassign them.",
    ifMatch: true,
    answers: [itemAnswer(operatorSchema)],
  },
  createOperatorLink: {
    ...route("POST /{id}/link", "admin:*", "Create a password link for an operator"),
    description:
      "The link is valid for one day and can be used once. Earlier links become invalid. When it is used, all sessions of the operator end.",
    answers: [itemAnswer(operatorLinkSchema)],
  },
} as const satisfies Record<string, Endpoint>;
