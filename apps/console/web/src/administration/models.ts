import { ServiceError, createClient } from "@svc/client";
import type { Client } from "@svc/client";
import type { Model, ModelList, ModelPullProgress, Stats, UnreachableProvider } from "@svc/contracts";
import { useEffect, useRef, useState } from "react";
import { definedParams, pagesQuery } from "../api/connection.ts";
import type { Connection } from "../api/connection.ts";
import { useTexts } from "../i18n/texts.ts";
import type { Texts, TextKey } from "../i18n/texts.ts";
import { useServices, useProject, useSession } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** A model with the `id` that lists need. */
type ListedModel = Model & { id: string };

/** A page of the list of models. */
type ModelPage = Omit<ModelList, "items"> & { items: ListedModel[] };

/** Polling interval of the list of models, and of the progress of pulls that another page follows. */
const FOLLOW_MS = 10_000;

/** The models of all servers whose IDs match these words, installed ones first, in pages. Polled. */
export const modelPagesQuery = (connection: Connection, project: string, q: string) => ({
  ...pagesQuery(["models", project, "pages", q], async ({ query, signal }): Promise<ModelPage> => {
    const page = await connection.call("listModels", project, { query: { ...query, ...definedParams({ q }) }, signal });
    return { ...page, items: page.items.map((model) => ({ ...model, id: model.catalogId })) };
  }),
  refetchInterval: FOLLOW_MS,
});

/**
 * Returns the client that pulls models as the operator and follows them across dropped connections and restarts of the
 * server. The session replaces a key; `csrf` proves that this page sends the request.
 */
function pullerOf(project: string, csrf: string): Pick<Client, "pullModel"> {
  return createClient({
    url: location.origin,
    key: "session",
    project,
    fetch(url, init) {
      const headers = new Headers(init.headers);
      headers.delete("X-Api-Key");
      headers.set("x-svc-csrf", csrf);
      return fetch(url, { ...init, headers, credentials: "same-origin", redirect: "error", cache: "no-store" });
    },
  });
}

/** Errors of model servers as the service reports them, with their translated texts. */
const ERRORS: readonly (readonly [RegExp, TextKey])[] = [
  [/^rejected the API key$/u, "models.error.key"],
  [/^returned (?:status )?(?<status>\d{3})(?: for the requested URL)?$/u, "models.error.status"],
  [/^rate-limited the request$/u, "models.error.rateLimited"],
  [/^did not respond in time$/u, "models.error.timeout"],
  [/^is unreachable(?: \((?<code>\w+)\))?$/u, "models.error.unreachable"],
  [/^(?:did not return JSON|returned more than \d+ MB)$/u, "models.error.response"],
];
/** The error, and the setting to check. */
const DETAIL = /^(?<error>.+)\. Check (?<setting>.+)\.$/su;

/** Returns the reason for the missing models of a server, and what to do, without the name of the server. */
export function describeServerError({ provider, detail }: UnreachableProvider, t: Texts["t"]): string {
  const own = detail.startsWith(`${provider} `) ? detail.slice(provider.length + 1) : detail;
  const { error = "", setting = "" } = DETAIL.exec(own)?.groups ?? {};
  for (const [pattern, key] of ERRORS) {
    const found = pattern.exec(error);
    if (found === null) continue;
    const { code, status = "" } = found.groups ?? {};
    const why = t(key, { status, code: code === undefined ? "" : ` (${code})` });
    return t("models.error.check", { why, setting });
  }
  return own;
}

/** Share of failed calls from which a model is not shown as healthy. */
const FAILING_SHARE = 0.2;

/** Calls of a model in the last hour, or in the last day if there were none in that hour. */
export interface RecentCalls {
  model: string;
  calls: number;
  errors: number;
  period: "hour" | "day";
}

/** Returns the models of which many of the recent calls failed. */
export function findFailing(hour: Stats["models"], day: Stats["models"]): RecentCalls[] {
  return day.flatMap(({ model, ...ofDay }) => {
    const ofHour = hour.find((other) => other.model === model);
    const { calls: sent, faults: errors } = ofHour ?? ofDay;
    // Calls that a limit held back were not sent: only the failures count them.
    const calls = Math.max(sent, errors);
    return errors > 0 && errors >= calls * FAILING_SHARE
      ? [{ model, calls, errors, period: ofHour === undefined ? "day" : "hour" }]
      : [];
  });
}

/** The models of which many of the recent calls for this project failed. Polled. */
export const failingModelsQuery = (connection: Connection, project: string) => ({
  queryKey: ["models", project, "failing"],
  refetchInterval: 6 * FOLLOW_MS,
  async queryFn({ signal }: { signal: AbortSignal }) {
    const since = async (hours: number) => {
      const from = new Date(Date.now() - hours * 3_600_000).toISOString();
      return (await connection.call("getStats", project, { query: { from }, signal })).models;
    };
    const [hour, day] = await Promise.all([since(1), since(24)]);
    return findFailing(hour, day);
  },
});

/** A pull that this page follows: its progress, or its error. */
interface Pull {
  progress: ModelPullProgress | null;
  error: unknown;
}

/**
 * The model pulls that this page has started or joined, by the IDs of the models. They continue when the page is left.
 */
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

  /** Reads the progress of a pull until it ends. */
  async function read(id: string, signal: AbortSignal) {
    set(id, { progress: null, error: null });
    for await (const { completedBytes, status, totalBytes } of pullerOf(project, csrf).pullModel(id, { signal })) {
      set(id, { progress: { completedBytes, status, totalBytes }, error: null });
    }
  }

  /** Pulls a model, or joins the pull that is running. */
  async function pull(id: string) {
    if (followed.current.has(id)) return;
    const controller = new AbortController();
    followed.current.set(id, controller);
    let error: unknown = null;
    try {
      await read(id, controller.signal);
      toasts.show({ kind: "done", text: t("models.installedNow", { model: id }) });
    } catch (cause) {
      if (controller.signal.aborted) return;
      error = cause;
    }
    // Refetched first, because an older list would still show the pull that has just ended.
    await queryClient.invalidateQueries({ queryKey: ["models"] });
    if (!controller.signal.aborted) followed.current.delete(id);
    if (error === null || (error instanceof ServiceError && error.code === "pull_cancelled")) forget(id);
    else set(id, { progress: null, error });
  }

  /** Cancels a pull for all followers. The downloaded part is kept for the next one. */
  async function cancel(id: string) {
    try {
      await connection.call("cancelPull", project, { params: { catalogId: id } });
      toasts.show({ kind: "done", text: t("models.cancelled", { model: id }) });
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    }
    await queryClient.invalidateQueries({ queryKey: ["models"] });
  }

  return { pulls, pull: (id: string) => void pull(id), cancel: (id: string) => void cancel(id) };
}
