import { useServices } from "../session/services.ts";

/** Returns a function that refetches a changed customer wherever it is shown. */
export function useRefresh() {
  const { queryClient } = useServices();
  return () => {
    for (const key of ["customer", "customers", "tickets", "ticket"]) {
      void queryClient.invalidateQueries({ queryKey: [key] });
    }
  };
}
