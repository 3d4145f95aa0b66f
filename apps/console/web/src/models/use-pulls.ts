import { ServiceFault } from "@svc/client";
import { useEffect, useRef, useState } from "react";
import type { ModelPullProgress } from "@svc/contracts";
import { pullerOf } from "../api/models.ts";
import { useServices } from "../app/services.ts";
import { useProject, useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "../ui/describe-fault.ts";

/** A pull that this page follows: how far it is, or why it has failed. */
export interface Pull {
  progress: ModelPullProgress | null;
  fault: unknown;
}

/** The pulls of models that this page has begun or joined, by the ids of the models. They go on when the page is left. */
export function usePulls() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const { csrf } = useSession();
  const [pulls, setPulls] = useState<Readonly<Record<string, Pull>>>({});
  const followed = useRef(new Map<string, AbortController>());

  useEffect(() => {
    const open = followed.current;
    return () => {
      for (const controller of open.values()) controller.abort();
      open.clear();
    };
  }, []);

  const set = (id: string, pull: Pull) => setPulls((known) => ({ ...known, [id]: pull }));
  const forget = (id: string) =>
    setPulls((known) => Object.fromEntries(Object.entries(known).filter(([other]) => other !== id)));

  /** Reads how far it is until it ends. */
  async function read(id: string, signal: AbortSignal) {
    set(id, { progress: null, fault: null });
    for await (const { completedBytes, status, totalBytes } of pullerOf(project, csrf).pullModel(id, { signal })) {
      set(id, { progress: { completedBytes, status, totalBytes }, fault: null });
    }
  }

  /** Pulls a model, or joins the pull that goes on. */
  async function pull(id: string) {
    if (followed.current.has(id)) return;
    const controller = new AbortController();
    followed.current.set(id, controller);
    let fault: unknown = null;
    try {
      await read(id, controller.signal);
      toasts.show({ kind: "done", text: t("models.installedNow", { model: id }) });
    } catch (cause) {
      if (controller.signal.aborted) return;
      fault = cause;
    }
    // What the list says must be as new as this, or the pull that has just ended would be joined.
    await queryClient.invalidateQueries({ queryKey: ["models"] });
    if (!controller.signal.aborted) followed.current.delete(id);
    if (fault === null || (fault instanceof ServiceFault && fault.code === "pull_cancelled")) forget(id);
    else set(id, { progress: null, fault });
  }

  /** Ends a pull, for everybody who follows it. What was downloaded stays for the next one. */
  async function cancel(id: string) {
    try {
      await connection.call("cancelPull", project, { params: { catalogId: id } });
      toasts.show({ kind: "done", text: t("models.cancelled", { model: id }) });
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
    }
    await queryClient.invalidateQueries({ queryKey: ["models"] });
  }

  return { pulls, pull: (id: string) => void pull(id), cancel: (id: string) => void cancel(id), forget };
}
