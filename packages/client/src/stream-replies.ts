import type { DeltaEvent, ReplyItem } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { drainAnswerOf, drainCall } from "./drain-chat.ts";
import { isRecord } from "./is-record.ts";
import { pause } from "./pause.ts";
import { readEvents } from "./read-events.ts";
import { delayAfter, isPassing } from "./retry.ts";
import { ServiceError } from "./service-error.ts";
import { faultOf, openLine, parseJson, readAnswer, request, unexpected } from "./try-call.ts";

/**
 * Partial text of a reply that is being written: replaces everything after `offset` with `text`. `messageId` is the
 * message that it answers, and `inReplyTo` of the reply. The final reply contains the same text as its deltas.
 */
export type ReplyDelta = DeltaEvent;

export interface StreamOptions {
  /**
   * The `cursor` of an earlier stream or drain of this chat. Replies up to it are not returned again. Defaults to `0`.
   */
  after?: string | undefined;
  /** Duration for which one request to the service waits for a reply, at most 60,000 milliseconds. Defaults to 30,000. */
  waitMs?: number | undefined;
  /** Ends the stream; the reader then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with partial text while a model is writing a reply. Not every reply has partial text. */
  onDelta?: ((delta: ReplyDelta) => void) | undefined;
  /** Called when an answer starts and stops being written. */
  onTyping?: ((on: boolean) => void) | undefined;
}

/** Iterates over the replies of a chat as they arrive. See `Client.stream`. */
export interface ReplyStream extends AsyncIterable<ReplyItem> {
  /** Position of the last returned reply: `after` of the next request. */
  readonly cursor: string;
}

const DEFAULT_WAIT_MS = 30_000;
/** An empty response that arrives sooner did not wait: the service is shutting down, or was asked not to wait. */
const SHORT_WAIT_MS = 1_000;
const WITHOUT_ADVICE = { retryAfterSeconds: null };
const EVENT_STREAM = "text/event-stream";
/** Interval at which the service sends at least a comment. */
const HEARTBEAT_MS = 15_000;
const OK = 200;

interface StreamEvent {
  type: string;
  data: unknown;
}

const isReply = (value: unknown): value is ReplyItem => isRecord(value) && typeof value["seq"] === "number";
const isDelta = (value: unknown): value is ReplyDelta =>
  isRecord(value) && typeof value["offset"] === "number" && typeof value["text"] === "string";

/** Returns the replies of a chat as they arrive. See `Client.stream`. */
export function streamReplies(
  connection: Connection,
  chatId: string,
  { after = "0", waitMs = DEFAULT_WAIT_MS, signal, onDelta, onTyping }: StreamOptions = {},
): ReplyStream {
  let cursor = after;
  let isRead = false;
  let isBegun = false;
  let isTyping = false;

  function tellTyping(on: boolean): void {
    // A stream that goes on says again how it is.
    if (on !== isTyping) onTyping?.(on);
    isTyping = on;
  }

  /** Returns the reply in an event, or null for other events. */
  function take(event: StreamEvent): ReplyItem | null {
    const { data } = event;
    if (event.type === "reply" && isReply(data)) return data;
    if (event.type === "reply") throw unexpected(OK);
    if (event.type === "error") throw faultOf(isRecord(data) ? Number(data["status"]) : OK, data);
    if (event.type === "delta" && isDelta(data)) onDelta?.(data);
    if (event.type === "typing" && isRecord(data)) tellTyping(data["on"] === true);
    return null;
  }

  /** Yields the replies after the cursor, which acknowledges earlier ones, until the service ends the response. */
  async function* callOnce(): AsyncGenerator<StreamEvent, void, undefined> {
    const line = openLine(signal);
    try {
      const call = drainCall(chatId, { after: cursor, waitMs, signal });
      const accept = `${EVENT_STREAM}, */*;q=0.5`;
      const response = await request(
        connection,
        // What was said of an unfinished reply is said again after a cut.
        isBegun ? { ...call, accept, lastEventId: cursor } : { ...call, accept },
        line,
      );
      isBegun = true;
      const isStream = response.ok && response.headers.get("content-type")?.startsWith(EVENT_STREAM) === true;
      if (!isStream) {
        for (const data of drainAnswerOf(await readAnswer(response)).replies) yield { type: "reply", data };
        return;
      }
      const heard = line.within(HEARTBEAT_MS + connection.timeoutMs);
      for await (const { type, data } of readEvents(response, heard)) {
        if (type === "done") return;
        yield { type, data: parseJson(data) };
      }
    } catch (cause) {
      throw line.explain(cause);
    } finally {
      line.close();
    }
  }

  async function* read(): AsyncGenerator<ReplyItem, void, undefined> {
    if (isRead) throw new TypeError("This stream is already being read. Create another stream for another reader.");
    isRead = true;
    let failures = 0;
    let idle = 0;
    try {
      for (;;) {
        const begunAtMs = performance.now();
        let fault: ServiceError | null = null;
        let isIdle = true;
        try {
          for await (const event of callOnce()) {
            const reply = take(event);
            if (reply === null) continue;
            // Whoever breaks off has this one, and is not given it again; the service learns of that by the next call.
            cursor = String(reply.seq);
            isIdle = false;
            yield reply;
          }
        } catch (error) {
          if (!(error instanceof ServiceError) || !isPassing(error)) throw error;
          fault = error;
        }
        const isFirst = !isIdle || performance.now() - begunAtMs >= SHORT_WAIT_MS;
        failures = fault === null ? 0 : isFirst ? 1 : failures + 1;
        idle = fault !== null || isFirst ? 0 : idle + 1;
        if (failures + idle === 0) continue;
        const delayMs = fault === null ? delayAfter(WITHOUT_ADVICE, idle) : delayAfter(fault, failures - 1);
        if (fault !== null) connection.onRetry(fault, delayMs);
        await pause(delayMs, signal);
      }
    } finally {
      isRead = false;
    }
  }

  return {
    get cursor() {
      return cursor;
    },
    [Symbol.asyncIterator]: read,
  };
}
