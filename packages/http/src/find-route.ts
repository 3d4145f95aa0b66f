import { ENDPOINTS } from "@svc/contracts";

/** The paths of all endpoints, cut at their slashes, by how many parts they have. */
const PATHS = new Map<number, { path: string; parts: string[] }[]>();
for (const path of new Set(Object.values(ENDPOINTS).map((endpoint) => endpoint.path))) {
  const parts = path.split("/");
  PATHS.set(parts.length, [...(PATHS.get(parts.length) ?? []), { path, parts }]);
}

/**
 * The path of the endpoint that this one is for, as `/api/v1/admin/agents/{id}`; null where there is none. What the caller
 * has put there is not in it: a path may hold a key that was misplaced.
 */
export function findRoute(path: string): string | null {
  const asked = path.replace(/\/$/, "").split("/");
  const isFor = ({ parts }: { parts: string[] }) =>
    parts.every((part, index) => part === asked[index] || (part.startsWith("{") && asked[index] !== ""));
  const found = (PATHS.get(asked.length) ?? []).filter(isFor);
  // What a path says in words comes before what may stand in the same place.
  const wildcards = (one: string) => one.split("{").length;
  return found.toSorted((one, other) => wildcards(one.path) - wildcards(other.path))[0]?.path ?? null;
}
