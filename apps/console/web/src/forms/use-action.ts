import { ServiceError } from "@svc/client";
import { useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** Runs one action at a time, and describes its error. */
export function useAction() {
  const { t } = useTexts();
  const { queryClient, toasts } = useServices();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [cause, setCause] = useState<unknown>(null);

  function describe(cause: unknown): string {
    // The item was changed or deleted meanwhile: the shown data is stale.
    if (cause instanceof ServiceError && (cause.status === 412 || cause.status === 404)) {
      void queryClient.invalidateQueries();
    }
    return describeError(cause, t);
  }

  /** Runs the action, unless another one is running; `error` and `cause` are set if it throws. Returns true if it was done. */
  async function run(action: () => Promise<unknown>): Promise<boolean> {
    if (isBusy) return false;
    setBusy(true);
    setError(null);
    setCause(null);
    try {
      await action();
      return true;
    } catch (thrown) {
      setError(describe(thrown));
      setCause(thrown);
      return false;
    } finally {
      setBusy(false);
    }
  }

  /** Does the same with toasts: one with the error, or one with the text that the action returns. */
  async function runAside(action: () => Promise<string | void>): Promise<void> {
    await run(async () => {
      try {
        const done = await action();
        if (typeof done === "string") toasts.show({ kind: "done", text: done });
      } catch (cause) {
        toasts.show({ kind: "error", text: describe(cause) });
      }
    });
  }

  return { isBusy, error, cause, setError, run, runAside };
}
