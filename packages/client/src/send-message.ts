import type { AsyncAnswer, MessageRequest, PendingAnswer, SyncAnswer, WebhookAnswer } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { isRecord } from "./is-record.ts";
import { MESSAGES_PATH } from "./fill-path.ts";
import { callWithRetries } from "./retry.ts";
import { unexpected } from "./try-call.ts";

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
