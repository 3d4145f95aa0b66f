import type { QueryClient } from "@tanstack/react-query";
import type { Session } from "../api/session.ts";

/** Queries with the same data for every operator. */
const OF_NOBODY: ReadonlySet<unknown> = new Set(["session", "sign-in-ways", "link"]);

/**
 * Clears all data, and calls `onOther`, when the session ends or another operator signs in, who must not see the
 * previous operator's data.
 */
export function clearDataOfOthers(queryClient: QueryClient, onOther: () => void): void {
  let owner: string | null = null;
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || query.queryKey[0] !== "session") return;
    const session = query.state.data as Session | null | undefined;
    const operatorId = session?.operator.id ?? null;
    if (operatorId === owner) return;
    const isOther = owner !== null;
    owner = operatorId;
    if (!isOther) return;
    queryClient.removeQueries({ predicate: ({ queryKey }) => !OF_NOBODY.has(queryKey[0]) });
    onOther();
  });
}
