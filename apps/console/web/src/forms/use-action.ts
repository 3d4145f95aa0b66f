import { ServiceError } from "@svc/client";
import { useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** Does one thing at a time, and keeps what went wrong with it in words. */
export function useAction() {
  const { t } = useTexts();
  const { queryClient, toasts } = useServices();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  function describe(cause: unknown): string {
    // Somebody else was faster: what is shown here is old.
    if (cause instanceof ServiceError && (cause.status === 412 || cause.status === 404)) {
      void queryClient.invalidateQueries();
    }
    return describeError(cause, t);
  }

  /** Does it, unless the one before goes on still. */
  async function run(action: () => Promise<void>): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await action();
    } catch (cause) {
      setError(describe(cause));
    } finally {
      setBusy(false);
    }
  }

  /** The same for what has no place to show an error: it is told in passing. */
  async function runAside(action: () => Promise<void>): Promise<void> {
    await run(async () => {
      try {
        await action();
      } catch (cause) {
        toasts.show({ kind: "error", text: describe(cause) });
      }
    });
  }

  return { isBusy, error, run, runAside };
}
