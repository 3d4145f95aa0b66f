import { z } from "zod";
import { itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { timeParameter } from "./list-query.ts";
import { countChars, wellFormedString } from "./limits.ts";

/** Limits of the audit log. */
export const AUDIT_LIMITS = {
  /** Maximum characters of a filter. */
  filterMaxChars: 200,
  /** Maximum number of days that one HTTP request checks, and the default. */
  checkMaxDays: 31,
  /** Maximum number of rows that one HTTP request checks; this takes a few seconds. */
  checkMaxRows: 100_000,
} as const;

/** An action that was performed or denied. */
export const auditItemSchema = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  actor: z.string().describe("`key:<id>`, `operator:<id>`, `command-line`, `anonymous`, or a part of the service."),
  actorName: z
    .string()
    .nullable()
    .describe("Current name of the operator or key. Null for other actors and if it no longer exists."),
  action: z.string().describe("Resource and verb, as in `agents.create`."),
  object: z
    .string()
    .nullable()
    .describe("Object of the action: an ID, a channel, a model, or the route of a denied request."),
  objectName: z
    .string()
    .nullable()
    .describe("Current name of the object. Null if it has none, no longer exists or belongs to another project."),
  project: z.string().nullable().describe("Name of the project at the time of the action."),
  result: z.string().describe("`ok`, `cancelled` if the client closed the connection, or an error code."),
  requestId: z
    .string()
    .nullable()
    .describe("The `X-Request-Id` if it is a UUID; otherwise the first 16 hex digits of its SHA-256."),
  count: z.int().describe("Number of identical events that this row represents."),
  network: z.string().nullable().describe("Network of the client: a /24 or /48, never the full address."),
});
export type AuditItem = z.infer<typeof auditItemSchema>;

const filterText = wellFormedString.refine((text) => countChars(text) <= AUDIT_LIMITS.filterMaxChars, {
  error: `must have at most ${AUDIT_LIMITS.filterMaxChars} characters`,
  params: { code: "too_long" },
});

/** Filters of the audit log. Each one matches the field of the row exactly. */
export const auditFilterSchema = z.object({
  actor: filterText.optional(),
  action: filterText.optional(),
  object: filterText.optional(),
  result: filterText.optional(),
  project: filterText.optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional(),
});

const POSITION = /^(\d{4}-\d{2}-\d{2}):(\d{1,9}):([0-9a-f]{64})$/;

/** Position in the chain, as returned by a check: date, number and SHA-256. */
export const auditPositionSchema = z
  .string()
  .regex(POSITION, {
    error: "must be a head as returned by a check: date, number and 64 hex digits, separated by colons",
  })
  .transform((text) => {
    const [, day = "", number = "", hash = ""] = POSITION.exec(text) ?? [];
    return { day, number: Number(number), hash };
  })
  .refine(({ day }) => z.iso.date().safeParse(day).success, { error: "must start with a valid date" });

/** Returns a position as text. */
export function writeAuditPosition({ day, number, hash }: { day: string; number: number; hash: string }): string {
  return `${day}:${number}:${hash}`;
}

const dayParameter = z.iso.date({ error: "must be a date such as 2026-11-21" });

/** Validated range of the chain to check. */
export const auditCheckInputSchema = z
  .object({
    from: dayParameter.optional(),
    to: dayParameter.optional(),
    after: auditPositionSchema.optional(),
    expect: auditPositionSchema.optional(),
  })
  .refine(({ from, after }) => from === undefined || after === undefined, {
    path: ["after"],
    error: "cannot be combined with from",
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ["to"],
    error: "must not be earlier than from",
  });

/** Result of a check of the chain. */
export const auditCheckSchema = z.object({
  isIntact: z.boolean(),
  rows: z.int().describe("Number of valid rows."),
  from: z
    .string()
    .nullable()
    .describe("First day of the check. Null if it started at the beginning of the chain, or after `after`."),
  to: z.string().nullable().describe("Last day of the check. Null if it ran to the end of the chain."),
  head: z.string().nullable().describe("Last valid row. Store it elsewhere and pass it as `expect` in a later check."),
  next: z
    .string()
    .nullable()
    .describe(
      "Pass it as `after` to continue, because there are more rows than one request checks. Null if all rows were checked.",
    ),
  fault: z
    .object({
      kind: z.enum(["changed", "missing", "unlinked", "truncated", "added", "unexpected"]),
      day: z.string(),
      number: z.int().describe("Number of the row within its day."),
      id: z.string().nullable().describe("ID of the row, if it exists."),
      detail: z.string(),
    })
    .nullable()
    .describe("First position at which the chain is broken."),
});
export type AuditCheckItem = z.infer<typeof auditCheckSchema>;

const route = routesAt("Audit", "/api/v1/admin/audit");

const exactly = (what: string) => z.string().optional().describe(what);

/** The audit log. */
export const auditEndpoints = {
  listAuditEvents: {
    ...route("GET", "audit:read", "List audit events, newest first"),
    description:
      "A key sees the events of its own project. An administrator's key sees the events of all projects and those without a project.",
    query: listQuery.omit({ q: true }).extend({
      actor: exactly("Actor, as in `key:01890a5d-ac96-774b-bcce-b302099a8057`, `command-line` or `anonymous`."),
      action: exactly("Action, as in `agents.create`, `key.use` or `http.denied`."),
      object: exactly("Object of the action: an ID, a channel, a model, or a route."),
      result: exactly("`ok`, `cancelled`, or an error code."),
      project: exactly("Project name. Projects other than the key's require `admin:*`."),
      from: exactly("Start of the period, inclusive: RFC 3339, or a date (UTC)."),
      to: exactly("End of the period, exclusive."),
    }),
    answers: [listAnswer(auditItemSchema)],
    example: { query: { action: "keys.create", limit: "20" } },
  },
  verifyAudit: {
    ...route("GET /verify", "admin:*", "Verify the integrity of the audit log"),
    description: `Checks that no row was changed, deleted, inserted or moved. Checks at most ${AUDIT_LIMITS.checkMaxDays} days (by default the most recent ones) and ${AUDIT_LIMITS.checkMaxRows} rows; \`next\` continues the check. To check the whole log, use the command line: svc audit verify.`,
    query: z.object({
      from: exactly("First day (UTC), as in `2026-11-21`."),
      to: exactly("Last day (UTC). Defaults to the end of the log."),
      after: exactly("The `next` of an earlier check, instead of `from`. Continues after that row."),
      expect: exactly("A `head` from an earlier check, stored elsewhere. Its row must still exist, unchanged."),
    }),
    answers: [itemAnswer(auditCheckSchema, { when: "The check is complete. `isIntact` contains the result." })],
  },
} as const satisfies Record<string, Endpoint>;
