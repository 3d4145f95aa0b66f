import { z } from "zod";
import {
  countChars,
  hasControlCharacters,
  isMalformedText,
  LIMITS,
  lineUpTo,
  textUpTo,
  wellFormedString,
} from "./limits.ts";

/** Limits of inbound hooks. Characters are Unicode code points. */
export const HOOK_LIMITS = {
  nameMaxChars: 100,
  /** Maximum characters of a template, and of a JSONPath in it. */
  templateMaxChars: 4_000,
  pathMaxChars: 500,
  /** Maximum number of alternative templates for one field. The first one whose paths all match is used. */
  alternativesMaxCount: 8,
  /** Maximum number of JSONPaths of a mapping and its filter. */
  pathsMaxCount: 100,
  metaFieldsMaxCount: 50,
  metaNameMaxChars: 100,
  /** Maximum number of conditions of a filter, and of values in a condition. */
  conditionsMaxCount: 10,
  valuesMaxCount: 50,
  valueMaxChars: 500,
  /** Maximum characters of an imported secret, and of the parts of an HMAC header. */
  secretMinChars: 16,
  secretMaxChars: 512,
  headerMaxChars: 100,
  prefixMaxChars: 50,
  /** Maximum characters of an event ID. */
  eventIdMaxChars: 255,
  /** Maximum bytes of a body. */
  bodyMaxBytes: LIMITS.bodyMaxBytes,
  /** Maximum nesting depth of a body. */
  bodyMaxDepth: 100,
  /** Maximum number of form fields. */
  formFieldsMaxCount: 1_000,
  /** Number of stored bodies per hook, how long they are stored, and how many characters of each a list shows. */
  keptBodies: 20,
  keptDays: 30,
  shownBodyMaxChars: 16_384,
  /** Number of days for which repeated events are recognized. */
  eventDays: 7,
  /** Maximum difference between the time of a signature and the server's clock, in seconds. */
  toleranceSeconds: 300,
} as const;

/** Headers that a mapping can use, as in `$headers['x-github-event']`: the ones in which platforms name the event. */
export const HOOK_HEADERS = [
  "content-type",
  "user-agent",
  "idempotency-key",
  "webhook-id",
  "x-github-event",
  "x-github-delivery",
  "x-gitlab-event",
  "x-gitlab-event-uuid",
  "x-gitea-event",
  "x-gitea-delivery",
  "x-event-key",
  "x-request-id",
  "x-request-uuid",
  "x-hook-uuid",
  "x-shopify-topic",
  "x-shopify-event-id",
  "x-shopify-webhook-id",
  "x-shopify-shop-domain",
  "x-shopify-triggered-at",
  "x-wc-webhook-event",
  "x-wc-webhook-topic",
  "x-wc-webhook-delivery-id",
  "x-event-type",
  "x-event-id",
] as const;

/** Authentication schemes of hooks whose details are fixed by the platform. */
export const HOOK_SCHEMES = ["path", "github", "stripe", "standard-webhooks", "shopify", "typeform"] as const;

/** Name of a header (RFC 9110, section 5.1), in lowercase. */
const headerNameSchema = z
  .string()
  .max(HOOK_LIMITS.headerMaxChars)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: "must be a header name, such as X-Signature" })
  .transform((name) => name.toLowerCase());

/** Details of a plain HMAC of the body. */
const hmacSchema = z.strictObject({
  type: z.literal("hmac"),
  header: headerNameSchema.describe("Header that contains the signature."),
  algorithm: z.enum(["sha256", "sha1", "sha512"]).default("sha256"),
  encoding: z.enum(["hex", "base64"], { error: "must be hex or base64" }).default("hex"),
  prefix: z
    .string()
    .max(HOOK_LIMITS.prefixMaxChars)
    .regex(/^[\x21-\x7e]*$/, { error: "must be printable ASCII without spaces" })
    .default("")
    .describe("Prefix of the signature in the header, such as `sha256=`."),
});

/**
 * How a request is authenticated. `path`: a generated secret at the end of the URL. Others: an HMAC of the raw body in
 * a header, in the format of the platform of that name, or as `hmac` describes.
 */
const hookAuthSchema = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("path") }),
    z.strictObject({ type: z.literal("github") }),
    z.strictObject({ type: z.literal("stripe") }),
    z.strictObject({ type: z.literal("standard-webhooks") }),
    z.strictObject({ type: z.literal("shopify") }),
    z.strictObject({ type: z.literal("typeform") }),
    hmacSchema,
  ],
  { error: `must be an object whose type is one of ${HOOK_SCHEMES.join(", ")}, hmac` },
);
export type HookAuth = z.infer<typeof hookAuthSchema>;

