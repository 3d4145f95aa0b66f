import { z } from "zod";
import { AUDIT_LIMITS, auditCheckSchema, auditItemSchema } from "../audit.ts";
import { itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Audit";
const PATH = "/api/v1/admin/audit";

const exactly = (what: string) => z.string().optional().describe(what);

/** The audit trail. */
export const auditEndpoints = {
  listAuditEvents: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List what was done and what was refused, newest first",
    description: "A key sees the rows of its own project; an administrator's key sees those of all, and of none.",
    scope: "audit:read",
    query: listQuerySchema.omit({ q: true }).extend({
      actor: exactly("Who, as in `key:01890a5d-ac96-774b-bcce-b302099a8057`, `command-line` or `anonymous`."),
      action: exactly("What, as in `agents.create`, `key.use` or `http.denied`."),
      object: exactly("On what: an id, a channel, a model, or a route."),
      result: exactly("`ok`, `cancelled`, or the code of an error."),
      project: exactly("Rows of one project, by its name. Another one than the key's needs `admin:*`."),
      from: exactly("From this time on: RFC 3339, or a day (UTC)."),
      to: exactly("Before this time."),
    }),
    answers: [listAnswer(auditItemSchema)],
    example: { query: { action: "keys.create", limit: "20" } },
  },
  verifyAudit: {
    method: "GET",
    path: `${PATH}/verify`,
    tag,
    summary: "Check that no row of the audit trail was changed, taken out, put in or moved",
    description: `At most ${AUDIT_LIMITS.checkMaxDays} days, the last ones where none is named, and ${AUDIT_LIMITS.checkMaxRows} rows; \`next\` says where to go on. The command line checks all of them: svc audit verify.`,
    scope: "admin:*",
    query: z.object({
      from: exactly("The first day (UTC), as in `2026-11-21`."),
      to: exactly("The last day; to the end where absent."),
      after: exactly("The `next` of an earlier check, in the place of `from`: goes on after that row."),
      expect: exactly("A `head` that was kept elsewhere: its row must still be there and the same."),
    }),
    answers: [itemAnswer(auditCheckSchema, { when: "Checked; `isIntact` says how it is." })],
  },
} as const satisfies Record<string, Endpoint>;
