import { useEffect } from "react";
import { useServices } from "./services.ts";
import { useSession } from "./use-session.ts";

/**
 * What is not read anew after the line was cut: who is signed in is asked for by itself, and a list of tickets takes in
 * what has come (`followList`), so that nobody loses the place that he has scrolled to.
 */
const FOLLOWED_ELSEWHERE: readonly unknown[] = ["session", "tickets"];
/** What is read anew when something is told of it: what has happened before the line was open was told to nobody. */
const FOLLOWED: readonly unknown[] = ["ticket", "mentions", "counts"];

/**
 * Keeps what is shown as it is on the server: when the line is first open, what it tells of is read anew, and after it
 * was cut everything; who is signed in, too, where another tab of this browser has signed in somebody else. A ticket that
 * has changed is old from then on, so that one that was fetched ahead is read anew when it is opened.
 */
export function useLiveData(): void {
  const { live, queryClient, reach } = useServices();
  const { operator } = useSession();
  useEffect(() => {
    let wasOpen = false;
    const markOld = ({ ticketId }: { ticketId: string }) =>
      void queryClient.invalidateQueries({
        predicate: ({ queryKey: [kind, , id] }) => kind === "ticket" && id === ticketId,
        refetchType: "none",
      });
    const ends = [
      live.on("hello", ({ operatorId }) => {
        reach.set("reached");
        if (operatorId !== operator.id) void queryClient.invalidateQueries({ queryKey: ["session"] });
        const isOld = wasOpen
          ? (kind: unknown) => !FOLLOWED_ELSEWHERE.includes(kind)
          : (kind: unknown) => FOLLOWED.includes(kind);
        void queryClient.invalidateQueries({ predicate: ({ queryKey }) => isOld(queryKey[0]) });
        wasOpen = true;
      }),
      live.on("ticket", markOld),
      live.on("gone", markOld),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [live, operator.id, queryClient, reach]);
}
