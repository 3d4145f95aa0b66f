import { z } from "zod";
import { LIMITS } from "./limits.ts";
import {
  countChars,
  hasControlCharacters,
  isMalformedText,
  lineUpTo,
  textUpTo,
  wellFormedString,
} from "./well-formed.ts";

/** Bounds of inbound hooks. Characters are Unicode code points. */
export const HOOK_LIMITS = {
  nameMaxChars: 100,
  /** Characters of a template, and of a JSONPath in it. */
  templateMaxChars: 4_000,
  pathMaxChars: 500,
  /** Templates of one field, of which the first that finds something counts. */
  alternativesMaxCount: 8,
  /** JSONPaths of one mapping with its filter. */
  pathsMaxCount: 100,
  metaFieldsMaxCount: 50,
  metaNameMaxChars: 100,
  /** Conditions of a filter, and values that one of them names. */
  conditionsMaxCount: 10,
  valuesMaxCount: 50,
  valueMaxChars: 500,
  /** Characters of a secret that somebody brings, and of the parts of an HMAC header. */
  secretMinChars: 16,
  secretMaxChars: 512,
  headerMaxChars: 100,
  prefixMaxChars: 50,
  /** Characters of an event's id. */
  eventIdMaxChars: 255,
  /** Bytes of a body. */
  bodyMaxBytes: LIMITS.bodyMaxBytes,
  /** How deep a body may nest. */
  bodyMaxDepth: 100,
  /** Fields of a form. */
  formFieldsMaxCount: 1_000,
  /** Bodies of one hook that are kept, for how long, and how many characters of each a list shows. */
  keptBodies: 20,
  keptDays: 30,
  shownBodyMaxChars: 16_384,
  /** How long a repeat of an event is known for one. */
  eventDays: 7,
  /** How far the time of a signature may be from ours, in seconds. */
  toleranceSeconds: 300,
} as const;

/** Headers that a mapping can use, as `$headers['x-github-event']`: those in which platforms say what happened. */
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

/** How a call proves that it comes from the hook's sender, where all that matters is fixed by the platform. */
export const HOOK_SCHEMES = ["path", "github", "stripe", "standard-webhooks", "shopify", "typeform"] as const;

/** A name of a header (RFC 9110, section 5.1), in lower case. */
const headerNameSchema = z
  .string()
  .max(HOOK_LIMITS.headerMaxChars, { error: `at most ${HOOK_LIMITS.headerMaxChars} characters` })
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: "a name of a header, such as X-Signature" })
  .transform((name) => name.toLowerCase());

/** What has to be known of a plain HMAC of the body. */
const hmacSchema = z.strictObject({
  type: z.literal("hmac"),
  header: headerNameSchema.describe("Header that carries the signature."),
  algorithm: z.enum(["sha256", "sha1", "sha512"], { error: "sha256, sha1 or sha512" }).default("sha256"),
  encoding: z.enum(["hex", "base64"], { error: "hex or base64" }).default("hex"),
  prefix: z
    .string()
    .max(HOOK_LIMITS.prefixMaxChars, { error: `at most ${HOOK_LIMITS.prefixMaxChars} characters` })
    .regex(/^[\x21-\x7e]*$/, { error: "printable ASCII without spaces" })
    .default("")
    .describe("What stands before the signature in the header, such as `sha256=`."),
});

/**
 * How a call proves where it comes from: `path` by a secret at the end of the address, which the service makes; the
 * others by an HMAC of the raw body in a header, as the platform of that name signs, or as `hmac` describes.
 */
export const hookAuthSchema = z.discriminatedUnion(
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
  { error: `an object whose type is one of ${HOOK_SCHEMES.join(", ")}, hmac` },
);
export type HookAuth = z.infer<typeof hookAuthSchema>;

/** Text in which `{{path}}` stands for what a JSONPath finds in the body. */
const templateTextSchema = textUpTo(HOOK_LIMITS.templateMaxChars).min(1, { error: "at least 1 character" });

/** A template, or several of which the first that finds all of its paths counts. */
export const hookTemplateSchema = z.union(
  [
    templateTextSchema,
    z
      .array(templateTextSchema)
      .min(1, { error: "at least 1 template" })
      .max(HOOK_LIMITS.alternativesMaxCount, { error: `at most ${HOOK_LIMITS.alternativesMaxCount} templates` }),
  ],
  {
    error: `a text of 1 to ${HOOK_LIMITS.templateMaxChars} characters, or a list of at most ${HOOK_LIMITS.alternativesMaxCount}`,
  },
);
export type HookTemplate = z.infer<typeof hookTemplateSchema>;

