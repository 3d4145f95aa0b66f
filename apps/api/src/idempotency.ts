import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { Principal } from "@svc/auth";
import { newId } from "@svc/store";
import type { IdempotencyClaim, IdempotentCall, KeptAnswer, Store } from "@svc/store";
import type { Request, Response } from "express";
import type { ApiContext } from "./api-context.ts";
import type { CallWriter } from "./call-writer.ts";
import type { ResumedCall } from "./stream/last-event-id.ts";

/** A call's place under its Idempotency-Key; for a call without one, a place that keeps nothing. */
export interface CallPlace {
  /** Id of this call; what it takes goes by it. */
  callId: string;
  messageId: string;
  /** Id of the conversation, where the request names none. */
  chatId: string;
  /** True when an earlier call under the key has died or hung up: its message may be there already. */
  isRepeat: boolean;
  /** True when its caller says which event of an earlier call it got last: what came after that was lost on the way. */
  isResumed: boolean;
  /**
   * Keeps the answer for repeats; tried again while the store is away. With the ids of the replies that the caller of a
   * sync message has by it, they are delivered and the call is over, in the same moment.
   */
  keep(answer: KeptAnswer, replyIds?: string[]): Promise<void>;
  /** Lets a repeat take this call's place. */
  release(): Promise<void>;
}

/** What a call finds under its Idempotency-Key. */
export type FoundPlace =
  | { kind: "mine"; place: CallPlace }
  | {
      kind: "answered";
      answer: KeptAnswer;
      place: CallPlace;
      /**
       * Makes the place this call's own, to give a better answer: null then. Else the answer as it is kept by now, since
       * another call is at it or has given a better one.
       */
      reclaim: () => Promise<KeptAnswer | null>;
    };

const HEADER = "idempotency-key";

/**
 * A call gives its key back some moments after its caller has the answer, who may repeat the call at once: so often is
 * looked again before a repeat is told to come later.
 */
const LOOK_AGAIN_MS = [10, 20, 50, 100, 200];

/** The Idempotency-Key of a request, or null. Throws invalid_request. */
function readKey(request: Request): string | null {
  const values = request.headersDistinct[HEADER];
  const [key] = values ?? [];
  if (values === undefined || key === undefined) return null;
  const fault =
    values.length > 1
      ? "send the header once"
      : key === ""
        ? "must have at least 1 character"
        : key.length > LIMITS.idempotencyKeyMaxChars
          ? `must have at most ${LIMITS.idempotencyKeyMaxChars} characters`
          : null;
  if (fault === null) return key;
  throw new ServiceError("invalid_request", `The header Idempotency-Key is not valid: ${fault}.`, {
    errors: [{ pointer: "/Idempotency-Key", code: "invalid", detail: fault }],
  });
}

/** Two calls ask for the same when project and body are the same bytes. */
function hashCall(principal: Principal, body: Buffer): Buffer {
  return createHash("sha256").update(principal.project).update("\n").update(body).digest();
}

/** Claims a key; while another call has it, again a few times within some tenths of a second. */
async function claimPatiently(store: Store, call: IdempotentCall): Promise<IdempotencyClaim> {
  let claim = await store.idempotencyKeys.claim(call);
  for (const pauseMs of LOOK_AGAIN_MS) {
    if (claim.kind !== "busy") break;
    await setTimeout(pauseMs);
    claim = (await store.idempotencyKeys.find(call)) ?? (await store.idempotencyKeys.claim(call));
  }
  return claim;
}

/** Takes over a key with this answer; while another call is at it, again a few times. Answers as `reclaim` does. */
async function reclaimPatiently(store: Store, call: IdempotentCall, answer: KeptAnswer): Promise<KeptAnswer | null> {
  for (const pauseMs of LOOK_AGAIN_MS) {
    if (await store.idempotencyKeys.reclaim(call, answer)) return null;
    const found = await store.idempotencyKeys.find(call);
    if (found?.kind === "answered" && found.answer.body !== answer.body) return found.answer;
    await setTimeout(pauseMs);
  }
  return answer;
}

/**
 * Finds a call's place under its Idempotency-Key: its own, or an answer that was given before. A call without one that
 * goes on with an earlier one has the place of that. Throws idempotency_mismatch, idempotency_in_progress,
 * invalid_request.
 */
export async function findPlace(
  { store, persister, presence }: ApiContext,
  principal: Principal,
  request: Request,
  body: Buffer,
  resumed: ResumedCall | null = null,
): Promise<FoundPlace> {
  const key = readKey(request);
  const { project } = principal;
  const ids = { callId: newId(), messageId: resumed?.messageId ?? newId(), chatId: resumed?.chatId ?? newId() };
  if (key === null || principal.keyId === null) {
    return {
      kind: "mine",
      place: {
        ...ids,
        isRepeat: resumed !== null,
        isResumed: resumed !== null,
        async keep(_answer, replyIds) {
          if (replyIds === undefined) return;
          await persister.persist("finishing a sync request", () =>
            resumed === null
              ? store.replies.endAnsweredCall(project, ids.messageId, replyIds)
              : store.replies.endResumedCall(project, ids.messageId, replyIds),
          );
        },
        release: () => Promise.resolve(),
      },
    };
  }
  const call: IdempotentCall = {
    apiKeyId: principal.keyId,
    project,
    method: request.method,
    // Not as it was sent: a slash at its end makes it no other endpoint.
    path: request.path.replace(/\/+$/, ""),
    key,
    bodyHash: hashCall(principal, body),
    instance: presence.instance,
    ...ids,
  };
  const release = () => persister.persist("releasing an idempotency key", () => store.idempotencyKeys.release(call));
  // A statement that the store broke off may have been carried out: then nobody else could have the key.
  async function orRelease<Result>(claiming: Promise<Result>): Promise<Result> {
    try {
      return await claiming;
    } catch (error) {
      void release();
      throw error;
    }
  }
  const claim = await orRelease(claimPatiently(store, call));
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
  const place: CallPlace = {
    callId: call.callId,
    messageId: claim.messageId,
    chatId: claim.chatId,
    isRepeat: claim.kind === "answered" || claim.isRepeat,
    isResumed: false,
    keep: (answer, replyIds) =>
      persister.persist("storing a response", () =>
        store.idempotencyKeys.answer(
          call,
          answer,
          replyIds === undefined ? null : { messageId: claim.messageId, replyIds },
        ),
      ),
    release,
  };
  if (claim.kind === "mine") return { kind: "mine", place };
  const { answer } = claim;
  const reclaim = () => orRelease(reclaimPatiently(store, call, answer));
  return { kind: "answered", answer, place, reclaim };
}

/** Gives the answer of an earlier call again, in the way in which this one is answered. */
export function replay(response: Response, writer: CallWriter, answer: KeptAnswer): Promise<void> {
  response.setHeader("Idempotent-Replayed", "true");
  return writer.send(answer);
}

/** Sends an answer that is ready. */
export function sendAnswer(response: Response, { status, headers, body }: KeptAnswer): void {
  response.status(status).set(headers).send(body);
}

/** An answer with a JSON body. */
export function jsonAnswer(status: number, body: object, headers: Record<string, string> = {}): KeptAnswer {
  return {
    status,
    headers: { "Content-Type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  };
}
