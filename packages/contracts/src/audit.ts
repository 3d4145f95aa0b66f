import { z } from "zod";
import type { ListInput } from "./list-query.ts";
import { timeParameter } from "./time-parameter.ts";
import { countChars, wellFormedString } from "./well-formed.ts";

/** Bounds of the audit trail. */
export const AUDIT_LIMITS = {
  /** Characters of a filter. */
  filterMaxChars: 200,
  /** Days that one call over HTTP checks, and how many where nothing is said. */
  checkMaxDays: 31,
  /** Rows that one call over HTTP checks: some seconds. */
  checkMaxRows: 100_000,
} as const;

/** Something that was done, or refused. */
export const auditItemSchema = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  actor: z.string().describe("`key:<id>`, `operator:<id>`, `command-line`, `anonymous`, or a part of the service."),
  action: z.string().describe("Resource and verb, as in `agents.create`."),
  object: z
    .string()
    .nullable()
    .describe("What it was done to: an id, a channel, a model, or the route of a refused call."),
  project: z.string().nullable().describe("The name that the project had at that time."),
  result: z.string().describe("`ok`, `cancelled` where the caller has ended the call, or the code of the error."),
  requestId: z
    .string()
    .nullable()
    .describe("The `X-Request-Id` where it is a UUID; else the first 16 hexadecimal digits of its SHA-256."),
  count: z.int().describe("How many times, where one row stands for many."),
  network: z.string().nullable().describe("Where it came from: the /24 or /48, never the address."),
});
export type AuditItem = z.infer<typeof auditItemSchema>;

const filterText = wellFormedString.refine((text) => countChars(text) <= AUDIT_LIMITS.filterMaxChars, {
  error: `at most ${AUDIT_LIMITS.filterMaxChars} characters`,
  params: { code: "too_long" },
});

/** What the audit trail can be filtered by, each as it stands in the row. */
export const auditFilterSchema = z.object({
  actor: filterText.optional(),
  action: filterText.optional(),
  object: filterText.optional(),
  result: filterText.optional(),
  project: filterText.optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional(),
});

/** What is asked of the audit trail. Whoever takes it checks it with `auditFilterSchema`. */
export interface AuditListInput extends ListInput {
  /** Not known here: naming it is a fault. */
  q?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  object?: string | undefined;
  result?: string | undefined;
  /** Name of a project; only for administrators, who see all where it is absent. */
  project?: string | undefined;
  /** From this time on: RFC 3339, or a day (UTC). */
  from?: string | undefined;
  /** Before this time. */
  to?: string | undefined;
}

const PLACE = /^(\d{4}-\d{2}-\d{2}):(\d{1,9}):([0-9a-f]{64})$/;

/** A place in the chain, as a check tells it: day, number and SHA-256. */
export const auditPlaceSchema = z
  .string()
  .regex(PLACE, { error: "a head as a check has told it: day, number and 64 hexadecimal digits, with colons between" })
  .transform((text) => {
    const [, day = "", number = "", hash = ""] = PLACE.exec(text) ?? [];
    return { day, number: Number(number), hash };
  })
  .refine(({ day }) => z.iso.date().safeParse(day).success, { error: "a head begins with a day of the calendar" });

/** How a place is told. */
export function writeAuditPlace({ day, number, hash }: { day: string; number: number; hash: string }): string {
  return `${day}:${number}:${hash}`;
}

const dayParameter = z.iso.date({ error: "a day such as 2026-11-21" });

/** What of the chain is to be checked, checked itself. */
export const auditCheckInputSchema = z
  .object({
    from: dayParameter.optional(),
    to: dayParameter.optional(),
    after: auditPlaceSchema.optional(),
    expect: auditPlaceSchema.optional(),
  })
  .refine(({ from, after }) => from === undefined || after === undefined, {
    path: ["after"],
    error: "stands in the place of from",
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ["to"],
    error: "must not be before from",
  });

/** What of the chain is to be checked. Whoever takes it checks it with `auditCheckInputSchema`. */
export interface AuditCheckInput {
  /** The first day (`YYYY-MM-DD`, UTC). */
  from?: string | undefined;
  /** The last day. */
  to?: string | undefined;
  /** The `next` of an earlier check, in the place of `from`: the check goes on after that row. */
  after?: string | undefined;
  /** A head that an earlier check has told: its row must still be there and the same. */
  expect?: string | undefined;
}

/** What became of a check of the chain. */
export const auditCheckSchema = z.object({
  isIntact: z.boolean(),
  rows: z.int().describe("Rows that were found right."),
  from: z
    .string()
    .nullable()
    .describe("The first day that was checked; null for all from the beginning, or after `after`."),
  to: z.string().nullable().describe("The last one; null for all to the end."),
  head: z.string().nullable().describe("The last row that was found right: keep it elsewhere, for `expect`."),
  next: z
    .string()
    .nullable()
    .describe(
      "Where to go on, as `after`, since there are more rows than one call checks; null when all were checked.",
    ),
  fault: z
    .object({
      kind: z.enum(["changed", "missing", "unlinked", "truncated", "added", "unexpected"]),
      day: z.string(),
      number: z.int().describe("Number of the row in its day."),
      id: z.string().nullable().describe("Its id, where it is there."),
      detail: z.string(),
    })
    .nullable()
    .describe("The first place where the chain is broken."),
});
export type AuditCheckItem = z.infer<typeof auditCheckSchema>;