/** Names in `meta` that the service sets itself. */
const RESERVED_META = new Set(["origin", "hookId"]);

const metaNameFault = (name: string): string | null => {
  if (RESERVED_META.has(name)) return "is set by the service; choose another name";
  if (name === "" || countChars(name) > HOOK_LIMITS.metaNameMaxChars || hasControlCharacters(name))
    return `a name has 1 to ${HOOK_LIMITS.metaNameMaxChars} characters and no control characters`;
  return isMalformedText(name) || name === "__proto__" ? "cannot be a name here" : null;
};

const hookMetaSchema = z.record(z.string(), hookTemplateSchema).check((context) => {
  const names = Object.keys(context.value);
  const fault = (path: PropertyKey[], message: string) =>
    context.issues.push({ code: "custom", message, path, input: context.value });
  if (names.length > HOOK_LIMITS.metaFieldsMaxCount) fault([], `at most ${HOOK_LIMITS.metaFieldsMaxCount} fields`);
  for (const name of names) {
    const found = metaNameFault(name);
    if (found !== null) fault([name], found);
  }
});

const mappingFields = {
  text: hookTemplateSchema.describe("The message."),
  chatId: hookTemplateSchema
    .nullable()
    .optional()
    .describe("The chat that it belongs to; where none is mapped, each body is a chat of its own."),
  userId: hookTemplateSchema.nullable().optional(),
  meta: hookMetaSchema.nullable().optional(),
  webhookUrl: hookTemplateSchema
    .nullable()
    .optional()
    .describe("Where the answer goes by callback; where none is found, it waits in the drain."),
  eventId: hookTemplateSchema
    .nullable()
    .optional()
    .describe("What is the same in all repeats of an event, which then are one message."),
};

/** What becomes of a body: each field a template. */
export const hookMappingSchema = z.strictObject(mappingFields);
export type HookMapping = z.infer<typeof hookMappingSchema>;

/** A hook as far as its mapping goes: faults of it point into `/mapping`. */
export const mappedHookSchema = z.object({ mapping: hookMappingSchema });

/** Fields of a mapping that are laid over another one; null takes a field away. */
export const hookMappingChangeSchema = z.strictObject({ ...mappingFields, text: mappingFields.text.optional() });
export type HookMappingChange = z.infer<typeof hookMappingChangeSchema>;

/** A value that a condition compares with. */
const scalarSchema = z.union([wellFormedString.max(HOOK_LIMITS.valueMaxChars), z.number(), z.boolean(), z.null()], {
  error: `a text of at most ${HOOK_LIMITS.valueMaxChars} characters, a number, true, false or null`,
});
const scalarsSchema = z.union(
  [
    scalarSchema,
    z
      .array(scalarSchema)
      .min(1, { error: "at least 1 value" })
      .max(HOOK_LIMITS.valuesMaxCount, { error: `at most ${HOOK_LIMITS.valuesMaxCount} values` }),
  ],
  { error: "a text, a number, true, false, null, or a list of these" },
);

const pathSchema = wellFormedString
  .min(1, { error: "at least 1 character" })
  .max(HOOK_LIMITS.pathMaxChars, { error: `at most ${HOOK_LIMITS.pathMaxChars} characters` });

/** One condition: what the path finds is one of `equals`, and none of `not`; with neither, it finds something. */
export const hookConditionSchema = z.strictObject({
  path: pathSchema,
  equals: scalarsSchema.optional(),
  not: scalarsSchema.optional(),
});
export type HookCondition = z.infer<typeof hookConditionSchema>;

/** Conditions that a body has to meet, all of them; what does not is ignored. */
export const hookFilterSchema = z
  .array(hookConditionSchema)
  .max(HOOK_LIMITS.conditionsMaxCount, { error: `at most ${HOOK_LIMITS.conditionsMaxCount} conditions` });

export const hookPresetSchema = z.enum(["github", "stripe", "typeform", "shopify", "form"], {
  error: "one of github, stripe, typeform, shopify, form",
});
export type HookPreset = z.infer<typeof hookPresetSchema>;

const hookNameSchema = lineUpTo(HOOK_LIMITS.nameMaxChars);

const secretSchema = z
  .string()
  .regex(/^[\x21-\x7e]*$/, { error: "printable ASCII without spaces" })
  .min(HOOK_LIMITS.secretMinChars, { error: `at least ${HOOK_LIMITS.secretMinChars} characters` })
  .max(HOOK_LIMITS.secretMaxChars, { error: `at most ${HOOK_LIMITS.secretMaxChars} characters` });

