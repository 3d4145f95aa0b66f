import { useEffect } from "react";
import { useServices } from "./services.ts";
import { useSession } from "./use-session.ts";

/**
 * Keeps what is shown as it is on the server: after the line was cut, everything is read anew; who is signed in, too,
 * where another tab of this browser has signed in somebody else.
 */
export function useLiveData(): void {
  const { live, queryClient, reach } = useServices();
  const { operator } = useSession();
  useEffect(() => {
    let wasOpen = false;
    return live.on("hello", ({ operatorId }) => {
      reach.set("reached");
      if (operatorId !== operator.id) void queryClient.invalidateQueries({ queryKey: ["session"] });
      if (wasOpen) void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
      wasOpen = true;
    });
  }, [live, operator.id, queryClient, reach]);
}
