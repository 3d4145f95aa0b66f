import type { RequiredScope } from "@svc/contracts";
import type { TextKey } from "../i18n/text-table.ts";

/** A part of the administration, with a tab of its own. */
export interface AdministrationSection {
  id: "keys" | "operators" | "projects" | "models" | "canned-replies" | "deliveries" | "audit";
  title: TextKey;
  /** What somebody must be allowed to see it. */
  scope: RequiredScope;
}

/** The parts of the administration, in the order of their tabs. */
export const SECTIONS: readonly AdministrationSection[] = [
  { id: "keys", title: "administration.keys", scope: "admin:*" },
  { id: "operators", title: "administration.operators", scope: "admin:*" },
  { id: "projects", title: "administration.projects", scope: "admin:*" },
  { id: "models", title: "administration.models", scope: "models:read" },
  { id: "canned-replies", title: "administration.canned", scope: "tickets:read" },
  { id: "deliveries", title: "administration.deliveries", scope: "webhooks:read" },
  { id: "audit", title: "administration.audit", scope: "audit:read" },
];
