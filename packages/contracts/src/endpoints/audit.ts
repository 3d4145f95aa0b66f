import { z } from "zod";
import { AUDIT_LIMITS, auditCheckSchema, auditItemSchema } from "../audit.ts";
import { itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Audit";
const PATH = "/api/v1/admin/audit";

const exactly = (what: string) => z.string().optional().describe(what);

/** The audit log. */
export const auditEndpoints = {
  listAuditEvents: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List audit events, newest first",
    description:
      "A key sees the events of its own project. An administrator's key sees the events of all projects and those without a project.",
    scope: "audit:read",
    query: listQuerySchema.omit({ q: true }).extend({
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
    method: "GET",
    path: `${PATH}/verify`,
    tag,
    summary: "Verify the integrity of the audit log",
    description: `Checks that no row was changed, deleted, inserted or moved. Checks at most ${AUDIT_LIMITS.checkMaxDays} days (by default the most recent ones) and ${AUDIT_LIMITS.checkMaxRows} rows; \`next\` continues the check. To check the whole log, use the command line: svc audit verify.`,
    scope: "admin:*",
    query: z.object({
      from: exactly("First day (UTC), as in `2026-11-21`."),
      to: exactly("Last day (UTC). Defaults to the end of the log."),
      after: exactly("The `next` of an earlier check, instead of `from`. Continues after that row."),
      expect: exactly("A `head` from an earlier check, stored elsewhere. Its row must still exist, unchanged."),
    }),
    answers: [itemAnswer(auditCheckSchema, { when: "The check is complete. `isIntact` contains the result." })],
  },
} as const satisfies Record<string, Endpoint>;