/** Text in which `{{path}}` is replaced with the value at a JSONPath in the body. */
const templateTextSchema = textUpTo(HOOK_LIMITS.templateMaxChars).min(1, { error: "must have at least 1 character" });

/** A template, or several alternatives. The first one whose paths all match is used. */
const hookTemplateSchema = z.union(
  [
    templateTextSchema,
    z
      .array(templateTextSchema)
      .min(1, { error: "must have at least 1 template" })
      .max(HOOK_LIMITS.alternativesMaxCount, {
        error: `must have at most ${HOOK_LIMITS.alternativesMaxCount} templates`,
      }),
  ],
  {
    error: `must be a string of 1 to ${HOOK_LIMITS.templateMaxChars} characters, or a list of at most ${HOOK_LIMITS.alternativesMaxCount}`,
  },
);
export type HookTemplate = z.infer<typeof hookTemplateSchema>;

/** Names in `meta` that the service sets itself. */
const RESERVED_META = new Set(["origin", "hookId"]);

const metaNameError = (name: string): string | null => {
  if (RESERVED_META.has(name)) return "is set by the service; choose another name";
  if (name === "" || countChars(name) > HOOK_LIMITS.metaNameMaxChars || hasControlCharacters(name))
    return `must have 1 to ${HOOK_LIMITS.metaNameMaxChars} characters and no control characters`;
  return isMalformedText(name) || name === "__proto__" ? "is not allowed as a name" : null;
};

const hookMetaSchema = z.record(z.string(), hookTemplateSchema).check((context) => {
  const names = Object.keys(context.value);
  const error = (path: PropertyKey[], message: string) =>
    context.issues.push({ code: "custom", message, path, input: context.value });
  if (names.length > HOOK_LIMITS.metaFieldsMaxCount)
    error([], `must have at most ${HOOK_LIMITS.metaFieldsMaxCount} fields`);
  for (const name of names) {
    const found = metaNameError(name);
    if (found !== null) error([name], found);
  }
});

const mappingFields = {
  text: hookTemplateSchema.describe("Text of the message."),
  chatId: hookTemplateSchema
    .nullable()
    .optional()
    .describe("Chat that the message belongs to. If not mapped, each body starts a new chat."),
  userId: hookTemplateSchema.nullable().optional(),
  meta: hookMetaSchema.nullable().optional(),
  webhookUrl: hookTemplateSchema
    .nullable()
    .optional()
    .describe("URL for callbacks with the answer. If not found, the answer is buffered until it is collected."),
  eventId: hookTemplateSchema
    .nullable()
    .optional()
    .describe("ID that is the same in all repetitions of an event, so that they create only one message."),
};

/** Mapping of a body to a message: a template per field. */
const hookMappingSchema = z.strictObject(mappingFields);
export type HookMapping = z.infer<typeof hookMappingSchema>;

/** The mapping part of a hook, so that errors point into `/mapping`. */
export const mappedHookSchema = z.object({ mapping: hookMappingSchema });

/** Mapping fields that are merged into an existing mapping. Null removes a field. */
const hookMappingChangeSchema = z.strictObject({ ...mappingFields, text: mappingFields.text.optional() });

/** A value that a condition compares with. */
const scalarSchema = z.union([wellFormedString.max(HOOK_LIMITS.valueMaxChars), z.number(), z.boolean(), z.null()], {
  error: `must be a string of at most ${HOOK_LIMITS.valueMaxChars} characters, a number, true, false or null`,
});
const scalarsSchema = z.union(
  [
    scalarSchema,
    z
      .array(scalarSchema)
      .min(1, { error: "must have at least 1 value" })
      .max(HOOK_LIMITS.valuesMaxCount, { error: `must have at most ${HOOK_LIMITS.valuesMaxCount} values` }),
  ],
  { error: "must be a string, a number, true, false, null, or a list of these" },
);

const pathSchema = wellFormedString.min(1, { error: "must have at least 1 character" }).max(HOOK_LIMITS.pathMaxChars);

/**
 * A condition: a value at the path equals one of `equals` and none of `not`. With neither, the path must match a value.
 */
const hookConditionSchema = z.strictObject({
  path: pathSchema,
  equals: scalarsSchema.optional(),
  not: scalarsSchema.optional(),
});
export type HookCondition = z.infer<typeof hookConditionSchema>;

/** Conditions that a body must all meet. Other bodies are ignored. */
const hookFilterSchema = z
  .array(hookConditionSchema)
  .max(HOOK_LIMITS.conditionsMaxCount, { error: `must have at most ${HOOK_LIMITS.conditionsMaxCount} conditions` });

export const hookPresetSchema = z.enum(["github", "stripe", "typeform", "shopify", "form"]);
export type HookPreset = z.infer<typeof hookPresetSchema>;

