import { batched } from "../context.ts";
import type { ProjectId } from "../ids.ts";
import { IS_ALIVE } from "../platform/processes.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** A call with an Idempotency-Key, and its caller. */
export interface IdempotentCall {
  apiKeyId: string;
  project: ProjectId;
  method: string;
  path: string;
  key: string;
  /** SHA-256 of the request: another request with the same key is an error. */
  bodyHash: Buffer;
  /** Id of the call, and of its process. */
  callId: string;
  instance: string;
  /** Ids of the message, if this is the first call. */
  messageId: string;
  chatId: string;
}

/** The response that repeated calls get. */
export interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The message of a key. */
export interface KeyedMessage {
  messageId: string;
  chatId: string;
}

/** State of a key that another call has used. */
export type IdempotencyTrace =
  | ({ kind: "answered"; answer: StoredResponse } & KeyedMessage)
  /** Another call with the key is in progress. */
  | { kind: "busy" }
  /** The key was used with another body. */
  | { kind: "mismatch" };

/** Result of claiming a key. */
export type IdempotencyClaim =
  /**
   * The call has claimed the key; `isRepeat`: the process of an earlier call crashed or its client disconnected, and
   * its message may exist.
   */
  ({ kind: "mine"; isRepeat: boolean } & KeyedMessage) | IdempotencyTrace;

/** Retention of a key. */
export const IDEMPOTENCY_HOURS = 24;

interface KeyRow {
  messageId: string;
  chatId: string;
  bodyHash: Buffer;
  status: number | null;
  headers: Record<string, string> | null;
  body: string | null;
  isClaimable: boolean;
}

/** The message of a sync call that has ended, and the replies that its caller has received with the response. */
export interface DeliveredCall {
  messageId: string;
  replyIds: string[];
}

const IS_EXPIRED = `k.created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`;

/**
 * SQL that is true if no call with a row `k` is in progress: it has ended, or its process has crashed. `instance` is an
 * SQL expression for the calling process: its own calls are running, even if others consider it crashed for a moment.
 */
const isFree = (instance: string) => `(k.call_id IS NULL OR (k.call_instance <> ${instance} AND NOT EXISTS (
  SELECT 1 FROM instances i WHERE i.id = k.call_instance AND ${IS_ALIVE})))`;

/** SQL that is true if a call of `instance` with this body may claim a row `k`; both are SQL expressions. */
const isClaimable = (bodyHash: string, instance: string) =>
  `(${IS_EXPIRED} OR (k.body_hash = ${bodyHash} AND k.status IS NULL AND ${isFree(instance)}))`;

interface ResponseItem {
  call: IdempotentCall;
  answer: StoredResponse;
  delivered: DeliveredCall | null;
}

const sql = statements("messages/idempotency-keys", {
  isClaimable: isClaimable(":body_hash", ":instance"),
  idempotencyHours: IDEMPOTENCY_HOURS,
  isClaimable2: isClaimable("excluded.body_hash", "excluded.call_instance"),
  isFree: isFree(":instance::uuid"),
});

const storeResponseBatched = batched<Context, ResponseItem, void>(async (context: Context, items) => {
  const ended = items.flatMap(({ call, delivered }) =>
    delivered === null ? [] : [{ project: call.project, ...delivered }],
  );
  const replies = ended.flatMap(({ project, replyIds }) => replyIds.map((id) => ({ project, id })));
  await sql.storeResponse.run(context.notes, {
    apiKeyId: items.map(({ call }) => call.apiKeyId),
    method: items.map(({ call }) => call.method),
    path: items.map(({ call }) => call.path),
    key: items.map(({ call }) => call.key),
    callId: items.map(({ call }) => call.callId),
    status: items.map((item) => item.answer.status),
    headers: items.map((item) => JSON.stringify(item.answer.headers)),
    body: items.map((item) => item.answer.body),
    projectId: ended.map(({ project }) => project),
    id: ended.map(({ messageId }) => messageId),
    projectId2: replies.map(({ project }) => project),
    id2: replies.map(({ id }) => id),
  });
  return items.map(() => undefined);
});

/** Returns the state of a call's key; null if the call may claim it. */
export async function find(context: Context, call: IdempotentCall): Promise<IdempotencyTrace | null> {
  const row = await sql.read.one<KeyRow>(context.hot, call);
  if (row === null || row.isClaimable) return null;
  if (!row.bodyHash.equals(call.bodyHash)) return { kind: "mismatch" };
  if (row.status === null) return { kind: "busy" };
  const answer = { status: row.status, headers: row.headers ?? {}, body: row.body ?? "" };
  return { kind: "answered", answer, messageId: row.messageId, chatId: row.chatId };
}

/** Claims a key for a call, or returns its state. */
export async function claim(context: Context, call: IdempotentCall): Promise<IdempotencyClaim> {
  for (;;) {
    const claimed = await sql.claim.one<Pick<KeyRow, "messageId" | "chatId">>(context.hot, { ...call });
    if (claimed !== null) {
      const { messageId, chatId } = claimed;
      return { kind: "mine", isRepeat: messageId !== call.messageId, messageId, chatId };
    }
    // It may have been deleted or released between the two statements: then it can be claimed.
    const found = await find(context, call);
    if (found !== null) return found;
  }
}

/**
 * Claims a key that has this response, to replace it with a better one; false if another call is doing so or has done
 * so.
 */
export async function reclaim(context: Context, call: IdempotentCall, answer: StoredResponse): Promise<boolean> {
  return (
    (await sql.reclaim.run(context.hot, {
      apiKeyId: call.apiKeyId,
      method: call.method,
      path: call.path,
      key: call.key,
      callId: call.callId,
      instance: call.instance,
      status: answer.status,
      body: answer.body,
    })) > 0
  );
}

/**
 * Stores the response of a call that still holds its key: repeated calls get it from now on. If the caller has received
 * it, the call of its message ends in the same statement, even if another call has claimed the key. Safe to repeat.
 */
export function storeResponse(
  context: Context,
  call: IdempotentCall,
  stored: StoredResponse,
  delivered: DeliveredCall | null = null,
): Promise<void> {
  return storeResponseBatched(context, { call, answer: stored, delivered });
}

/** Releases a key: the next call with it replaces this one. Safe to repeat. */
export const release = (context: Context, call: IdempotentCall): Promise<void> => sql.release.exec(context.hot, call);

/** Deletes keys that are older than 24 hours, at most `limit`; returns how many. */
export const deleteExpired = (context: Context, limit: number): Promise<number> =>
  sql.deleteExpired.run(context.hot, { limit });
