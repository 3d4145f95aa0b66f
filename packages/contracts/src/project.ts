import { z } from "zod";
import { maskedSchema, overlapSecondsSchema, secretSchema } from "./secret.ts";
import { textUpTo } from "./well-formed.ts";

/** Bounds of a project's settings. */
export const PROJECT_LIMITS = {
  /** Characters (Unicode code points) of the hand-off text. */
  handoffTextMaxChars: 5_000,
  /** Languages that a project has hand-off texts of its own for. */
  handoffTextsMax: 100,
  /** Characters of the greeting of the messenger. */
  greetingMaxChars: 4_000,
  /** Days that something may be kept: about a hundred years. */
  retentionMaxDays: 36_500,
  /** Calls of language models at once, in each process. */
  modelConcurrencyMax: 1_000,
  /** Tokens of language models a day. */
  modelTokensPerDayMax: 1_000_000_000_000,
} as const;

/** Name of a project, as `x-svc-project` carries it. */
export const projectNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
  error: "1 to 63 characters of a-z, 0-9 and -, the first a letter or digit",
});

const languageSchema = z.string().regex(/^[a-z]{2}$/, { error: "a language as ISO 639-1, such as `de`" });

const retentionDaysSchema = z.int().min(1).max(PROJECT_LIMITS.retentionMaxDays).nullable();

const upTo = (max: number) => z.int().min(1).max(max).nullable();

const modelLimitsSchema = z.strictObject({
  concurrency: upTo(PROJECT_LIMITS.modelConcurrencyMax)
    .optional()
    .describe("Calls at once, in each process; 8 at first, null: any number."),
  tokensPerDay: upTo(PROJECT_LIMITS.modelTokensPerDayMax)
    .optional()
    .describe("Tokens a day (UTC), of questions and answers together; null, as at first: any number."),
});

/** What can be said of a project besides its name. What is left out has its default, or stays as it is. */
const projectSettings = {
  handoffText: textUpTo(PROJECT_LIMITS.handoffTextMaxChars)
    .optional()
    .describe(
      "What a customer reads when a person has to answer. Empty: nothing, in no language. The service's own text at first. A customer who writes in another language than this text reads that of `handoffTexts`, or the service's own, where there is one in that language.",
    ),
  handoffTexts: z
    .record(languageSchema, textUpTo(PROJECT_LIMITS.handoffTextMaxChars).min(1))
    .refine((texts) => Object.keys(texts).length <= PROJECT_LIMITS.handoffTextsMax, {
      error: `at most ${PROJECT_LIMITS.handoffTextsMax} languages`,
    })
    .optional()
    .describe(
      "The hand-off text by language (ISO 639-1), such as `de`. Replaces all that were set before; none at first.",
    ),
  greeting: textUpTo(PROJECT_LIMITS.greetingMaxChars)
    .optional()
    .describe(
      "What a customer of the messenger reads who starts the bot. Empty, as at first: the service's own text, in the customer's language where it has that.",
    ),
  tablesAsXlsx: z
    .boolean()
    .optional()
    .describe("Each Markdown table of an answer also comes as an XLSX file; true at first."),
  retentionDays: retentionDaysSchema
    .optional()
    .describe(
      "Days that a conversation is kept after the last thing that happened in it; null, as at first: for ever.",
    ),
  fileRetentionDays: retentionDaysSchema
    .optional()
    .describe(
      "Days that files of visitors and of customers on Telegram are kept; their conversations show them as expired afterwards. 90 by default; null: as long as the conversation.",
    ),
  modelLimits: modelLimitsSchema
    .optional()
    .describe("What the project may ask of language models; beyond it agents answer without one."),
};

/** Body of `POST /api/v1/projects`. Unknown fields are faults. */
export const projectInputSchema = z.strictObject({ name: projectNameSchema, ...projectSettings });
export type ProjectInput = z.infer<typeof projectInputSchema>;

/** Body of `PATCH /api/v1/projects/:id`. Unknown fields are faults. */
export const projectChangeSchema = z.strictObject({
  name: projectNameSchema.optional(),
  ...projectSettings,
  webhookSecret: secretSchema
    .optional()
    .describe(
      "Signs the project's callbacks. Null: the key that sent the message signs. Shown as ******** while one is set. That of `default` is the secret of the channel `api`.",
    ),
  overlapSeconds: overlapSecondsSchema,
});
export type ProjectChange = z.infer<typeof projectChangeSchema>;

/**
 * Body of `DELETE /api/v1/projects/:id`. Any `confirm` has this shape: one that is not the project's name is answered
 * with what would be deleted.
 */
export const projectDeletionSchema = z.strictObject({
  confirm: z
    .string()
    .optional()
    .meta({ maxLength: 63, description: "Name of the project, so that nobody deletes another one than he means." }),
});
export type ProjectDeletion = z.infer<typeof projectDeletionSchema>;

/** A project as the administration shows it. */
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
  webhookSecret: maskedSchema,
  previousWebhookSecretUntil: z.iso
    .datetime()
    .nullable()
    .describe("Until when the previous secret also signs; null if none does."),
  createdAt: z.iso.datetime(),
  version: z.int(),
});
export type ProjectItem = z.infer<typeof projectItemSchema>;
