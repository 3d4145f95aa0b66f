import type {
  AsyncAnswer,
  DeltaEvent,
  DrainAnswer,
  MessageRequest,
  PendingAnswer,
  ReplyItem,
  SyncAnswer,
  WebhookAnswer,
} from "@svc/contracts";
import { fillPath, isRecord, MESSAGES_PATH, ServiceError } from "./connection.ts";
import type { Connection } from "./connection.ts";
import {
  callWithRetries,
  delayAfter,
  errorOf,
  isTransient,
  openRequestControl,
  parseJson,
  pause,
  readAnswer,
  request,
  unexpected,
} from "./try-call.ts";
import type { CallAnswer, CallRequest, Wait } from "./try-call.ts";

export interface SendOptions {
  /** Deduplicates repeated requests, also from other processes. Defaults to a new key for each call. */
  idempotencyKey?: string | undefined;
  /** Duration for which the service waits for a reply in mode sync, in milliseconds. The message's `timeoutMs` has priority. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Result of an accepted message, by `status`: `answered` contains the replies; `rejected` was dismissed by an operator;
 * `pending` has no answer yet and `in_review` waits for an operator (its `replies` may contain a handoff text), and the
 * answer can be collected later; `queued` is the result of the modes async and webhook.
 */
export type SentMessage =
  | (Omit<SyncAnswer, "status"> & { status: "answered" })
  | (SyncAnswer & { status: "rejected" })
  | (PendingAnswer & { status: "pending" })
  | (PendingAnswer & { status: "in_review" })
  | AsyncAnswer
  | WebhookAnswer;

/** Maximum time that the service waits (service document, section 8). */
const MAX_WAIT_MS = 120_000;
const KEY_BYTES = 16;

/** Returns a random ID. Browsers provide `crypto.randomUUID` only on https pages, `getRandomValues` everywhere. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isSentMessage(body: unknown): body is SentMessage {
  if (!isRecord(body) || body["ok"] !== true || typeof body["chatId"] !== "string") return false;
  return Array.isArray(body["replies"]) || typeof body["drainUrl"] === "string";
}

/** Sends a message. See `Client.send`. */
export async function sendMessage(
  connection: Connection,
  request: MessageRequest,
  { idempotencyKey = newIdempotencyKey(), waitMs, signal }: SendOptions = {},
): Promise<SentMessage> {
  const timeoutMs = request.timeoutMs ?? waitMs;
  const isSync = request.webhookUrl === undefined && (request.mode ?? "sync") === "sync";
  const { status, body } = await callWithRetries(connection, {
    method: "POST",
    path: MESSAGES_PATH,
    body: { ...request, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    idempotencyKey,
    waitMs: isSync ? (timeoutMs ?? MAX_WAIT_MS) : 0,
    signal,
  });
  const answer: unknown = isRecord(body) && body["status"] === undefined ? { ...body, status: "answered" } : body;
  if (!isSentMessage(answer)) throw unexpected(status);
  return answer;
}

export interface DrainOptions {
  /**
   * The cursor of an earlier response, or `0` to start. Acknowledges the replies up to it and returns the later ones,
   * until they are acknowledged too. If omitted, the returned replies are removed from the buffer, so the request is
   * not retried once the service may have processed it.
   */
  after?: string | undefined;
  /** Duration for which the service waits for a reply if there is none, from 0 to 60,000 milliseconds. Defaults to 0. */
  waitMs?: number | undefined;
  /** Returns the replies without removing or acknowledging them. */
  peek?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

function isDrainAnswer(body: unknown): body is DrainAnswer {
  return isRecord(body) && body["ok"] === true && Array.isArray(body["replies"]) && typeof body["cursor"] === "string";
}

/** Returns the request that collects the replies of a chat. */
export function drainCall(chatId: string, { after, waitMs, peek, signal }: DrainOptions): CallRequest {
  return {
    method: "GET",
    path: fillPath(`${MESSAGES_PATH}/{chatId}`, { chatId }),
    query: { wait: waitMs, after, peek: peek === true ? 1 : undefined },
    waitMs,
    signal,
  };
}

/** Returns the parsed response. Throws ServiceError if it has an unexpected format. */
export function drainAnswerOf({ status, body }: CallAnswer): DrainAnswer {
  if (!isDrainAnswer(body)) throw unexpected(status);
  return body;
}

/** A server-sent event (HTML standard, "Server-sent events"). */
export interface ServerEvent {
  type: string;
  data: string;
  /** ID from which an interrupted stream resumes. Absent if the event has none. */
  id?: string;
}

const END = "\n\n";

/** Returns one event, or null if the lines are a comment or a reconnection time. */
function parseEvent(lines: string): ServerEvent | null {
  const event: Omit<ServerEvent, "data"> = { type: "message" };
  const data: string[] = [];
  for (const line of lines.split("\n")) {
    // Not with a regular expression: its dot does not match other line separators, which may occur in any text.
    const [field = ""] = line.split(":", 1);
    const value = line.slice(field.length + 1).replace(/^ /, "");
    if (field === "event") event.type = value;
    if (field === "data") data.push(value);
    if (field === "id") event.id = value;
  }
  const text = data.join("\n");
  return text === "" ? null : { ...event, data: text };
}

/** Yields the chunks of a body as they arrive, or all at once if the platform does not support streaming. */
async function* piecesOf(response: Response, wait: Wait): AsyncGenerator<string, void, undefined> {
  if (response.body === null) {
    yield await wait(response.text());
    return;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (let read = await wait(reader.read()); !read.done; read = await wait(reader.read())) {
    yield decoder.decode(read.value, { stream: true });
  }
}

/** Yields the events of a response as they arrive, with data on one or several lines. */
export async function* readEvents(response: Response, wait: Wait): AsyncGenerator<ServerEvent, void, undefined> {
  let rest = "";
  for await (const piece of piecesOf(response, wait)) {
    const from = Math.max(0, rest.length - 1);
    rest += piece.replaceAll("\r", "");
    for (let end = rest.indexOf(END, from); end >= 0; end = rest.indexOf(END)) {
      const event = parseEvent(rest.slice(0, end));
      rest = rest.slice(end + END.length);
      if (event !== null) yield event;
    }
  }
}

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

/** Yields the events of one request, which acknowledges the replies up to `after`, until the service ends the response. */
async function* readOnce(
  connection: Connection,
  chatId: string,
  call: { after: string; waitMs: number; signal: AbortSignal | undefined; isFirst: boolean },
): AsyncGenerator<StreamEvent, void, undefined> {
  const control = openRequestControl(call.signal);
  try {
    const sent = { ...drainCall(chatId, call), accept: `${EVENT_STREAM}, */*;q=0.5` };
    // After a dropped connection, the service repeats the partial text of an unfinished reply.
    const response = await request(connection, call.isFirst ? sent : { ...sent, lastEventId: call.after }, control);
    yield { type: "begun", data: null };
    const isStream = response.ok && response.headers.get("content-type")?.startsWith(EVENT_STREAM) === true;
    if (!isStream) {
      for (const data of drainAnswerOf(await readAnswer(response)).replies) yield { type: "reply", data };
      return;
    }
    const heard = control.within(HEARTBEAT_MS + connection.timeoutMs);
    for await (const { type, data } of readEvents(response, heard)) {
      if (type === "done") return;
      yield { type, data: parseJson(data) };
    }
  } catch (cause) {
    throw control.explain(cause);
  } finally {
    control.close();
  }
}

/** Returns the reply in an event, or null for other events. Throws the problem of an event `error`. */
function replyOf({ type, data }: StreamEvent): ReplyItem | null {
  if (type === "reply" && isReply(data)) return data;
  if (type === "reply") throw unexpected(OK);
  if (type === "error") throw errorOf(isRecord(data) ? Number(data["status"]) : OK, data);
  return null;
}

/**
 * Returns a function that returns the delay before the next request: null after a request that waited or returned
 * replies, and a growing delay after failures and after empty responses that did not wait.
 */
function createBackoff(): (error: ServiceError | null, isFirst: boolean) => number | null {
  let failures = 0;
  let idle = 0;
  return (error, isFirst) => {
    failures = error === null ? 0 : isFirst ? 1 : failures + 1;
    idle = error !== null || isFirst ? 0 : idle + 1;
    if (failures + idle === 0) return null;
    return error === null ? delayAfter(WITHOUT_ADVICE, idle) : delayAfter(error, failures - 1);
  };
}

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

  /** Reports what an event says about the reply that is being written. */
  function notify({ type, data }: StreamEvent): void {
    if (type === "begun") isBegun = true;
    if (type === "delta" && isDelta(data)) onDelta?.(data);
    if (type !== "typing" || !isRecord(data)) return;
    const on = data["on"] === true;
    // A resumed stream repeats the state.
    if (on !== isTyping) onTyping?.(on);
    isTyping = on;
  }

  async function* read(): AsyncGenerator<ReplyItem, void, undefined> {
    if (isRead) throw new TypeError("This stream is already being read. Create another stream for another reader.");
    isRead = true;
    const nextDelayMs = createBackoff();
    try {
      for (;;) {
        const begunAtMs = performance.now();
        let problem: ServiceError | null = null;
        let isIdle = true;
        try {
          const call = { after: cursor, waitMs, signal, isFirst: !isBegun };
          for await (const event of readOnce(connection, chatId, call)) {
            notify(event);
            const reply = replyOf(event);
            if (reply === null) continue;
            // A reader that stops has this reply, and does not receive it again; the next request acknowledges it.
            cursor = String(reply.seq);
            isIdle = false;
            yield reply;
          }
        } catch (error) {
          if (!(error instanceof ServiceError) || !isTransient(error)) throw error;
          problem = error;
        }
        const isFirst = !isIdle || performance.now() - begunAtMs >= SHORT_WAIT_MS;
        const delayMs = nextDelayMs(problem, isFirst);
        if (delayMs === null) continue;
        if (problem !== null) connection.onRetry(problem, delayMs);
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
