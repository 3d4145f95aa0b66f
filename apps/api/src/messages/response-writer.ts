import type { Request, Response } from "express";
import type {
  AcceptedEvent,
  AsyncAnswer,
  DeltaEvent,
  PendingAnswer,
  ReplyItem,
  SyncAnswer,
  WebhookAnswer,
} from "@svc/contracts";
import { openEventStream, streamError } from "@svc/http";
import type { EventStream } from "@svc/http";
import { isUnavailable } from "@svc/store";
import type { Log } from "@svc/log";
import type { CallOutcome, ProjectId, Store, StoredReply, StoredResponse } from "@svc/store";

/** IDs that every response to a message contains. */
export interface CallIds {
  chatId: string;
  ticketId: string;
  messageId: string;
}

/** Returns a stored reply as the API returns it (service document, section 2.2, with the fields of every item). */
export function replyJson(reply: StoredReply): ReplyItem {
  const common = {
    id: reply.id,
    seq: reply.seq,
    createdAt: reply.createdAt.toISOString(),
    inReplyTo: reply.inReplyTo,
    author: reply.author,
  };
  if (reply.type === "attachment") {
    const { filename, mime } = reply;
    return { type: "attachment", filename, mime, base64: reply.content.toString("base64"), ...common };
  }
  const { text, markdown, sources } = reply;
  return { type: "message", text, markdown, ...common, ...(sources === null ? {} : { sources }) };
}

/** Returns the path under which the replies of a chat are collected. */
function drainUrlOf(chatId: string): string {
  return `/api/v1/messages/${encodeURIComponent(chatId)}`;
}

/** Returns a response with a JSON body. */
export function jsonResponse(status: number, body: object, headers: Record<string, string> = {}): StoredResponse {
  return {
    status,
    headers: { "Content-Type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  };
}

/** Sends a prepared response. */
export function sendResponse(response: Response, { status, headers, body }: StoredResponse): void {
  response.status(status).set(headers).send(body);
}

/**
 * Returns the final response of a sync call: the replies to its message, or none if an operator has dismissed the
 * draft or has answered a later message of the chat for both. Null if there is no final response yet: the reply is
 * pending, in the buffer, or being collected.
 */
export function finalSync(
  { chatId, ticketId, messageId }: CallIds,
  { state, coveredBy, replies }: CallOutcome,
): StoredResponse | null {
  const isFinal = state === "rejected" || (state === "answered" && (replies.length > 0 || coveredBy !== null));
  if (!isFinal) return null;
  const body: SyncAnswer = {
    ok: true,
    mode: "sync",
    ...(state === "rejected" ? { status: state } : {}),
    chatId,
    ticketId,
    messageId,
    replies: replies.map(replyJson),
    ...(coveredBy === null ? {} : { coveredBy }),
  };
  return jsonResponse(200, body);
}

/** Returns the response of a sync call without an agent's reply, which can be collected later. */
export function pendingSync(
  { chatId, ticketId, messageId }: CallIds,
  result: { status: "pending" | "in_review"; timedOut: boolean; replies: StoredReply[] },
): StoredResponse {
  const drainUrl = drainUrlOf(chatId);
  const { status, timedOut } = result;
  const replies = result.replies.map(replyJson);
  const ids = { chatId, ticketId, messageId };
  const body: PendingAnswer = { ok: true, mode: "sync", status, timedOut, ...ids, replies, drainUrl };
  return jsonResponse(202, body, { Location: drainUrl });
}

/** Returns the response of an async call, whose replies are collected. */
export function queuedAsync({ chatId, ticketId, messageId }: CallIds): StoredResponse {
  const drainUrl = drainUrlOf(chatId);
  const body: AsyncAnswer = { ok: true, mode: "async", status: "queued", chatId, ticketId, messageId, drainUrl };
  return jsonResponse(202, body, { Location: drainUrl });
}

/** Returns the response of a call whose replies are sent to its callback URL. */
export function queuedWebhook({ chatId, ticketId, messageId }: CallIds, deliveryId: string | null): StoredResponse {
  const drainUrl = drainUrlOf(chatId);
  const ids = { chatId, ticketId, messageId, deliveryId };
  const body: WebhookAnswer = { ok: true, mode: "webhook", status: "queued", ...ids, drainUrl };
  return jsonResponse(202, body, { Location: drainUrl });
}

/**
 * Resolves when the connection of a response is closed or free for the next request: true if all of the response was
 * written to a live connection, false if the caller had disconnected before. Node also emits "finish" for a response
 * to a broken connection, so the socket is checked at that moment.
 */
export function watchResponse(response: Response): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    let isFlushed = false;
    // Before Node's own listener, which detaches the socket from the response.
    response.prependOnceListener("finish", () => {
      const { socket } = response;
      isFlushed = socket !== null && !socket.destroyed && socket.errored === null;
    });
    response.once("close", () => resolve(isFlushed));
  });
}

