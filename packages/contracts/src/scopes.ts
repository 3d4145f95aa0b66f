import { z } from "zod";

export const SCOPE_RESOURCES = [
  "messages",
  "agents",
  "kb",
  "models",
  "tickets",
  "channels",
  "webhooks",
  "audit",
  "privacy",
] as const;
export const SCOPE_ACTIONS = ["read", "write", "execute"] as const;

type Resource = (typeof SCOPE_RESOURCES)[number];
type Action = (typeof SCOPE_ACTIONS)[number];

/** Scope required by an operation: one action on one resource, or administrator rights. */
export type RequiredScope = `${Resource}:${Action}` | "admin:*";
/** Scope granted to a key: also every action on a resource. */
export type Scope = RequiredScope | `${Resource}:*`;

const SCOPES: ReadonlySet<string> = new Set([
  "admin:*",
  ...SCOPE_RESOURCES.flatMap((resource) => [...SCOPE_ACTIONS, "*"].map((action) => `${resource}:${action}`)),
]);

/** JSON Schema of a scope, which zod cannot derive. */
export const SCOPE_JSON_SCHEMA = { type: "string", enum: [...SCOPES] } as const;

/** A scope: `admin:*` or `resource:action`, where `action` can be `*`. */
export const scopeSchema = z
  .custom<Scope>((value) => typeof value === "string" && SCOPES.has(value), { error: "is not a valid scope" })
  .meta(SCOPE_JSON_SCHEMA);

/**
 * Returns true if the granted scopes include the required one. `write` does not imply `read`; `admin:*` includes all
 * scopes.
 */
export function grantsScope(granted: readonly string[], required: RequiredScope): boolean {
  if (granted.includes("admin:*") || granted.includes(required)) return true;
  const [resource] = required.split(":");
  return required !== "admin:*" && granted.includes(`${resource}:*`);
}
