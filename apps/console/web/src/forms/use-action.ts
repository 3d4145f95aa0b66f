import { ServiceFault } from "@svc/client";
import { useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeFault } from "../ui/describe-error.ts";

/** Does one thing at a time, and keeps what went wrong with it in words. */
export function useAction() {
  const { t } = useTexts();
  const { queryClient, toasts } = useServices();
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);

  function describe(cause: unknown): string {
    // Somebody else was faster: what is shown here is old.
    if (cause instanceof ServiceFault && (cause.status === 412 || cause.status === 404)) {
      void queryClient.invalidateQueries();
    }
    return describeFault(cause, t);
  }

  /** Does it, unless the one before goes on still. */
  async function run(action: () => Promise<void>): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setFault(null);
    try {
      await action();
    } catch (cause) {
      setFault(describe(cause));
    } finally {
      setBusy(false);
    }
  }

  /** The same for what has no place to show a fault: it is told in passing. */
  async function runAside(action: () => Promise<void>): Promise<void> {
    await run(async () => {
      try {
        await action();
      } catch (cause) {
        toasts.show({ kind: "fault", text: describe(cause) });
      }
    });
  }

  return { isBusy, fault, run, runAside };
}
