import { batched } from "../context.ts";
import type { ProjectId } from "../ids.ts";
import { IS_ALIVE } from "../platform/processes.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** A call with an Idempotency-Key: what it is, and who makes it. */
export interface IdempotentCall {
  apiKeyId: string;
  project: ProjectId;
  method: string;
  path: string;
  key: string;
  /** SHA-256 of what the call asks for: another one under the same key is a mistake. */
  bodyHash: Buffer;
  /** The call itself, and the process that it runs in. */
  callId: string;
  instance: string;
  /** Ids of the message, should this be the first call. */
  messageId: string;
  chatId: string;
}

/** The answer that repeats of a call get. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The message that a key stands for. */
export interface KeyedMessage {
  messageId: string;
  chatId: string;
}

/** What others have left under a key. */
export type IdempotencyTrace =
  | ({ kind: "answered"; answer: KeptAnswer } & KeyedMessage)
  /** Another call is being worked on. */
  | { kind: "busy" }
  /** The key was used with another body. */
  | { kind: "mismatch" };

/** What a call finds under its key. */
export type IdempotencyClaim =
  /** The key is this call's; `isRepeat`: an earlier call has died or hung up, and its message may be there. */
  ({ kind: "mine"; isRepeat: boolean } & KeyedMessage) | IdempotencyTrace;

/** How long a key is remembered. */
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

/** What a caller has by the answer of a sync call: its message's call is over then, and these replies are delivered. */
export interface HandedOver {
  messageId: string;
  replyIds: string[];
}

const IS_EXPIRED = `k.created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`;

/**
 * SQL that is true when no call is being worked on under a row `k`: it has ended, or its process is dead. `instance` is
 * an SQL expression for the process that asks: its own calls live, even if others count it as dead for a moment.
 */
const isFree = (instance: string) => `(k.call_id IS NULL OR (k.call_instance <> ${instance} AND NOT EXISTS (
  SELECT 1 FROM instances i WHERE i.id = k.call_instance AND ${IS_ALIVE})))`;

/** SQL that is true when a call of `instance` with this body may have a row `k`; both are SQL expressions. */
const isClaimable = (bodyHash: string, instance: string) =>
  `(${IS_EXPIRED} OR (k.body_hash = ${bodyHash} AND k.status IS NULL AND ${isFree(instance)}))`;

interface AnswerItem {
  call: IdempotentCall;
  answer: KeptAnswer;
  handedOver: HandedOver | null;
}

const sql = statements("messages/idempotency-keys", {
  isClaimable: isClaimable(":body_hash", ":instance"),
  idempotencyHours: IDEMPOTENCY_HOURS,
  isClaimable2: isClaimable("excluded.body_hash", "excluded.call_instance"),
  isFree: isFree(":instance::uuid"),
});

const answerBatched = batched<Context, AnswerItem, void>(async (context: Context, items) => {
  const ended = items.flatMap(({ call, handedOver }) =>
    handedOver === null ? [] : [{ project: call.project, ...handedOver }],
  );
  const delivered = ended.flatMap(({ project, replyIds }) => replyIds.map((id) => ({ project, id })));
  await sql.answer.run(context.notes, {
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
    projectId2: delivered.map(({ project }) => project),
    id2: delivered.map(({ id }) => id),
  });
  return items.map(() => undefined);
});

/** What is known under a call's key; null when the call may have it. */
export async function find(context: Context, call: IdempotentCall): Promise<IdempotencyTrace | null> {
  const row = await sql.read.one<KeyRow>(context.hot, {
    apiKeyId: call.apiKeyId,
    method: call.method,
    path: call.path,
    key: call.key,
    bodyHash: call.bodyHash,
    instance: call.instance,
  });
  if (row === null || row.isClaimable) return null;
  if (!row.bodyHash.equals(call.bodyHash)) return { kind: "mismatch" };
  if (row.status === null) return { kind: "busy" };
  const answer = { status: row.status, headers: row.headers ?? {}, body: row.body ?? "" };
  return { kind: "answered", answer, messageId: row.messageId, chatId: row.chatId };
}

/** Claims a key for a call, or says what is known under it. */
export async function claim(context: Context, call: IdempotentCall): Promise<IdempotencyClaim> {
  for (;;) {
    const claimed = await sql.claim.one<Pick<KeyRow, "messageId" | "chatId">>(context.hot, {
      apiKeyId: call.apiKeyId,
      project: call.project,
      method: call.method,
      path: call.path,
      key: call.key,
      bodyHash: call.bodyHash,
      messageId: call.messageId,
      chatId: call.chatId,
      callId: call.callId,
      instance: call.instance,
    });
    if (claimed !== null) {
      const { messageId, chatId } = claimed;
      return { kind: "mine", isRepeat: messageId !== call.messageId, messageId, chatId };
    }
    // It may have been forgotten or given back between the two statements: then it can be claimed.
    const found = await find(context, call);
    if (found !== null) return found;
  }
}

/**
 * Takes over a key that has this answer, to give a better one; false when another call is at it or has given one.
 */
export async function reclaim(context: Context, call: IdempotentCall, answer: KeptAnswer): Promise<boolean> {
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
 * Keeps the answer of a call that still has its key: repeats get it from now on. With what the caller has by it, the
 * call of its message ends in the same moment, also where another call has taken the key over. Safe to repeat.
 */
export function answer(
  context: Context,
  call: IdempotentCall,
  kept: KeptAnswer,
  handedOver: HandedOver | null = null,
): Promise<void> {
  return answerBatched(context, { call, answer: kept, handedOver });
}

/** Gives a key back: the next call under it takes this one's place. Safe to repeat. */
export async function release(context: Context, call: IdempotentCall): Promise<void> {
  await sql.release.run(context.hot, {
    apiKeyId: call.apiKeyId,
    method: call.method,
    path: call.path,
    key: call.key,
    callId: call.callId,
  });
}

/** Forgets keys that are older than 24 hours, at most `limit`; returns how many. */
export async function deleteExpired(context: Context, limit: number): Promise<number> {
  const count = await sql.deleteExpired.run(context.hot, { limit });
  return count;
}
