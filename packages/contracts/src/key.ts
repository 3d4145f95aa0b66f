import { z } from "zod";
import { projectNameSchema } from "./project.ts";
import { SCOPE_JSON_SCHEMA, scopeSchema } from "./scopes.ts";
import { countChars, hasControlCharacters, wellFormedString } from "./well-formed.ts";

/** Bounds of API keys. */
export const KEY_LIMITS = {
  /** Characters (Unicode code points) of a key's name. */
  nameMaxChars: 100,
  /** Scopes that may be listed, repeated ones included. */
  scopesMaxCount: 100,
  /** Requests a minute from one address. */
  rateLimitMax: 1_000_000,
  /** Characters of a key that is brought from elsewhere (service document, section 2.6). */
  importedMinChars: 16,
  importedMaxChars: 512,
  /** How long a rotated key works on: a day where nothing is said, at most a week. */
  overlapDefaultSeconds: 86_400,
  overlapMaxSeconds: 604_800,
} as const;

/** The last moment that RFC 3339 can name. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** Control characters, line and paragraph separators. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

const keyNameSchema = wellFormedString
  .refine((name) => name.trim() !== "", {
    error: "at least 1 character that is not white space",
    params: { code: "too_short" },
  })
  .refine((name) => countChars(name) <= KEY_LIMITS.nameMaxChars, {
    error: `at most ${KEY_LIMITS.nameMaxChars} characters`,
    params: { code: "too_long" },
  })
  .refine((name) => !hasControlCharacters(name), { error: "must not contain control characters" })
  .meta({ minLength: 1, maxLength: KEY_LIMITS.nameMaxChars, pattern: "\\S" });

// Counted before it is looked into: a long list of wrong scopes is one fault, not thousands.
const keyScopesSchema = z
  .array(z.unknown())
  .min(1, { error: "at least 1 scope" })
  .max(KEY_LIMITS.scopesMaxCount, { error: `at most ${KEY_LIMITS.scopesMaxCount} scopes` })
  .pipe(z.array(scopeSchema))
  .transform((scopes) => [...new Set(scopes)])
  .meta({ items: SCOPE_JSON_SCHEMA });

const expiresAtSchema = z.iso
  .datetime({ offset: true, error: "a time as RFC 3339 has it, such as 2030-01-31T12:00:00Z" })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() > Date.now(), { error: "must be in the future", params: { code: "past" } })
  .refine((time) => time.getTime() <= LAST_TIME_MS, { error: "at most the year 9999 in UTC" });

const importedKeySchema = wellFormedString
  .refine((key) => countChars(key) >= KEY_LIMITS.importedMinChars, {
    error: `at least ${KEY_LIMITS.importedMinChars} characters`,
    params: { code: "too_short" },
  })
  .refine((key) => countChars(key) <= KEY_LIMITS.importedMaxChars, {
    error: `at most ${KEY_LIMITS.importedMaxChars} characters`,
    params: { code: "too_long" },
  })
  .refine((key) => !UNPRINTABLE.test(key), { error: "must consist of printable characters" })
  // A header loses the white space at its ends, so such a key could never be sent.
  .refine((key) => key.trim() === key, { error: "must not begin or end with white space" })
  .meta({ minLength: KEY_LIMITS.importedMinChars, maxLength: KEY_LIMITS.importedMaxChars });

/** What a new API key should be. Whoever takes it checks it with `keyInputSchema`. */
export interface KeyInput {
  /** 1 to 100 characters, for people. */
  name: string;
  /** Scopes of the grammar `admin:*` or `resource:action`; repeated ones count once. */
  scopes: readonly string[];
  /** Name of the project that it is bound to; `default` where absent. A key with `admin:*` is bound to none. */
  project?: string | undefined;
  /** RFC 3339, in the future; never where absent. */
  expiresAt?: string | undefined;
  /** Requests a minute from one address; null for no limit, the service's default where absent. */
  rateLimit?: number | null | undefined;
  /** A key that exists elsewhere and is to be taken as it is: 16 to 512 printable characters. */
  key?: string | undefined;
}

/** Body of `POST /api/v1/admin/keys`, see `KeyInput`. Unknown fields are faults. */
export const keyInputSchema = z.strictObject({
  name: keyNameSchema,
  scopes: keyScopesSchema,
  project: projectNameSchema.optional(),
  expiresAt: expiresAtSchema.optional(),
  rateLimit: z.int().min(1).max(KEY_LIMITS.rateLimitMax).nullable().optional(),
  key: importedKeySchema.optional(),
});

/** What is asked of a rotation. */
export interface RotateInput {
  /** How long the old key works on, 0 to 604,800; a day where absent, 0 ends it at once. */
  overlapSeconds?: number | undefined;
}

/** Body of `POST /api/v1/admin/keys/:id/rotate`. Unknown fields are faults. */
export const rotateInputSchema = z.strictObject({
  overlapSeconds: z.int().min(0).max(KEY_LIMITS.overlapMaxSeconds).default(KEY_LIMITS.overlapDefaultSeconds),
});

/** An API key as the administration shows it. The key itself is no part of it. */
export const keyItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  prefix: z.string().describe("First characters of the key, so that people can tell keys apart."),
  scopes: z.array(scopeSchema),
  project: z.string().nullable().describe("Name of the project that it is bound to; null for an administrator's key."),
  createdAt: z.iso.datetime(),
  createdBy: z.string().describe("Who made it: `key:<id>`, or the part of the service that did."),
  expiresAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable().describe("To the minute."),
  revokedAt: z.iso.datetime().nullable(),
  rateLimit: z
    .int()
    .nullable()
    .optional()
    .describe("Requests a minute from one address; null for none, absent for the default of the service."),
});
export type KeyItem = z.infer<typeof keyItemSchema>;
