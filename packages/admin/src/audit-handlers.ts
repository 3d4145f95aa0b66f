import type { AuditCheckInput, auditEndpoints } from "@svc/contracts";
import { listAuditEvents, verifyAudit } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** The audit trail: who did what, and whether all of it is still there. */
export const auditHandlers: AdminHandlers<typeof auditEndpoints> = {
  async listAuditEvents(context, { principal, listQuery, query }) {
    const names = ["actor", "action", "object", "result", "project", "from", "to"] as const;
    const filter = Object.fromEntries(names.map((name) => [name, query(name)]));
    return { list: await listAuditEvents(context, principal, { ...listQuery(), ...filter }) };
  },
  async verifyAudit(context, { principal, query }) {
    const names = ["from", "to", "after", "expect"] as const;
    const range = Object.fromEntries(names.map((name) => [name, query(name)])) as AuditCheckInput;
    return { item: await verifyAudit(context, principal, range) };
  },
};
