import { createBatcher } from "../batcher.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { IS_ALIVE } from "../platform/instances.ts";

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
  message_id: string;
  chat_id: string;
  body_hash: Buffer;
  status: number | null;
  headers: Record<string, string> | null;
  body: string | null;
  is_claimable: boolean;
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

/** Which calls were made under which Idempotency-Key, and what they were answered. `notes` is for the answers. */
export function idempotencyKeysTable(db: Db, notes: Db) {
  // The first call makes the row; one whose predecessor has died or hung up takes it over; an expired row begins anew.
  const CLAIM = `
    INSERT INTO idempotency_keys AS k
      (api_key_id, project_id, method, path, key, body_hash, message_id, chat_id, call_id, call_instance)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ON CONFLICT (api_key_id, method, path, key) DO UPDATE SET
      call_id = excluded.call_id, call_instance = excluded.call_instance, project_id = excluded.project_id,
      body_hash = excluded.body_hash,
      message_id = CASE WHEN ${IS_EXPIRED} THEN excluded.message_id ELSE k.message_id END,
      chat_id = CASE WHEN ${IS_EXPIRED} THEN excluded.chat_id ELSE k.chat_id END,
      status = NULL, headers = NULL, body = NULL,
      created_at = CASE WHEN ${IS_EXPIRED} THEN now() ELSE k.created_at END
    WHERE ${isClaimable("excluded.body_hash", "excluded.call_instance")}
    RETURNING message_id, chat_id`;

  const READ = `
    SELECT message_id, chat_id, body_hash, status, headers, body,
      ${isClaimable("$5", "$6")} AS is_claimable
    FROM idempotency_keys k WHERE api_key_id = $1 AND method = $2 AND path = $3 AND key = $4`;

  // An answer that its caller has, what is delivered by it, and the end of the call become true together: whoever
  // repeats the call finds either all of it done, or the replies where they were. Concurrent calls share the statement.
  const ANSWER = `
    WITH kept AS (
      UPDATE idempotency_keys k SET call_id = NULL, call_instance = NULL, status = a.status, headers = a.headers, body = a.body
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::integer[], $7::jsonb[], $8::text[])
        AS a (api_key_id, method, path, key, call_id, status, headers, body)
      WHERE k.api_key_id = a.api_key_id AND k.method = a.method AND k.path = a.path AND k.key = a.key AND k.call_id = a.call_id
    ), ended AS (
      UPDATE messages m SET call_ended_at = now() FROM unnest($9::uuid[], $10::uuid[]) AS e (project_id, id)
      WHERE m.id = e.id AND m.project_id = e.project_id AND m.call_ended_at IS NULL
    )
    UPDATE replies r SET delivered_at = now(), taken_by = NULL
    FROM unnest($11::uuid[], $12::uuid[]) AS d (project_id, id)
    WHERE r.id = d.id AND r.project_id = d.project_id AND r.delivered_at IS NULL`;

  const answer = createBatcher<AnswerItem, void>(async (items) => {
    const ended = items.flatMap(({ call, handedOver }) =>
      handedOver === null ? [] : [{ project: call.project, ...handedOver }],
    );
    const delivered = ended.flatMap(({ project, replyIds }) => replyIds.map((id) => ({ project, id })));
    await notes.prepared("idempotency_keys_answer", ANSWER, [
      items.map(({ call }) => call.apiKeyId),
      items.map(({ call }) => call.method),
      items.map(({ call }) => call.path),
      items.map(({ call }) => call.key),
      items.map(({ call }) => call.callId),
      items.map((item) => item.answer.status),
      items.map((item) => JSON.stringify(item.answer.headers)),
      items.map((item) => item.answer.body),
      ended.map(({ project }) => project),
      ended.map(({ messageId }) => messageId),
      delivered.map(({ project }) => project),
      delivered.map(({ id }) => id),
    ]);
    return items.map(() => undefined);
  });

  /** What is known under a call's key; null when the call may have it. */
  async function find(call: IdempotentCall): Promise<IdempotencyTrace | null> {
    const [row] = await db.prepared<KeyRow>("idempotency_keys_find", READ, [
      call.apiKeyId,
      call.method,
      call.path,
      call.key,
      call.bodyHash,
      call.instance,
    ]);
    if (row === undefined || row.is_claimable) return null;
    if (!row.body_hash.equals(call.bodyHash)) return { kind: "mismatch" };
    if (row.status === null) return { kind: "busy" };
    const answer = { status: row.status, headers: row.headers ?? {}, body: row.body ?? "" };
    return { kind: "answered", answer, messageId: row.message_id, chatId: row.chat_id };
  }

  return {
    find,

    /** Claims a key for a call, or says what is known under it. */
    async claim(call: IdempotentCall): Promise<IdempotencyClaim> {
      for (;;) {
        const [claimed] = await db.prepared<Pick<KeyRow, "message_id" | "chat_id">>("idempotency_keys_claim", CLAIM, [
          call.apiKeyId,
          call.project,
          call.method,
          call.path,
          call.key,
          call.bodyHash,
          call.messageId,
          call.chatId,
          call.callId,
          call.instance,
        ]);
        if (claimed !== undefined) {
          const { message_id: messageId, chat_id: chatId } = claimed;
          return { kind: "mine", isRepeat: messageId !== call.messageId, messageId, chatId };
        }
        // It may have been forgotten or given back between the two statements: then it can be claimed.
        const found = await find(call);
        if (found !== null) return found;
      }
    },

    /**
     * Takes over a key that has this answer, to give a better one; false when another call is at it or has given one.
     */
    async reclaim(call: IdempotentCall, answer: KeptAnswer): Promise<boolean> {
      const rows = await db.query(
        `UPDATE idempotency_keys k SET call_id = $5, call_instance = $6
         WHERE api_key_id = $1 AND method = $2 AND path = $3 AND key = $4 AND status = $7 AND body = $8
           AND ${isFree("$6::uuid")}
         RETURNING 1`,
        [call.apiKeyId, call.method, call.path, call.key, call.callId, call.instance, answer.status, answer.body],
      );
      return rows.length > 0;
    },

    /**
     * Keeps the answer of a call that still has its key: repeats get it from now on. With what the caller has by it, the
     * call of its message ends in the same moment, also where another call has taken the key over. Safe to repeat.
     */
    answer(call: IdempotentCall, kept: KeptAnswer, handedOver: HandedOver | null = null): Promise<void> {
      return answer({ call, answer: kept, handedOver });
    },

    /** Gives a key back: the next call under it takes this one's place. Safe to repeat. */
    async release(call: IdempotentCall): Promise<void> {
      await db.query(
        `UPDATE idempotency_keys SET call_id = NULL, call_instance = NULL
         WHERE api_key_id = $1 AND method = $2 AND path = $3 AND key = $4 AND call_id = $5`,
        [call.apiKeyId, call.method, call.path, call.key, call.callId],
      );
    },

    /** Forgets keys that are older than 24 hours, at most `limit`; answers how many. */
    async deleteExpired(limit: number): Promise<number> {
      const rows = await db.query(
        `DELETE FROM idempotency_keys WHERE ctid IN (
           SELECT k.ctid FROM idempotency_keys k WHERE ${IS_EXPIRED} LIMIT $1 FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        [limit],
      );
      return rows.length;
    },
  };
}
