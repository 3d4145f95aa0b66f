import type { ModelPullProgress } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { fillPath } from "./fill-path.ts";
import { isRecord } from "./is-record.ts";
import { pause } from "./pause.ts";
import { readEvents } from "./read-events.ts";
import type { ServerEvent } from "./read-events.ts";
import { delayAfter, isPassing } from "./retry.ts";
import { ServiceFault } from "./service-fault.ts";
import { faultOf, openLine, parseJson, readAnswer, request, unexpected } from "./try-call.ts";

export interface PullOptions {
  /** Ends the reading, not the pull; it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** How far a pull is; at its end with the id of the model, as agents name it. */
export type PullNews = ModelPullProgress & { catalogId?: string };

const PATH = "/api/v1/admin/models/{catalogId}/pull";
/** The service says something every 15 s, if it is only that it is there. */
const SILENCE_MS = 45_000;

/** What is known of a stream that was cut. */
interface Place {
  lastEventId: string | undefined;
  /** Calls in a row that have told nothing. */
  failures: number;
}

function progressOf(body: unknown): PullNews | null {
  if (!isRecord(body)) return null;
  const { status, completedBytes, totalBytes, catalogId } = body;
  const isProgress =
    typeof status === "string" &&
    typeof completedBytes === "number" &&
    (totalBytes === null || typeof totalBytes === "number");
  const named = typeof catalogId === "string" ? { catalogId } : {};
  return isProgress ? { status, completedBytes, totalBytes, ...named } : null;
}

/** What an event tells; throws the fault of a pull that has failed. */
function newsOf({ type, data }: ServerEvent): PullNews | null {
  const body = parseJson(data);
  if (type !== "error") return progressOf(body);
  const status = isRecord(body) && typeof body["status"] === "number" ? body["status"] : 500;
  throw faultOf(status, body);
}

/** Reads one answer; true once the model is installed, false when it was cut off before. */
async function* readOnce(
  connection: Connection,
  catalogId: string,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<PullNews, boolean, undefined> {
  const line = openLine(signal);
  try {
    const { lastEventId } = place;
    const call = { method: "POST" as const, path: fillPath(PATH, { catalogId }), accept: "text/event-stream" };
    const response = await request(
      connection,
      { ...call, ...(lastEventId === undefined ? {} : { lastEventId }) },
      line,
    );
    // Nothing more to tell: the last event was the end.
    if (response.status === 204) return true;
    if (!response.ok) {
      await readAnswer(response);
      throw unexpected(response.status);
    }
    for await (const event of readEvents(response, line.within(SILENCE_MS))) {
      const news = newsOf(event);
      if (event.id !== undefined) place.lastEventId = event.id;
      place.failures = 0;
      if (news !== null) yield news;
      if (event.type === "done") return true;
    }
    return false;
  } catch (cause) {
    throw line.explain(cause);
  } finally {
    line.close();
  }
}

/** Pulls a model and tells how far it is. See `Client.pullModel`. */
export async function* pullModel(
  connection: Connection,
  catalogId: string,
  { signal }: PullOptions = {},
): AsyncGenerator<PullNews, void, undefined> {
  const place: Place = { lastEventId: undefined, failures: 0 };
  for (;;) {
    try {
      if (yield* readOnce(connection, catalogId, place, signal)) return;
      throw new ServiceFault("unreachable", "The connection was cut.");
    } catch (fault) {
      if (!(fault instanceof ServiceFault) || !isPassing(fault) || place.failures >= connection.maxRetries) throw fault;
      const delayMs = delayAfter(fault, place.failures);
      place.failures += 1;
      connection.onRetry(fault, delayMs);
      await pause(delayMs, signal);
    }
  }
}