const hookNameSchema = lineUpTo(HOOK_LIMITS.nameMaxChars);

const secretSchema = z
  .string()
  .regex(/^[\x21-\x7e]*$/, { error: "must be printable ASCII without spaces" })
  .min(HOOK_LIMITS.secretMinChars, { error: `must have at least ${HOOK_LIMITS.secretMinChars} characters` })
  .max(HOOK_LIMITS.secretMaxChars);

/** Body of `POST /api/v1/admin/hooks`. Omitted fields come from the preset. Unknown fields are rejected. */
export const hookInputSchema = z.strictObject({
  name: hookNameSchema,
  preset: hookPresetSchema.optional(),
  auth: hookAuthSchema.optional(),
  secret: secretSchema.optional().describe("Secret generated by the platform. If omitted, the service generates one."),
  mapping: hookMappingChangeSchema.optional(),
  filter: hookFilterSchema.optional(),
});
export type HookInput = z.input<typeof hookInputSchema>;

/** Body of `PATCH /api/v1/admin/hooks/:id`. Mapping fields are merged; the filter is replaced. */
export const hookChangeSchema = z.strictObject({
  name: hookNameSchema.optional(),
  auth: hookAuthSchema.optional(),
  mapping: hookMappingChangeSchema.optional(),
  filter: hookFilterSchema.optional(),
});

/** Body of `POST /api/v1/admin/hooks/:id/rotate`. Unknown fields are rejected. */
export const hookRotateSchema = z.strictObject({
  secret: secretSchema.optional(),
  overlapSeconds: z
    .int()
    .min(0)
    .max(604_800)
    .default(86_400)
    .describe(
      "How long the previous secret stays valid, from 0 to 604,800 seconds. Defaults to one day; 0 ends it immediately.",
    ),
});

/**
 * Body of `POST /api/v1/admin/hooks/:id/test`: a body as the platform would send it. A form is an object of its fields.
 */
export const hookTestSchema = z.strictObject({
  body: z.unknown().refine((body) => body !== undefined, { error: "is required", params: { code: "required" } }),
  headers: z.record(z.string(), z.string()).optional().describe("Headers used by the mapping or filter."),
});

/** A hook as shown to administrators, without its secret. */
export const hookItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  project: z.string().describe("Name of the hook's project."),
  url: z.string().describe("URL for the platform. If the hook has a secret in its path, the URL is shown without it."),
  preset: hookPresetSchema.nullable(),
  auth: hookAuthSchema,
  mapping: hookMappingSchema,
  filter: hookFilterSchema,
  previousSecretUntil: z.iso
    .datetime()
    .nullable()
    .describe("Until when the previous secret is also valid. Null if it is not."),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type HookItem = z.infer<typeof hookItemSchema>;

/** A new hook, or a hook with a rotated secret: the only response that contains a generated secret. */
export const hookSecretItem = hookItemSchema.extend({ secret: z.string().optional() });
export type HookSecretItem = z.infer<typeof hookSecretItem>;

/** Outcome of a body: a message, ignored by the filter, or failed. */
const hookOutcomeSchema = z.enum(["queued", "ignored", "failed"]);
export type HookOutcome = z.infer<typeof hookOutcomeSchema>;

const errorSchema = z.object({ pointer: z.string(), code: z.string(), detail: z.string() });

/** One of the most recent bodies of a hook. */
export const hookBodySchema = z.object({
  id: z.uuid(),
  receivedAt: z.iso.datetime(),
  contentType: z.string(),
  headers: z.record(z.string(), z.string()),
  sizeBytes: z.int(),
  body: z.string().describe("The body as text, truncated if long."),
  isCut: z.boolean(),
  outcome: hookOutcomeSchema,
  errors: z.array(errorSchema),
  eventId: z.string().nullable(),
  messageId: z.uuid().nullable().describe("ID of the created message. Null if none was created."),
  ticketId: z.uuid().nullable(),
  chatId: z.string().nullable(),
  tries: z.int().describe("Number of attempts."),
  triedAt: z.iso.datetime(),
});
export type HookBodyItem = z.infer<typeof hookBodySchema>;

/** Result of a mapping, without sending a message. */
export const hookTestResultSchema = z.object({
  outcome: z.enum(["mapped", "ignored", "failed"]),
  text: z.string().nullable(),
  chatId: z.string().nullable(),
  userId: z.string().nullable(),
  meta: z.record(z.string(), z.unknown()),
  webhookUrl: z.string().nullable(),
  eventId: z.string().nullable(),
  errors: z.array(errorSchema),
});
export type HookTestResult = z.infer<typeof hookTestResultSchema>;

/** Settings provided by a preset. */
export interface HookPresetDefaults {
  auth: HookAuth;
  mapping: HookMapping;
  filter: HookCondition[];
}
