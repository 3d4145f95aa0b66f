import type {
  AsyncAnswer,
  MessageRequest,
  PendingAnswer,
  SyncAnswer,
  WebhookAnswer,
  DrainAnswer,
} from "@svc/contracts";
import { MESSAGES_PATH, fillPath, isRecord } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { callWithRetries, unexpected } from "./try-call.ts";
import type { CallAnswer, CallRequest } from "./try-call.ts";

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
