import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Request } from "express";
import type { Principal } from "@svc/auth";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { MessageMode } from "@svc/contracts";
import { newId } from "@svc/store";
import type { IdempotencyClaim, IdempotentCall, Store, StoredResponse } from "@svc/store";
import type { ApiContext } from "../api-context.ts";

const RESUME_HEADER = "Last-Event-ID";
/** ID of a call's event: the message and the number of the event. */
const CALL_EVENT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\d{1,9}$/;
const CURSOR = /^\d{1,15}$/;

/** Returns the error for an invalid `Last-Event-ID`. */
function headerError(code: string, detail: string): ServiceError {
  return new ServiceError("invalid_request", `The header ${RESUME_HEADER} is not valid: ${detail}.`, {
    errors: [{ pointer: `/${RESUME_HEADER}`, code, detail }],
  });
}

/** Returns the value of the header; null if it is absent or empty. Throws invalid_request if it was sent twice. */
function readHeader(request: Request): string | null {
  const values = request.headersDistinct["last-event-id"] ?? [];
  if (values.length > 1) throw headerError("invalid", "send the header once");
  return values[0] === undefined || values[0] === "" ? null : values[0];
}

/** Returns the cursor after which the stream of a chat resumes; null for a new stream. Throws invalid_request. */
export function readLastCursor(request: Request): number | null {
  const id = readHeader(request);
  if (id === null) return null;
  if (!CURSOR.test(id)) throw headerError("invalid", "must be the id of an event of this chat's stream, or be omitted");
  return Number(id);
}

/** The message of an earlier call. */
interface ResumedCall {
  messageId: string;
  chatId: string;
  text: string;
}

/**
 * Finds the message whose call is resumed, by the id of an event that its caller received; null for a new message. Throws
 * invalid_request if there is no such message in this project.
 */
export async function findResumedCall(
  store: Store,
  { project }: Principal,
  request: Request,
): Promise<ResumedCall | null> {
  const id = readHeader(request);
  if (id === null) return null;
  const messageId = CALL_EVENT.exec(id)?.[1];
  const call = messageId === undefined ? null : await store.messages.findSyncCall(project, messageId);
  if (messageId === undefined || call === null) {
    throw headerError("unknown", "must be the id of an event of the repeated request; omit it to send a new message");
  }
  return { messageId, ...call };
}

/** Checks that a message is the one of the resumed call. Throws invalid_request. */
export function checkResumedCall(
  call: ResumedCall,
  { mode, chatId = call.chatId, text }: { mode: MessageMode; chatId?: string | undefined; text: string },
): void {
  if (mode === "sync" && chatId === call.chatId && text === call.text) return;
  throw headerError("mismatch", "belongs to another message; omit it to send a new one");
}

/** Reservation of an Idempotency-Key by one call; for a call without a key, a slot that stores no response. */
export interface IdempotencySlot {
  /** ID of this call, under which it claims replies. */
  callId: string;
  messageId: string;
  /** ID of the chat if the request names none. */
  chatId: string;
  /** True if an earlier call under the key has died or disconnected: its message may already be stored. */
  isRetry: boolean;
  /** True if the caller names the last event it received of an earlier call: later events were lost. */
  isResumed: boolean;
  /**
   * Stores the response for retries; repeated while the store is unavailable. With the ids of the replies that the caller
   * of a sync message has received, it marks them as delivered and ends the call in the same statement.
   */
  storeResponse(stored: StoredResponse, replyIds?: string[]): Promise<void>;
  /** Releases the key for a retry. */
  release(): Promise<void>;
}

/** Result of claiming a slot: this call's own, or the response of an earlier call. */
export type SlotClaim =
  | { kind: "claimed"; slot: IdempotencySlot }
  | {
      kind: "answered";
      stored: StoredResponse;
      slot: IdempotencySlot;
      /**
       * Claims the slot of the completed call, to return a better response; null if this succeeds. Otherwise returns
       * the response that is stored by now, since another call has the slot or has stored a better one.
       */
      reclaim: () => Promise<StoredResponse | null>;
    };

const HEADER = "idempotency-key";

/**
 * A call releases its key some moments after its caller has received the response and may retry: waits between the
 * attempts to claim it, before the retry gets 409.
 */
const CLAIM_BACKOFF_MS = [10, 20, 50, 100, 200];

/** Returns the Idempotency-Key of a request, or null. Throws invalid_request. */
function readKey(request: Request): string | null {
  const values = request.headersDistinct[HEADER];
  const [key] = values ?? [];
  if (values === undefined || key === undefined) return null;
  const detail =
    values.length > 1
      ? "send the header once"
      : key === ""
        ? "must have at least 1 character"
        : key.length > LIMITS.idempotencyKeyMaxChars
          ? `must have at most ${LIMITS.idempotencyKeyMaxChars} characters`
          : null;
  if (detail === null) return key;
  throw new ServiceError("invalid_request", `The header Idempotency-Key is not valid: ${detail}.`, {
    errors: [{ pointer: "/Idempotency-Key", code: "invalid", detail }],
  });
}

