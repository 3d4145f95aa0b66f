import { createHash } from "node:crypto";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { Principal } from "@svc/auth";
import { newId } from "@svc/store";
import type { IdempotentCall, KeptAnswer } from "@svc/store";
import type { Request, Response } from "express";
import type { ApiContext } from "./api-context.ts";

/** A call's place under its Idempotency-Key; for a call without one, a place that keeps nothing. */
export interface CallPlace {
  messageId: string;
  /** Id of the conversation, where the request names none. */
  chatId: string;
  /** True when an earlier call under the key has died or hung up: its message may be there already. */
  isRepeat: boolean;
  /** Keeps the answer for repeats; tried again while the store is away. */
  keep(answer: KeptAnswer): Promise<void>;
  /** Lets a repeat take this call's place. */
  release(): Promise<void>;
}

/** What a call finds under its Idempotency-Key. */
export type FoundPlace =
  | { kind: "mine"; place: CallPlace }
  | { kind: "answered"; answer: KeptAnswer; place: CallPlace; reclaim: () => Promise<boolean> };

const HEADER = "idempotency-key";

/** The Idempotency-Key of a request, or null. Throws invalid_request. */
function readKey(request: Request): string | null {
  const values = request.headersDistinct[HEADER];
  const [key] = values ?? [];
  if (values === undefined || key === undefined) return null;
  const fault =
    values.length > 1
      ? "send the header once"
      : key === ""
        ? "at least 1 character"
        : key.length > LIMITS.idempotencyKeyMaxChars
          ? `at most ${LIMITS.idempotencyKeyMaxChars} characters`
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

/**
 * Finds a call's place under its Idempotency-Key: its own, or an answer that was given before. Throws
 * idempotency_mismatch, idempotency_in_progress, invalid_request.
 */
export async function findPlace(
  { store, persister, presence }: ApiContext,
  principal: Principal,
  request: Request,
  body: Buffer,
): Promise<FoundPlace> {
  const key = readKey(request);
  const ids = { messageId: newId(), chatId: newId() };
  if (key === null || principal.keyId === null) {
    const nothing = () => Promise.resolve();
    return { kind: "mine", place: { ...ids, isRepeat: false, keep: nothing, release: nothing } };
  }
  const call: IdempotentCall = {
    apiKeyId: principal.keyId,
    project: principal.project,
    method: request.method,
    path: request.path,
    key,
    bodyHash: hashCall(principal, body),
    callId: newId(),
    instance: presence.instance,
    ...ids,
  };
  const claim = await store.idempotencyKeys.claim(call);
  if (claim.kind === "mismatch") {
    throw new ServiceError(
      "idempotency_mismatch",
      "This Idempotency-Key was used with another body or project. Use a new key for a new message.",
    );
  }
  if (claim.kind === "busy") {
    throw new ServiceError(
      "idempotency_in_progress",
      "Another call with this Idempotency-Key is being worked on. Wait for its answer, or repeat this call later.",
      { headers: { "Retry-After": "1" } },
    );
  }
  const place: CallPlace = {
    messageId: claim.messageId,
    chatId: claim.chatId,
    isRepeat: claim.kind === "answered" || claim.isRepeat,
    keep: (answer) => persister.persist("keeping an answer", () => store.idempotencyKeys.answer(call, answer)),
    release: () => persister.persist("giving an idempotency key back", () => store.idempotencyKeys.release(call)),
  };
  if (claim.kind === "mine") return { kind: "mine", place };
  return { kind: "answered", answer: claim.answer, place, reclaim: () => store.idempotencyKeys.reclaim(call) };
}

/** Gives the answer of an earlier call again. */
export function replay(response: Response, answer: KeptAnswer): void {
  response.setHeader("Idempotent-Replayed", "true");
  sendAnswer(response, answer);
}

/** Sends an answer that is ready. */
export function sendAnswer(response: Response, { status, headers, body }: KeptAnswer): void {
  response.status(status);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}

/** An answer with a JSON body. */
export function jsonAnswer(status: number, body: object, headers: Record<string, string> = {}): KeptAnswer {
  return {
    status,
    headers: { "Content-Type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  };
}
