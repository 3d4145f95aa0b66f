import type { DeltaEvent, ReplyItem } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { drainAnswerOf, drainCall } from "./drain-chat.ts";
import { isRecord } from "./is-record.ts";
import { pause } from "./pause.ts";
import { readEvents } from "./read-events.ts";
import { delayAfter, isPassing } from "./retry.ts";
import { ServiceFault } from "./service-fault.ts";
import { faultOf, openLine, parseJson, readAnswer, request, unexpected } from "./try-call.ts";

/**
 * What a reply says that is still being made: what it said before, up to `offset`, and then `text`. `messageId` is the
 * message that it answers, and `inReplyTo` of the reply, which says in the end what its deltas said.
 */
export type ReplyDelta = DeltaEvent;

export interface StreamOptions {
  /** The `cursor` of an earlier stream or drain of this chat: replies up to it do not come again. `0` where absent. */
  after?: string | undefined;
  /** How long one call to the service may wait for a reply, at most 60,000; 30,000 where absent. */
  waitMs?: number | undefined;
  /** Ends the stream; reading it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Is told what a reply says so far while a model is writing it. Not every reply is: it comes all the same. */
  onDelta?: ((delta: ReplyDelta) => void) | undefined;
  /** Is told when an answer begins and ceases to be made. */
  onTyping?: ((on: boolean) => void) | undefined;
}

/** The replies of a chat as they come. See `Client.stream`. */
export interface ReplyStream extends AsyncIterable<ReplyItem> {
  /** Place of the reply that was handed out last: `after` of what is read next. */
  readonly cursor: string;
}

const DEFAULT_WAIT_MS = 30_000;
/** An answer without a reply that comes sooner has not waited: the service is stopping, or was asked not to wait. */
const SHORT_WAIT_MS = 1_000;
const WITHOUT_ADVICE = { retryAfterSeconds: null };
const EVENT_STREAM = "text/event-stream";
/** The service says at least so often that it is there. */
const HEARTBEAT_MS = 15_000;
const OK = 200;

interface StreamEvent {
  type: string;
  data: unknown;
}

const isReply = (value: unknown): value is ReplyItem => isRecord(value) && typeof value["seq"] === "number";
const isDelta = (value: unknown): value is ReplyDelta =>
  isRecord(value) && typeof value["offset"] === "number" && typeof value["text"] === "string";

/** Reads the replies of a chat as they come. See `Client.stream`. */
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

  /** What one event brings; null for what is no reply. */
  function take(event: StreamEvent): ReplyItem | null {
    const { data } = event;
    if (event.type === "reply" && isReply(data)) return data;
    if (event.type === "reply") throw unexpected(OK);
    if (event.type === "error") throw faultOf(isRecord(data) ? Number(data["status"]) : OK, data);
    if (event.type === "delta" && isDelta(data)) onDelta?.(data);
    if (event.type === "typing" && isRecord(data)) tellTyping(data["on"] === true);
    return null;
  }

  /** What comes after the cursor, which acknowledges what is before it, until the service ends the call. */
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
    if (isRead) throw new TypeError("This stream is being read already. Make another one for another reader.");
    isRead = true;
    let failures = 0;
    let idle = 0;
    try {
      for (;;) {
        const begunAtMs = performance.now();
        let fault: ServiceFault | null = null;
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
          if (!(error instanceof ServiceFault) || !isPassing(error)) throw error;
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