/** How a call gets its response: as one body when it is ready, or as events until then. */
export interface ResponseWriter {
  /** True if it shows the reply while it is being made. */
  readonly showsTexts: boolean;
  /** Called when the message of a waiting call is stored. */
  begin(ids: CallIds): void;
  /** Called when the reply may have grown. Never rejects. */
  show(call: CallIds & { project: ProjectId }): Promise<void>;
  /** Sends a response that is ready, also the stored one of an earlier call. Never rejects. */
  send(stored: StoredResponse): Promise<void>;
  /** Reports an error in a response that has started; false if it has not, and the error can be sent as usual. */
  fail(error: unknown): boolean;
}

/** Returns the writer that responds with one body. */
export function jsonWriter(response: Response): ResponseWriter {
  return {
    showsTexts: false,
    begin: () => undefined,
    show: () => Promise.resolve(),
    send(stored) {
      sendResponse(response, stored);
      return Promise.resolve();
    },
    fail: () => false,
  };
}

/**
 * Returns the delta for a reader who has `before`, so that it has `text`; null if both are the same. It continues the
 * text, or replaces it, so that no reader has to count characters. `before` is null for a reader whose connection
 * dropped, since what it received is unknown.
 */
export function growText(messageId: string, before: string | null, text: string): DeltaEvent | null {
  if (text === before) return null;
  const offset = before !== null && text.startsWith(before) ? before.length : 0;
  return { messageId, offset, text: text.slice(offset) };
}

/**
 * Returns the text that the deltas of a message add up to: that of the first reply with a text. Attachments have
 * none, and what an operator adds later is a separate reply.
 */
export function textOf(replies: readonly { type: string; text?: string }[]): string {
  return replies.find(({ text }) => text !== undefined)?.text ?? "";
}

/** Returns the body of a sync call's response; null for errors and other modes, which are no streams. */
function syncBodyOf({ status, body }: StoredResponse): SyncAnswer | PendingAnswer | null {
  if (status >= 300) return null;
  // Written by finalSync, pendingSync, queuedAsync or queuedWebhook.
  const parsed = JSON.parse(body) as SyncAnswer | PendingAnswer | { mode: "async" | "webhook" };
  return parsed.mode === "sync" ? parsed : null;
}

/** Sends the last events of a response, each after a slow reader has received the previous one; false if that fails. */
async function sendReplies(
  stream: EventStream,
  emit: (event: string, data: unknown) => boolean,
  body: SyncAnswer | PendingAnswer,
): Promise<boolean> {
  await stream.drained();
  emit("typing", { on: false });
  for (const reply of body.replies) {
    await stream.drained();
    emit("reply", reply);
  }
  await stream.drained();
  return emit("done", body);
}

/**
 * Returns the writer that responds to a sync call with events (docs/streaming.md): `accepted` and `typing` at once, `delta`
 * while the reply is being made, in the end each `reply`, and `done` with the body of the response without streaming. Each
 * event has an id that names the message, with which a caller whose connection dropped resumes: `isResumed`. Other modes
 * get JSON.
 */
export function eventWriter(
  { store, log }: { store: Store; log: Log },
  request: Request,
  response: Response,
  isResumed: boolean,
): ResponseWriter {
  let stream: EventStream | null = null;
  let messageId = "";
  let events = 0;
  /** The text that the caller has received; null if unknown, since an earlier connection dropped. */
  let shown: string | null = isResumed ? null : "";
  let hasDeltas = isResumed;

  const emit = (event: string, data: unknown) => stream?.send(event, data, `${messageId}.${++events}`) === true;

  function showText(text: string): void {
    const delta = growText(messageId, shown, text);
    if (delta === null || !emit("delta", delta)) return;
    shown = text;
    hasDeltas = true;
  }

  function begin(ids: CallIds): EventStream {
    if (stream !== null) return stream;
    const { chatId, ticketId } = ids;
    messageId = ids.messageId;
    stream = openEventStream(response);
    const drainUrl = drainUrlOf(chatId);
    emit("accepted", { ok: true, mode: "sync", chatId, ticketId, messageId, drainUrl } satisfies AcceptedEvent);
    emit("typing", { on: true });
    return stream;
  }

  return {
    showsTexts: true,
    begin,

    async show({ project, ticketId }) {
      // A slow reader gets more at once later.
      if (stream === null || stream.isBehind()) return;
      try {
        const found = await store.unfinishedReplies.find(project, ticketId);
        if (found?.messageId === messageId && found.text !== null) showText(found.text);
      } catch (error) {
        if (!isUnavailable(error)) log.warn({ error, messageId }, "failed to send a partial reply");
      }
    },

    async send(stored) {
      const body = syncBodyOf(stored);
      if (body === null) {
        sendResponse(response, stored);
        return;
      }
      const open = begin(body);
      // The text that was shown ends as the stored reply, even if that is another text. The rest of an unfinished reply is
      // in the drain.
      if (hasDeltas && body.status !== "pending") showText(textOf(body.replies));
      if (await sendReplies(open, emit, body)) open.end();
      // A stream that has failed is destroyed, so that nothing counts as delivered by it.
      else response.destroy();
    },

    fail(error) {
      if (stream === null) return false;
      emit("error", streamError(request, response, error));
      stream.end();
      return true;
    },
  };
}
