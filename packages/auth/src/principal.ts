import { ServiceError, grantsScope } from "@svc/contracts";
import type { RequiredScope, Scope } from "@svc/contracts";
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
