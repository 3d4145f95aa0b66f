import type { AsyncAnswer, PendingAnswer, ReplyItem, SyncAnswer, WebhookAnswer } from "@svc/contracts";
import type { CallOutcome, StoredResponse, StoredReply } from "@svc/store";
import type { Response } from "express";

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
export function drainUrlOf(chatId: string): string {
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
