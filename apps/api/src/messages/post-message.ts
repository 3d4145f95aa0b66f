import { requireScope } from "@svc/auth";
import { withinMs } from "@svc/primitives";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { ErrorCode, MessageMode } from "@svc/contracts";
import { principalOf, problemResponse, readJsonBytes, wantsEventStream } from "@svc/http";
import type { RequestHandler } from "express";
import type { ApiContext } from "../api-context.ts";
import { checkResumedCall, claimSlot, findResumedCall } from "./idempotency.ts";
import { acceptMessageOf, createCall, readMessage } from "./message-call.ts";
import type { MessageCall } from "./message-call.ts";
import { eventWriter, jsonWriter, queuedAsync, queuedWebhook, sendResponse } from "./response-writer.ts";
import { handleSyncCall, replay, retrySyncCall } from "./sync-call.ts";

/** Time that a response waits for being stored; while the store is unavailable it is stored later. */
const STORE_WAIT_MS = 1_000;

/** Errors that a retry of the same call gets again, and that are stored for it. */
const LASTING: ReadonlySet<ErrorCode> = new Set(["invalid_json", "invalid_request"]);

/** Returns the id of the final callback: that of the earlier call if this one is its retry. */
async function deliveryIdOf(
  { store }: ApiContext,
  { routing: { callback }, slot, project, messageId }: MessageCall,
): Promise<string | null> {
  if (callback === undefined || !slot.isRetry) return callback?.deliveryId ?? null;
  return store.callbacks.findDeliveryId(project, messageId);
}

/** Handles a call that does not wait; its response is stored before it is sent, so that a retry finds it. */
async function handleQueuedCall(context: ApiContext, call: MessageCall): Promise<void> {
  const { slot, mode, response } = call;
  try {
    await acceptMessageOf(context, call);
    const queued = mode === "webhook" ? queuedWebhook(call, await deliveryIdOf(context, call)) : queuedAsync(call);
    await withinMs(slot.storeResponse(queued), STORE_WAIT_MS);
    sendResponse(response, queued);
  } catch (error) {
    void slot.release();
    throw error;
  }
}

/** How the calls of each mode are handled (service document, section 4.2). */
const HANDLERS = { sync: handleSyncCall, async: handleQueuedCall, webhook: handleQueuedCall } satisfies Record<
  MessageMode,
  (context: ApiContext, call: MessageCall) => Promise<void>
>;

/** `POST /api/v1/messages` (service document, section 4.2; with events: docs/streaming.md). Scope messages:write. */
export function postMessage(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "messages:write");
    const body = await readJsonBytes(request, LIMITS.bodyMaxBytes);
    const isStream = wantsEventStream(request);
    // An Idempotency-Key says more precisely which call this one repeats.
    const isKeyed = request.headers["idempotency-key"] !== undefined;
    const resumed = isStream && !isKeyed ? await findResumedCall(context.store, principal, request) : null;
    const isResumed = request.headers["last-event-id"] !== undefined;
    const writer = isStream ? eventWriter(context, request, response, isResumed) : jsonWriter(response);
    const claim = await claimSlot(context, principal, request, { body, resumed });
    if (claim.kind === "answered") {
      const isBetter = await retrySyncCall(context, principal, claim, { response, writer });
      if (!isBetter) await replay(response, writer, claim.stored);
      return;
    }
    const { slot } = claim;
    let call: MessageCall;
    try {
      const message = readMessage(body, context.guard);
      if (resumed !== null) checkResumedCall(resumed, message);
      if (message.mode === "sync") context.limitHeldCalls(request, response);
      call = await createCall(context, { request, response }, message, { slot, writer });
    } catch (error) {
      if (error instanceof ServiceError && LASTING.has(error.code)) {
        await withinMs(slot.storeResponse(problemResponse(request, response, error)), STORE_WAIT_MS);
      } else {
        void slot.release();
      }
      throw error;
    }
    await HANDLERS[call.mode](context, call);
  };
}
