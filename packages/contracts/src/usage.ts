import { z } from "zod";
import { routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { projectNameSchema } from "./project.ts";

/** Limits of a report of usage. */
export const USAGE_LIMITS = {
  /** Default number of days, today included. */
  defaultDays: 30,
  maxDays: 366,
  /** Maximum number of rows, one for each project and day. */
  maxRows: 50_000,
} as const;

/** Usage of a project on one day. */
export const usageDaySchema = z.object({
  day: z.iso.date().describe("Day (UTC)."),
  project: z.string(),
  projectId: z.uuid(),
  messages: z
    .int()
    .describe("Messages that were accepted. A repeated request counts once; deleting a message changes nothing."),
  documents: z.int().describe("Documents that were added. Updates of a document do not count."),
  storedBytes: z.int().describe("Stored content at the end of the day, or now for today."),
  sockets: z.int().describe("Maximum widget sockets that were open at the same time, measured every two seconds."),
  modelTokens: z.int().describe("Tokens of language models, input and output together."),
});
export type UsageDay = z.infer<typeof usageDaySchema>;

const date = z.iso.date({ error: "must be a date such as 2026-11-21" });

/** Query of a report of usage, with its period filled in. */
export const usageInputSchema = (now: Date) =>
  z
    .strictObject({ from: date.optional(), to: date.optional(), project: projectNameSchema.optional() })
    .transform(({ to = now.toISOString().slice(0, 10), project, ...given }) => {
      const start = Date.parse(to) - (USAGE_LIMITS.defaultDays - 1) * 86_400_000;
      return { from: given.from ?? new Date(start).toISOString().slice(0, 10), to, project };
    })
    .refine(({ from, to }) => from <= to, { path: ["from"], error: "must not be after `to`" })
    .refine(({ from, to }) => Date.parse(to) - Date.parse(from) < USAGE_LIMITS.maxDays * 86_400_000, {
      path: ["from"],
      error: `must be at most ${USAGE_LIMITS.maxDays} days before \`to\``,
    });
export type UsageInput = z.input<ReturnType<typeof usageInputSchema>>;

const query = z.object({
  from: z.string().optional().describe("First day (UTC). Defaults to 30 days before `to`."),
  to: z.string().optional().describe("Last day (UTC), inclusive. Defaults to today."),
  project: z.string().optional().describe("Name of the only project. Defaults to all projects."),
});

const route = routesAt("Usage", "/api/v1/admin/usage");

/** Usage of projects. */
export const usageEndpoints = {
  getUsage: {
    ...route("GET", "admin:*", "Get usage by project and day"),
    description: `Returns one row for each project and day, the newest day first; at most ${USAGE_LIMITS.maxDays} days, and the newest ${USAGE_LIMITS.maxRows} rows. Counts are exact for what was accepted.`,
    query,
    answers: [
      {
        status: 200,
        when: "The usage.",
        schema: z.object({ ok: z.literal(true), from: z.iso.date(), to: z.iso.date(), items: z.array(usageDaySchema) }),
      },
    ],
    example: { query: { from: "2026-11-01", to: "2026-11-30" } },
  },
  exportUsage: {
    ...route("GET /csv", "admin:*", "Get usage by project and day as CSV"),
    description:
      "The same rows as a file with the columns `day`, `project`, `projectId`, `messages`, `documents`, `storedBytes`, `sockets` and `modelTokens`.",
    query,
    answers: [
      {
        status: 200,
        when: "The rows as CSV (RFC 4180), with a header.",
        schema: null,
        mediaType: "text/csv",
        headers: { "Content-Disposition": "`attachment`, with the file name." },
      },
    ],
    example: { query: { from: "2026-11-01", to: "2026-11-30" } },
  },
} as const satisfies Record<string, Endpoint>;