/** Two calls are the same if project and body have the same bytes. */
function hashCall(principal: Principal, body: Buffer): Buffer {
  return createHash("sha256").update(principal.project).update("\n").update(body).digest();
}

/** Claims a key; retries for some tenths of a second while another call has it. */
async function claimWithBackoff(store: Store, call: IdempotentCall): Promise<IdempotencyClaim> {
  let claim = await store.idempotencyKeys.claim(call);
  for (const waitMs of CLAIM_BACKOFF_MS) {
    if (claim.kind !== "busy") break;
    await sleep(waitMs);
    claim = (await store.idempotencyKeys.find(call)) ?? (await store.idempotencyKeys.claim(call));
  }
  return claim;
}

/** Claims a key that has this response; retries while another call has it. Returns what `reclaim` returns. */
async function reclaimWithBackoff(
  store: Store,
  call: IdempotentCall,
  stored: StoredResponse,
): Promise<StoredResponse | null> {
  for (const waitMs of CLAIM_BACKOFF_MS) {
    if (await store.idempotencyKeys.reclaim(call, stored)) return null;
    const found = await store.idempotencyKeys.find(call);
    if (found?.kind === "answered" && found.answer.body !== stored.body) return found.answer;
    await sleep(waitMs);
  }
  return stored;
}

/** IDs of a call, and of the message and the chat if this is the first call. */
type NewIds = Pick<IdempotencySlot, "callId" | "messageId" | "chatId">;

/** Returns the slot of a call without a key: only the end of a sync call is stored. */
function keylessSlot(
  { store, persister }: ApiContext,
  { project }: Principal,
  ids: NewIds,
  isResumed: boolean,
): IdempotencySlot {
  return {
    ...ids,
    isRetry: isResumed,
    isResumed,
    async storeResponse(_stored, replyIds) {
      if (replyIds === undefined) return;
      await persister.persist("finishing a sync request", () =>
        isResumed
          ? store.replies.endResumedCall(project, ids.messageId, replyIds)
          : store.replies.endAnsweredCall(project, ids.messageId, replyIds),
      );
    },
    release: () => Promise.resolve(),
  };
}

/** Claims the slot of a call under its key, or finds the response of an earlier call. Throws as `claimSlot`. */
async function claimKey({ store, persister }: ApiContext, call: IdempotentCall): Promise<SlotClaim> {
  const release = () => persister.persist("releasing an idempotency key", () => store.idempotencyKeys.release(call));
  // The store may have executed a claim that failed: without a release, no other call could use the key.
  async function orRelease<Result>(claiming: Promise<Result>): Promise<Result> {
    try {
      return await claiming;
    } catch (error) {
      void release();
      throw error;
    }
  }
  const claim = await orRelease(claimWithBackoff(store, call));
  if (claim.kind === "mismatch") {
    throw new ServiceError(
      "idempotency_mismatch",
      "This Idempotency-Key was already used with a different body or project. Use a new key for a new message.",
    );
  }
  if (claim.kind === "busy") {
    throw new ServiceError(
      "idempotency_in_progress",
      "Another request with this Idempotency-Key is still in progress. Wait for its response, or retry later.",
      { headers: { "Retry-After": "1" } },
    );
  }
  const { messageId, chatId } = claim;
  const slot: IdempotencySlot = {
    callId: call.callId,
    messageId,
    chatId,
    isRetry: claim.kind === "answered" || claim.isRepeat,
    isResumed: false,
    storeResponse: (stored, replyIds) =>
      persister.persist("storing a response", () =>
        store.idempotencyKeys.storeResponse(call, stored, replyIds === undefined ? null : { messageId, replyIds }),
      ),
    release,
  };
  if (claim.kind === "mine") return { kind: "claimed", slot };
  const { answer: stored } = claim;
  return { kind: "answered", stored, slot, reclaim: () => orRelease(reclaimWithBackoff(store, call, stored)) };
}

/**
 * Claims the slot of a call under its Idempotency-Key, or finds the response of an earlier call. A call without a key
 * that resumes an earlier one gets the ids of that call. Throws idempotency_mismatch, idempotency_in_progress,
 * invalid_request.
 */
export async function claimSlot(
  context: ApiContext,
  principal: Principal,
  request: Request,
  { body, resumed }: { body: Buffer; resumed: ResumedCall | null },
): Promise<SlotClaim> {
  const key = readKey(request);
  const ids = { callId: newId(), messageId: resumed?.messageId ?? newId(), chatId: resumed?.chatId ?? newId() };
  if (key === null || principal.keyId === null) {
    return { kind: "claimed", slot: keylessSlot(context, principal, ids, resumed !== null) };
  }
  return claimKey(context, {
    apiKeyId: principal.keyId,
    project: principal.project,
    method: request.method,
    // A trailing slash makes no other endpoint.
    path: request.path.replace(/\/+$/, ""),
    key,
    bodyHash: hashCall(principal, body),
    instance: context.heartbeat.instance,
    ...ids,
  });
}
