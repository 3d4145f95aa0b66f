import type { QueryClient } from "@tanstack/react-query";
import type { Session } from "../api/session.ts";

/** What is the same for every operator. */
const OF_NOBODY: ReadonlySet<unknown> = new Set(["session", "sign-in-ways", "link"]);

/**
 * Lets go of all that was read, and tells so, when the session ends or is somebody else's from then on: nobody is shown
 * what another operator was allowed to see.
 */
export function keepOneOperatorsData(queryClient: QueryClient, onOther: () => void): void {
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
