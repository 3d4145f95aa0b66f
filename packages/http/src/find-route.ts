import { ENDPOINTS } from "@svc/contracts";

/** The paths of all endpoints, split at slashes, by number of parts. */
const PATHS = new Map<number, { path: string; parts: string[] }[]>();
for (const path of new Set(Object.values(ENDPOINTS).map((endpoint) => endpoint.path))) {
  const parts = path.split("/");
  PATHS.set(parts.length, [...(PATHS.get(parts.length) ?? []), { path, parts }]);
}

/**
 * Returns the path of a request's endpoint, such as `/api/v1/admin/agents/{id}`; null if there is none. It contains no
 * values from the caller, since a path may contain a misplaced key.
 */
export function findRoute(path: string): string | null {
  const asked = path.replace(/\/$/, "").split("/");
  const isFor = ({ parts }: { parts: string[] }) =>
    parts.every((part, index) => part === asked[index] || (part.startsWith("{") && asked[index] !== ""));
  const found = (PATHS.get(asked.length) ?? []).filter(isFor);
  // Literal parts have priority over parameters.
  const wildcards = (one: string) => one.split("{").length;
  return found.toSorted((one, other) => wildcards(one.path) - wildcards(other.path))[0]?.path ?? null;
}