/** Body of `POST /api/v1/admin/hooks`. What is left out comes from the preset. Unknown fields are faults. */
export const hookInputSchema = z.strictObject({
  name: hookNameSchema,
  preset: hookPresetSchema.optional(),
  auth: hookAuthSchema.optional(),
  secret: secretSchema
    .optional()
    .describe("The secret that the platform has made; where none is given the service makes one."),
  mapping: hookMappingChangeSchema.optional(),
  filter: hookFilterSchema.optional(),
});
export type HookInput = z.input<typeof hookInputSchema>;

/** Body of `PATCH /api/v1/admin/hooks/:id`: fields of the mapping are laid over it, the filter is replaced. */
export const hookChangeSchema = z.strictObject({
  name: hookNameSchema.optional(),
  auth: hookAuthSchema.optional(),
  mapping: hookMappingChangeSchema.optional(),
  filter: hookFilterSchema.optional(),
});
export type HookChange = z.input<typeof hookChangeSchema>;

/** Body of `POST /api/v1/admin/hooks/:id/rotate`. Unknown fields are faults. */
export const hookRotateSchema = z.strictObject({
  secret: secretSchema.optional(),
  overlapSeconds: z
    .int()
    .min(0)
    .max(604_800)
    .default(86_400)
    .describe("How long the secret before counts, 0 to 604,800; a day where absent, 0 ends it at once."),
});
export type HookRotateInput = z.input<typeof hookRotateSchema>;

/** Body of `POST /api/v1/admin/hooks/:id/test`: what a platform would send; a form as an object of its fields. */
export const hookTestSchema = z.strictObject({
  body: z.unknown().refine((body) => body !== undefined, { error: "is required", params: { code: "required" } }),
  headers: z.record(z.string(), z.string()).optional().describe("Headers that the mapping or filter uses."),
});
export type HookTestInput = z.input<typeof hookTestSchema>;

/** A hook as the administration shows it. Its secret is no part of it. */
export const hookItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  project: z.string().describe("Name of its project."),
  url: z.string().describe("Where the platform posts to; of a hook with a secret in its path, without that secret."),
  preset: hookPresetSchema.nullable(),
  auth: hookAuthSchema,
  mapping: hookMappingSchema,
  filter: hookFilterSchema,
  previousSecretUntil: z.iso
    .datetime()
    .nullable()
    .describe("Until when the secret before the present one counts too; null when it does not."),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type HookItem = z.infer<typeof hookItemSchema>;

/** A hook that was made or got a new secret: the only answer that shows a secret, where the service has made it. */
export const hookSecretItemSchema = hookItemSchema.extend({ secret: z.string().optional() });
export type HookSecretItem = z.infer<typeof hookSecretItemSchema>;

/** What became of a body: a message, nothing since the filter does not want it, or nothing since it is faulty. */
export const hookOutcomeSchema = z.enum(["queued", "ignored", "failed"]);
export type HookOutcome = z.infer<typeof hookOutcomeSchema>;

const faultSchema = z.object({ pointer: z.string(), code: z.string(), detail: z.string() });

/** One of the last bodies of a hook. */
export const hookBodySchema = z.object({
  id: z.uuid(),
  receivedAt: z.iso.datetime(),
  contentType: z.string(),
  headers: z.record(z.string(), z.string()),
  sizeBytes: z.int(),
  body: z.string().describe("The body as text, cut where it is long."),
  isCut: z.boolean(),
  outcome: hookOutcomeSchema,
  errors: z.array(faultSchema),
  eventId: z.string().nullable(),
  messageId: z.uuid().nullable().describe("Of its message; null where it has become none."),
  ticketId: z.uuid().nullable(),
  chatId: z.string().nullable(),
  tries: z.int().describe("Times that it was tried."),
  triedAt: z.iso.datetime(),
});
export type HookBodyItem = z.infer<typeof hookBodySchema>;

/** What a mapping makes of a body, without sending it. */
export const hookTestResultSchema = z.object({
  outcome: z.enum(["mapped", "ignored", "failed"]),
  text: z.string().nullable(),
  chatId: z.string().nullable(),
  userId: z.string().nullable(),
  meta: z.record(z.string(), z.unknown()),
  webhookUrl: z.string().nullable(),
  eventId: z.string().nullable(),
  errors: z.array(faultSchema),
});
export type HookTestResult = z.infer<typeof hookTestResultSchema>;

/** What a preset stands for. */
export interface HookPresetDefaults {
  auth: HookAuth;
  mapping: HookMapping;
  filter: HookCondition[];
}
