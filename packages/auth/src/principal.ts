import { SCOPE_RESOURCES, ServiceError, grantsScope } from "@svc/contracts";
import type { OperatorRole, RequiredScope, Scope } from "@svc/contracts";
import type { Project, ProjectId } from "@svc/store";

/** Who asks, what they may do, and the project that this request works on. */
export interface Principal {
  /** What stands in logs and events: the kind and id of who asks, never a secret. */
  actor: string;
  /** Id of the API key; null for operators, and for someone who works on the machine itself. */
  keyId: string | null;
  /** Id of the operator who is signed in; absent for keys, and for the machine itself. */
  operatorId?: string;
  /** Requests a minute from one address; null for no limit. */
  rateLimit: number | null;
  scopes: readonly Scope[];
  project: ProjectId;
  projectName: string;
  /** Id of the request that asks; absent where none does. */
  requestId?: string;
}

/** Someone who works on the machine itself, through the command line: an administrator. */
export function localAdministrator(project: Project): Principal {
  return {
    actor: "command-line",
    keyId: null,
    rateLimit: null,
    scopes: ["admin:*"],
    project: project.id,
    projectName: project.name,
  };
}

/** True when the principal is an administrator. */
export function isAdministrator(principal: Principal): boolean {
  return principal.scopes.includes("admin:*");
}

/** Throws `insufficient_scope` when the principal lacks a scope. */
export function requireScope(principal: Pick<Principal, "scopes" | "operatorId">, scope: RequiredScope): void {
  if (grantsScope(principal.scopes, scope)) return;
  if (principal.operatorId !== undefined) {
    throw new ServiceError(
      "insufficient_scope",
      scope === "admin:*"
        ? "Only administrators of all projects can do this."
        : `Your role in this project does not include ${scope}. Ask an administrator for a different role.`,
    );
  }
  throw new ServiceError("insufficient_scope", `This key does not have the scope ${scope}. Use a key that has it.`, {
    headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

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
