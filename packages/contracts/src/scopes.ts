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

/** What an operation asks for: one action on one resource, or the rights of an administrator. */
export type RequiredScope = `${Resource}:${Action}` | "admin:*";
/** What a key can be given: also every action on a resource. */
export type Scope = RequiredScope | `${Resource}:*`;

const SCOPES: ReadonlySet<string> = new Set([
  "admin:*",
  ...SCOPE_RESOURCES.flatMap((resource) => [...SCOPE_ACTIONS, "*"].map((action) => `${resource}:${action}`)),
]);

/** JSON Schema of a scope, for schemas that zod cannot tell it of. */
export const SCOPE_JSON_SCHEMA = { type: "string", enum: [...SCOPES] } as const;

/** A scope of the grammar `admin:*` or `resource:action`, where `action` may be `*`. */
export const scopeSchema = z
  .custom<Scope>((value) => typeof value === "string" && SCOPES.has(value), { error: "not a scope" })
  .meta(SCOPE_JSON_SCHEMA);

/** True when the granted scopes cover the required one. `write` does not imply `read`; `admin:*` covers all. */
export function grantsScope(granted: readonly string[], required: RequiredScope): boolean {
  if (granted.includes("admin:*") || granted.includes(required)) return true;
  const [resource] = required.split(":");
  return required !== "admin:*" && granted.includes(`${resource}:*`);
}
