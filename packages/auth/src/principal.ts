import { SCOPE_RESOURCES, ServiceError, grantsScope } from "@svc/contracts";
import type { OperatorRole, RequiredScope, Scope } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Project, ProjectId } from "@svc/store";

/** The caller of a request, with its permissions and project. */
export interface Principal {
  /** Kind and id of the caller, for logs and events; never a secret. */
  actor: string;
  /** Id of the API key; null for operators, and for the command line. */
  keyId: string | null;
  /** Id of the operator; absent for keys, and for the command line. */
  operatorId?: string;
  /** Requests per minute and address; null for no limit. */
  rateLimit: number | null;
  scopes: readonly Scope[];
  project: ProjectId;
  projectName: string;
  /** Id of the request; absent if there is none. */
  requestId?: string;
}

/** Returns the principal of the command line on the machine itself: an administrator. */
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

/** Returns true if the principal is an administrator. */
export function isAdministrator(principal: Principal): boolean {
  return principal.scopes.includes("admin:*");
}

/** Throws `insufficient_scope` if the principal lacks a scope. */
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

/** Scopes of the role viewer: no message bodies of hooks, no bulk personal data, no audit log. */
const VIEWER: readonly Scope[] = [
  "tickets:read",
  "agents:read",
  "kb:read",
  "models:read",
  "channels:read",
  "webhooks:read",
];

/**
 * Scopes of each role in its project, the same as those of keys, so that each rule exists once. Administrators of one
 * project may do everything in it; keys, projects, operators and the installation's own settings need `admin:*`, which
 * the role administrator has only in all projects (`*`).
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

/** A role in a project by its name, or in all of them (`*`). */
interface Role {
  project: string;
  role: OperatorRole;
}

/** Returns true for an administrator of all projects. */
export const administersAll = (roles: readonly Role[]): boolean =>
  roles.some(({ project, role }) => project === "*" && role === "administrator");

/** Returns the combined scopes of these roles in a project; empty if none applies. */
export function scopesOfRoles(roles: readonly Role[], projectName: string): Scope[] {
  if (administersAll(roles)) return ["admin:*"];
  const own = roles.filter(({ project }) => project === "*" || project === projectName);
  return [...new Set(own.flatMap(({ role }) => ROLE_SCOPES[role]))];
}

/** Interval at which uses are stored. */
const STORE_MS = 10_000;

/**
 * Returns a function that records that a key or a session was used. The IDs of ten seconds are stored together, by
 * `touch`; a failure is logged and not reported to the caller.
 */
export function createUseRecorder(
  touch: (ids: string[]) => Promise<void>,
  what: string,
  log: Log,
): (id: string) => void {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  return (id) => {
    used.add(id);
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      const ids = [...used];
      used.clear();
      touch(ids).catch((error: unknown) => log.debug({ error }, `failed to record when ${what} were last used`));
    }, STORE_MS);
    timer.unref();
  };
}
