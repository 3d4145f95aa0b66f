import { useEffect } from "react";
import { useServices } from "./services.ts";

/** Keeps what is shown as it is on the server: after the line was cut, everything is read anew. */
export function useLiveData(): void {
  const { live, queryClient, reach } = useServices();
  useEffect(() => {
    let wasOpen = false;
    return live.on("hello", () => {
      reach.set("reached");
      if (wasOpen) void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
      wasOpen = true;
    });
  }, [live, queryClient, reach]);
}
