import { setTimeout as wait } from "node:timers/promises";
import { ServiceError } from "@svc/contracts";
import type { ModelPull } from "@svc/contracts";
import { requireScope } from "@svc/auth";
import { checkKeyAgain, openEventStream, problemAnswer, streamFault } from "@svc/http";
import type { EventStream } from "@svc/http";
import { findPull, pullModel } from "@svc/operations";
import { isUnavailable } from "@svc/store";
import type { ModelPullRecord, ModelPullState } from "@svc/store";
import type { AdminAnswer, AdminCall, AdminContext } from "./admin-handler.ts";
import { asModelPull } from "./as-model-pull.ts";

/** How often it is looked how far a pull is. */
const LOOK_MS = 250;
/** A key that was revoked is noticed within this time. */
const CHECK_KEY_MS = 2_000;
/** So long an answer waits for Ollama to say whether there is such a model, so that a fault is an answer of its own. */
const FIRST_NEWS_MS = 2_000;

/** What stands in the id of an event for the pull of a model that is installed. */
const INSTALLED = "installed";

const idOf = ({ id, version }: ModelPullRecord) => `${id}.${version}`;

/** What somebody who follows a pull is told when it ends so, and not by being done. */
const FAULTS: Record<Exclude<ModelPullState, "running" | "done">, (record: ModelPullRecord) => ServiceError> = {
  failed: ({ failure }) => new ServiceError(failure?.code ?? "pull_failed", failure?.detail ?? "The pull failed."),
  cancelled: ({ catalogId }) =>
    new ServiceError("pull_cancelled", `The pull of ${catalogId} was cancelled. Pull it again to resume.`),
};

/** The error of a pull that has ended without the model; null for any other. */
function faultOf(record: ModelPullRecord): ServiceError | null {
  return record.state === "failed" || record.state === "cancelled" ? FAULTS[record.state](record) : null;
}

interface Follower {
  /** The pull as it is now; what has become of the last one where another was begun. */
  look(): Promise<ModelPullRecord>;
}

function follow(context: AdminContext, { principal }: AdminCall, first: ModelPullRecord): Follower {
  let last = first;
  return {
    async look() {
      const found = await findPull(context, principal, first.catalogId, first.id);
      // Somebody has begun another one since: this one has ended before, in a way that nobody knows any more.
      last = found ?? { ...last, state: "cancelled", version: last.version + 1 };
      return last;
    },
  };
}

/** Waits until Ollama has said what there is to download, or the pull has ended, or for a while. */
async function awaitFirstNews(follower: Follower, first: ModelPullRecord, call: AdminCall): Promise<ModelPullRecord> {
  const until = performance.now() + FIRST_NEWS_MS;
  let record = first;
  while (record.state === "running" && record.totalBytes === null && performance.now() < until) {
    if (call.response.destroyed) break;
    await wait(LOOK_MS / 2);
    record = await follower.look();
  }
  return record;
}

/**
 * Tells as events how far a pull is, until it ends, nobody listens or the key is not good any more. While the store is
 * away it waits.
 */
async function stream(context: AdminContext, call: AdminCall, follower: Follower, first: ModelPullRecord) {
  const { request, response } = call;
  const events = openEventStream(response, { signal: context.closing });
  try {
    await tellNews(call, events, follower, first);
  } catch (error) {
    if (!(error instanceof ServiceError)) context.log.error({ error }, "pull progress stream failed");
    events.send("error", streamFault(request, response, error));
  } finally {
    events.end();
  }
}

async function tellNews(
  { request, response }: AdminCall,
  events: EventStream,
  follower: Follower,
  first: ModelPullRecord,
) {
  let told = 0;
  let record = first;
  let checkKeyAt = performance.now() + CHECK_KEY_MS;

  /** Throws when the caller may not hear more of it. */
  async function checkKey(): Promise<void> {
    if (performance.now() < checkKeyAt) return;
    requireScope(await checkKeyAgain(response), "models:write");
    checkKeyAt = performance.now() + CHECK_KEY_MS;
  }

  async function lookAgain(): Promise<ModelPullRecord> {
    try {
      await checkKey();
      return await follower.look();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return record;
    }
  }

  while (events.isOpen()) {
    if (record.version !== told) {
      told = record.version;
      const fault = faultOf(record);
      const { status, completedBytes, totalBytes } = record;
      if (record.state === "running") events.send("progress", { status, completedBytes, totalBytes }, idOf(record));
      else if (fault === null) events.send("done", asModelPull(record), idOf(record));
      else events.send("error", JSON.parse(problemAnswer(request, response, fault).body), idOf(record));
    }
    if (record.state !== "running") break;
    await Promise.race([wait(LOOK_MS, undefined, { ref: false }), events.closed]);
    if (events.isOpen()) record = await lookAgain();
  }
}

/** The pull whose events a client has seen up to an end of its stream, by `Last-Event-ID`; null where there is none. */
async function findSeen(context: AdminContext, { principal, param, request }: AdminCall) {
  const [, pullId, version] = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(request.get("last-event-id") ?? "") ?? [];
  if (pullId === undefined) return null;
  const record = await findPull(context, principal, param("catalogId"), pullId);
  return record === null ? null : { record, isTold: Number(version) >= record.version };
}

const wantsEvents = ({ request }: AdminCall) =>
  request.method !== "HEAD" && request.accepts(["application/json", "text/event-stream"]) === "text/event-stream";

/** Answers that a model is installed. */
function answerInstalled(context: AdminContext, call: AdminCall, pull: ModelPull): AdminAnswer {
  if (!wantsEvents(call)) return { json: pull };
  const events = openEventStream(call.response, { signal: context.closing });
  events.send("done", pull, INSTALLED);
  events.end();
  return "answered";
}

/** Whoever connects again after the end of a stream has heard of it, and begins nothing. */
function answerNothingMore({ response }: AdminCall): AdminAnswer {
  response.status(204).setHeader("Cache-Control", "no-store").end();
  return "answered";
}

/**
 * Begins to pull a model, or joins the pull that goes on, and tells how far it is: as events to whoever takes them, until
 * it ends, else as it is now. A fault that comes within two seconds is an ordinary error.
 */
export async function answerPull(context: AdminContext, call: AdminCall): Promise<AdminAnswer> {
  context.limitPulls(call.request, call.response);
  if (wantsEvents(call)) {
    if (call.request.get("last-event-id") === INSTALLED) return answerNothingMore(call);
    const seen = await findSeen(context, call);
    if (seen !== null && seen.record.state !== "running") {
      if (seen.isTold) return answerNothingMore(call);
      await stream(context, call, follow(context, call, seen.record), seen.record);
      return "answered";
    }
  }
  const asked = await pullModel(context, call.principal, call.param("catalogId"));
  if (asked.isInstalled) return answerInstalled(context, call, asked.pull);
  const follower = follow(context, call, asked.record);
  const record = await awaitFirstNews(follower, asked.record, call);
  const fault = faultOf(record);
  if (fault !== null) throw fault;
  if (!wantsEvents(call)) return { json: asModelPull(record), status: record.state === "done" ? 200 : 202 };
  await stream(context, call, follower, record);
  return "answered";
}
