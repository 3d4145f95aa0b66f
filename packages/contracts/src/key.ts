import { z } from "zod";
import {
  SCOPE_JSON_SCHEMA,
  createdAnswer,
  itemAnswer,
  listAnswer,
  listQuery,
  routesAt,
  scopeSchema,
} from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { projectNameSchema } from "./project.ts";
import { countChars, hasControlCharacters, wellFormedString } from "./limits.ts";

/** Limits of API keys. */
export const KEY_LIMITS = {
  /** Maximum characters (Unicode code points) of a key's name. */
  nameMaxChars: 100,
  /** Maximum number of listed scopes, including duplicates. */
  scopesMaxCount: 100,
  /** Maximum rate limit: requests per minute from one address. */
  rateLimitMax: 1_000_000,
  /** Minimum and maximum characters of an imported key (service document, section 2.6). */
  importedMinChars: 16,
  importedMaxChars: 512,
  /** Duration for which a rotated key stays valid: one day by default, at most a week. */
  overlapDefaultSeconds: 86_400,
  overlapMaxSeconds: 604_800,
} as const;

/** Latest time that RFC 3339 can represent. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** Control characters, line separators and paragraph separators. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

const keyNameSchema = wellFormedString
  .refine((name) => name.trim() !== "", {
    error: "must not be empty or only whitespace",
    params: { code: "too_short" },
  })
  .refine((name) => countChars(name) <= KEY_LIMITS.nameMaxChars, {
    error: `must have at most ${KEY_LIMITS.nameMaxChars} characters`,
    params: { code: "too_long" },
  })
  .refine((name) => !hasControlCharacters(name), { error: "must not contain control characters" })
  .meta({ minLength: 1, maxLength: KEY_LIMITS.nameMaxChars, pattern: "\\S" });

// The length is checked first: a long list of invalid scopes is one error, not thousands.
const keyScopesSchema = z
  .array(z.unknown())
  .min(1, { error: "must have at least 1 scope" })
  .max(KEY_LIMITS.scopesMaxCount, { error: `must have at most ${KEY_LIMITS.scopesMaxCount} scopes` })
  .pipe(z.array(scopeSchema))
  .transform((scopes) => [...new Set(scopes)])
  .meta({ items: SCOPE_JSON_SCHEMA });

const expiresAtSchema = z.iso
  .datetime({ offset: true, error: "must be an RFC 3339 time such as 2030-01-31T12:00:00Z" })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() > Date.now(), { error: "must be in the future", params: { code: "past" } })
  .refine((time) => time.getTime() <= LAST_TIME_MS, { error: "must not be later than the year 9999 in UTC" });

const importedKeySchema = wellFormedString
  .refine((key) => countChars(key) >= KEY_LIMITS.importedMinChars, {
    error: `must have at least ${KEY_LIMITS.importedMinChars} characters`,
    params: { code: "too_short" },
  })
  .refine((key) => countChars(key) <= KEY_LIMITS.importedMaxChars, {
    error: `must have at most ${KEY_LIMITS.importedMaxChars} characters`,
    params: { code: "too_long" },
  })
  .refine((key) => !UNPRINTABLE.test(key), { error: "must contain only printable characters" })
  // HTTP trims header values, so such a key could never be sent.
  .refine((key) => key.trim() === key, { error: "must not start or end with whitespace" })
  .meta({ minLength: KEY_LIMITS.importedMinChars, maxLength: KEY_LIMITS.importedMaxChars });

/** Body of `POST /api/v1/admin/keys`. Unknown fields are rejected. */
export const keyInputSchema = z.strictObject({
  name: keyNameSchema,
  /** `admin:*` or `resource:action`. Duplicates are ignored. */
  scopes: keyScopesSchema,
  /** Project that the key is bound to. Defaults to `default`. A key with `admin:*` is bound to none. */
  project: projectNameSchema.optional(),
  /** RFC 3339, in the future. Omitted: the key never expires. */
  expiresAt: expiresAtSchema.optional(),
  /** Requests per minute from one address. Null for no limit; omitted for the service's default. */
  rateLimit: z.int().min(1).max(KEY_LIMITS.rateLimitMax).nullable().optional(),
  /** An existing key to import unchanged. */
  key: importedKeySchema.optional(),
});
export type KeyInput = z.input<typeof keyInputSchema>;

/** Body of `POST /api/v1/admin/keys/:id/rotate`. Unknown fields are rejected. */
export const rotateInputSchema = z.strictObject({
  /** Duration for which the old key stays valid; 0 ends it immediately. */
  overlapSeconds: z.int().min(0).max(KEY_LIMITS.overlapMaxSeconds).default(KEY_LIMITS.overlapDefaultSeconds),
});

/** An API key as shown to administrators, without the key itself. */
export const keyItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string().describe("First characters of the key, to distinguish keys."),
  scopes: z.array(scopeSchema),
  project: z
    .string()
    .nullable()
    .describe("Name of the project that the key is bound to. Null for an administrator's key."),
  createdAt: z.iso.datetime(),
  createdBy: z.string().describe("Creator: `key:<id>`, or the part of the service that created it."),
  expiresAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable().describe("Precise to the minute."),
  revokedAt: z.iso.datetime().nullable(),
  rateLimit: z
    .int()
    .nullable()
    .optional()
    .describe("Requests per minute from one address. Null for no limit; absent for the service's default."),
});
export type KeyItem = z.infer<typeof keyItemSchema>;

const route = routesAt("Keys", "/api/v1/admin/keys");

const newKeySchema = keyItemSchema.extend({
  key: z.string().optional().describe("The key itself. Shown only once. Absent for imported keys."),
});

/** API keys (service document, section 4.4). */
export const keyEndpoints = {
  listKeys: {
    ...route("GET", "admin:*", "List the keys of all projects, newest first"),
    query: listQuery,
    answers: [listAnswer(keyItemSchema)],
  },
  createKey: {
    ...route("POST", "admin:*", "Create or import a key"),
    body: { schema: keyInputSchema },
    answers: [createdAnswer(newKeySchema)],
    example: { body: { name: "website", scopes: ["messages:write", "messages:read"] } },
  },
  getKey: {
    ...route("GET /{id}", "admin:*", "Get a key"),
    answers: [itemAnswer(keyItemSchema)],
  },
  revokeKey: {
    ...route("DELETE /{id}", "admin:*", "Revoke a key"),
    answers: [itemAnswer(keyItemSchema)],
  },
  rotateKey: {
    ...route("POST /{id}/rotate", "admin:*", "Rotate a key"),
    body: { schema: rotateInputSchema, isOptional: true },
    answers: [createdAnswer(newKeySchema, "/api/v1/admin/keys/{id}")],
    example: { body: { overlapSeconds: 3600 } },
  },
} as const satisfies Record<string, Endpoint>;
