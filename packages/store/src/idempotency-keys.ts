import type { Db } from "./db.ts";
import type { ProjectId } from "./ids.ts";
import { IS_ALIVE } from "./instances.ts";

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
interface KeyedMessage {
  messageId: string;
  chatId: string;
}

/** What a call finds under its key. */
export type IdempotencyClaim =
  /** The key is this call's; `isRepeat`: an earlier call has died or hung up, and its message may be there. */
  | ({ kind: "mine"; isRepeat: boolean } & KeyedMessage)
  | ({ kind: "answered"; answer: KeptAnswer } & KeyedMessage)
  /** Another call is being worked on. */
  | { kind: "busy" }
  /** The key was used with another body. */
  | { kind: "mismatch" };

/** How long a key is remembered. */
export const IDEMPOTENCY_HOURS = 24;

interface KeyRow {
  message_id: string;
  chat_id: string;
  body_hash: Buffer;
  status: number | null;
  headers: Record<string, string> | null;
  body: string | null;
}

const IS_EXPIRED = `k.created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`;
const IS_FREE = `(k.call_id IS NULL OR NOT EXISTS (SELECT 1 FROM instances i WHERE i.id = k.call_instance AND ${IS_ALIVE}))`;

/** Which calls were made under which Idempotency-Key, and what they were answered. */
export function idempotencyKeysTable(db: Db) {
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
    WHERE ${IS_EXPIRED} OR (k.body_hash = excluded.body_hash AND k.status IS NULL AND ${IS_FREE})
    RETURNING message_id, chat_id`;

  const READ = `
    SELECT message_id, chat_id, body_hash, status, headers, body FROM idempotency_keys
    WHERE api_key_id = $1 AND method = $2 AND path = $3 AND key = $4`;

  return {
    /** Claims a key for a call, or says what is known under it. */
    async claim(call: IdempotentCall): Promise<IdempotencyClaim> {
      const name = [call.apiKeyId, call.method, call.path, call.key];
      for (;;) {
        const [claimed] = await db.query<Pick<KeyRow, "message_id" | "chat_id">>(CLAIM, [
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
        const [row] = await db.query<KeyRow>(READ, name);
        // It may have been forgotten between the two statements: then it is free.
        if (row === undefined) continue;
        if (!row.body_hash.equals(call.bodyHash)) return { kind: "mismatch" };
        if (row.status === null) return { kind: "busy" };
        const answer = { status: row.status, headers: row.headers ?? {}, body: row.body ?? "" };
        return { kind: "answered", answer, messageId: row.message_id, chatId: row.chat_id };
      }
    },

    /** Takes over a key that has an answer, to give a better one; false when another call is at it. */
    async reclaim(call: IdempotentCall): Promise<boolean> {
      const rows = await db.query(
        `UPDATE idempotency_keys k SET call_id = $5, call_instance = $6
         WHERE api_key_id = $1 AND method = $2 AND path = $3 AND key = $4 AND status IS NOT NULL AND ${IS_FREE}
         RETURNING 1`,
        [call.apiKeyId, call.method, call.path, call.key, call.callId, call.instance],
      );
      return rows.length > 0;
    },

    /** Keeps the answer of a call that still has its key: repeats get it from now on. Safe to repeat. */
    async answer(call: IdempotentCall, answer: KeptAnswer): Promise<void> {
      await db.query(
        `UPDATE idempotency_keys SET call_id = NULL, call_instance = NULL, status = $6, headers = $7, body = $8
         WHERE api_key_id = $1 AND method = $2 AND path = $3 AND key = $4 AND call_id = $5`,
        [
          call.apiKeyId,
          call.method,
          call.path,
          call.key,
          call.callId,
          answer.status,
          JSON.stringify(answer.headers),
          answer.body,
        ],
      );
    },

    /** Gives a key back: the next call under it takes this one's place. Safe to repeat. */
    async release(call: IdempotentCall): Promise<void> {
      await db.query(
        `UPDATE idempotency_keys SET call_id = NULL, call_instance = NULL
         WHERE api_key_id = $1 AND method = $2 AND path = $3 AND key = $4 AND call_id = $5`,
        [call.apiKeyId, call.method, call.path, call.key, call.callId],
      );
    },

    /** Forgets the keys that are older than 24 hours; answers how many. */
    async deleteExpired(): Promise<number> {
      const rows = await db.query(`DELETE FROM idempotency_keys k WHERE ${IS_EXPIRED} RETURNING 1`);
      return rows.length;
    },
  };
}
