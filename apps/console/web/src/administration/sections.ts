import type { RequiredScope } from "@svc/contracts";
import type { TextKey } from "../i18n/texts.ts";

/** A part of the administration, with an entry of its own in the list. */
export interface AdministrationSection {
  id: "keys" | "operators" | "projects" | "models" | "tags" | "canned-replies" | "webhooks" | "deliveries" | "audit";
  title: TextKey;
  /** Scope that is required to see the section. */
  scope: RequiredScope;
  /** Heading above it and those that follow with the same one. */
  group?: TextKey;
}

/** The parts of the administration, in the order of the list. */
export const SECTIONS: readonly AdministrationSection[] = [
  { id: "operators", title: "administration.operators", scope: "admin:*" },
  { id: "projects", title: "administration.projects", scope: "admin:*" },
  { id: "models", title: "administration.models", scope: "models:read" },
  { id: "tags", title: "administration.tags", scope: "tickets:read" },
  { id: "canned-replies", title: "administration.canned", scope: "tickets:read" },
  { id: "audit", title: "administration.audit", scope: "audit:read" },
  { id: "keys", title: "administration.keys", scope: "admin:*", group: "administration.developers" },
  { id: "webhooks", title: "administration.webhooks", scope: "webhooks:read", group: "administration.developers" },
  { id: "deliveries", title: "administration.deliveries", scope: "webhooks:read", group: "administration.developers" },
];

/** The section that opens first: the keys for administrators, otherwise the first one that is allowed. */
export const firstSection = (mayDo: (scope: RequiredScope) => boolean): AdministrationSection["id"] =>
  mayDo("admin:*") ? "keys" : (SECTIONS.find(({ scope }) => mayDo(scope))?.id ?? "tags");
