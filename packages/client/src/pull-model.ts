import type { ModelPullProgress } from "@svc/contracts";
import { ServiceError, fillPath, isRecord } from "./connection.ts";
import type { Connection } from "./connection.ts";
import {
  pause,
  delayAfter,
  isTransient,
  errorOf,
  openRequestControl,
  parseJson,
  readAnswer,
  request,
  unexpected,
} from "./try-call.ts";
import { readEvents } from "./stream-replies.ts";
import type { ServerEvent } from "./stream-replies.ts";

export interface PullOptions {
  /** Stops reading, but not the pull; the reader then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Progress of a pull; the last item contains the ID of the model, as used by agents. */
export type PullProgress = ModelPullProgress & { catalogId?: string };

const PATH = "/api/v1/admin/models/{catalogId}/pull";
/** The service sends something every 15 s, at least a comment. */
const SILENCE_MS = 45_000;

/** State of an interrupted stream. */
interface StreamPosition {
  lastEventId: string | undefined;
  /** Number of consecutive requests without progress. */
  failures: number;
}

function progressOf(body: unknown): PullProgress | null {
  if (!isRecord(body)) return null;
  const { status, completedBytes, totalBytes, catalogId } = body;
  const isProgress =
    typeof status === "string" &&
    typeof completedBytes === "number" &&
    (totalBytes === null || typeof totalBytes === "number");
  const named = typeof catalogId === "string" ? { catalogId } : {};
  return isProgress ? { status, completedBytes, totalBytes, ...named } : null;
}

/** Returns the progress in an event. Throws the error of a failed pull. */
function eventOf({ type, data }: ServerEvent): PullProgress | null {
  const body = parseJson(data);
  if (type !== "error") return progressOf(body);
  const status = isRecord(body) && typeof body["status"] === "number" ? body["status"] : 500;
  throw errorOf(status, body);
}

/** Reads one response. Returns true if the model is installed, or false if the connection dropped before. */
async function* readOnce(
  connection: Connection,
  catalogId: string,
  position: StreamPosition,
  signal: AbortSignal | undefined,
): AsyncGenerator<PullProgress, boolean, undefined> {
  const control = openRequestControl(signal);
  try {
    const { lastEventId } = position;
    const call = { method: "POST" as const, path: fillPath(PATH, { catalogId }), accept: "text/event-stream" };
    const response = await request(
      connection,
      { ...call, ...(lastEventId === undefined ? {} : { lastEventId }) },
      control,
    );
    // The last event was the end.
    if (response.status === 204) return true;
    if (!response.ok) {
      await readAnswer(response);
      throw unexpected(response.status);
    }
    for await (const event of readEvents(response, control.within(SILENCE_MS))) {
      const progress = eventOf(event);
      if (event.id !== undefined) position.lastEventId = event.id;
      position.failures = 0;
      if (progress !== null) yield progress;
      if (event.type === "done") return true;
    }
    return false;
  } catch (cause) {
    throw control.explain(cause);
  } finally {
    control.close();
  }
}

/** Pulls a model and yields its progress. See `Client.pullModel`. */
export async function* pullModel(
  connection: Connection,
  catalogId: string,
  { signal }: PullOptions = {},
): AsyncGenerator<PullProgress, void, undefined> {
  const position: StreamPosition = { lastEventId: undefined, failures: 0 };
  for (;;) {
    try {
      if (yield* readOnce(connection, catalogId, position, signal)) return;
      throw new ServiceError("unreachable", "The connection was lost.");
    } catch (error) {
      if (!(error instanceof ServiceError) || !isTransient(error) || position.failures >= connection.maxRetries)
        throw error;
      const delayMs = delayAfter(error, position.failures);
      position.failures += 1;
      connection.onRetry(error, delayMs);
      await pause(delayMs, signal);
    }
  }
}
