import { SCOPE_RESOURCES } from "@svc/contracts";
import type { OperatorRole, Scope } from "@svc/contracts";

/** What whoever looks may see: no message bodies of hooks, no personal data in bulk, no audit trail. */
const VIEWER: readonly Scope[] = [
  "tickets:read",
  "agents:read",
  "kb:read",
  "models:read",
  "channels:read",
  "webhooks:read",
];

/**
 * What each role may do in its project. It is the same as a key with these scopes may do, so that a rule exists once.
 * Administrators of one project may do everything in it; keys, projects, operators and the installation's own settings
 * need `admin:*`, which the role administrator has in all projects (`*`) only.
 */
export const ROLE_SCOPES = {
  administrator: SCOPE_RESOURCES.map((resource): Scope => `${resource}:*`),
  operator: [
    ...VIEWER,
    "tickets:write",
    "tickets:execute",
    "agents:execute",
    "kb:write",
    "messages:read",
    "messages:write",
  ],
  viewer: VIEWER,
} as const satisfies Record<OperatorRole, readonly Scope[]>;

/** A role in a project, by its name, or in all of them (`*`). */
interface Role {
  project: string;
  role: OperatorRole;
}

/** True for who administers everything. */
export const administersAll = (roles: readonly Role[]): boolean =>
  roles.some(({ project, role }) => project === "*" && role === "administrator");

/** What these roles allow in a project, all together; nothing where none is for it. */
export function scopesOfRoles(roles: readonly Role[], projectName: string): Scope[] {
  if (administersAll(roles)) return ["admin:*"];
  const own = roles.filter(({ project }) => project === "*" || project === projectName);
  return [...new Set(own.flatMap(({ role }) => ROLE_SCOPES[role]))];
}
