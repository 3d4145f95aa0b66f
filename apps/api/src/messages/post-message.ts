import { readApiKey, requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { LIMITS, ServiceError, messageRequestSchema } from "@svc/contracts";
import type { CallbackTarget, ErrorCode, MessageMode, MessageRequest } from "@svc/contracts";
import {
  invalidRequest,
  parseJson,
  principalOf,
  problemResponse,
  readJsonBytes,
  traceOf,
  wantsEventStream,
} from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import { withinMs } from "@svc/primitives";
import { newId, ticketIdOf } from "@svc/store";
import type { Request, RequestHandler, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import { checkResumedCall, claimSlot, findResumedCall } from "./idempotency.ts";
import { eventWriter, jsonWriter, queuedAsync, queuedWebhook, sendResponse } from "./response-writer.ts";
import { acceptMessageOf, handleSyncCall, replay, retrySyncCall } from "./sync-call.ts";
import type { MessageCall } from "./sync-call.ts";

/** Time that a response waits for being stored; while the store is unavailable it is stored later. */
const STORE_WAIT_MS = 1_000;

/** Errors that a retry of the same call gets again, and that are stored for it. */
const LASTING: ReadonlySet<ErrorCode> = new Set(["invalid_json", "invalid_request"]);

/** A valid message request, with its mode. */
interface RequestedMessage extends MessageRequest {
  mode: MessageMode;
}

/** An error of a field, in the form of the schema's own. */
interface FieldIssue {
  code: string;
  path: PropertyKey[];
  message: string;
  params: { code: string };
}

const issue = (field: string, code: string, message: string): FieldIssue => ({
  code: "custom",
  path: [field],
  message,
  params: { code },
});

/** Returns the errors in how the replies are requested, which no schema of a single field can find. */
function modeIssues(body: unknown, guard: AddressGuard): FieldIssue[] {
  if (typeof body !== "object" || body === null) return [];
  const { mode, webhookUrl } = body as { mode?: unknown; webhookUrl?: unknown };
  if (webhookUrl === undefined) {
    return mode === "webhook" ? [issue("webhookUrl", "required", "is required with mode webhook")] : [];
  }
  const check = typeof webhookUrl === "string" ? guard.checkUrl(webhookUrl) : { ok: true as const };
  return check.ok
    ? []
    : [issue("webhookUrl", "forbidden_address", `is not allowed. ${check.reason.replace(/\.$/, "")}`)];
}

/**
 * Parses the body of `POST /api/v1/messages` (service document, sections 2.1 and 4.2): a callback URL makes it mode
 * webhook, without a mode it is sync. A forbidden callback URL is rejected here; the address that its name resolves to is
 * checked when it is called. Throws invalid_json, and invalid_request with all errors.
 */
function readMessage(body: Buffer, guard: AddressGuard): RequestedMessage {
  const json = parseJson(body);
  const parsed = messageRequestSchema.safeParse(json);
  const further = modeIssues(json, guard);
  if (!parsed.success || further.length > 0) {
    throw invalidRequest([...(parsed.error?.issues ?? []), ...further], "The message");
  }
  const { webhookUrl, mode = "sync", ...message } = parsed.data;
  return webhookUrl === undefined
    ? { ...message, mode }
    : { ...message, mode: "webhook", webhookUrl: new URL(webhookUrl).href };
}

/** Encrypts the API key of a request, which signs the callbacks if no webhook secret is set; null if one is set. */
async function sealKey({ store, readSecrets }: ApiContext, { project }: Principal, request: Request) {
  const { webhookSecret } = await readSecrets(project);
  if (webhookSecret !== null) return null;
  const apiKey = request.headersDistinct["x-api-key"]?.[0];
  return store.sealer.seal(readApiKey({ authorization: request.headers.authorization, apiKey }));
}

/** Returns the target of a message's callbacks. */
async function callbackOf(
  context: ApiContext,
  principal: Principal,
  request: Request,
  { url, timeoutMs }: { url: string; timeoutMs: number },
): Promise<CallbackTarget> {
  const sealedSecret = await sealKey(context, principal, request);
  return { url, deliveryId: newId(), apiKeyId: principal.keyId, sealedSecret, timeoutMs };
}

/** Makes the call of a request. The `meta` that is stored contains the user's id (service document, section 2.1). */
async function createCall(
  context: ApiContext,
  { request, response }: { request: Request; response: Response },
  message: RequestedMessage,
  { slot, writer }: Pick<MessageCall, "slot" | "writer">,
): Promise<MessageCall> {
  const principal = principalOf(response);
  const { project } = principal;
  const { messageId } = slot;
  const { mode, userId, webhookUrl: url, chatId = slot.chatId } = message;
  const user = userId === undefined ? {} : { userId };
  const timeoutMs = message.timeoutMs ?? (await context.readSettings()).timeoutMs;
  const callback =
    url === undefined ? {} : { callback: await callbackOf(context, principal, request, { url, timeoutMs }) };
  // The replies to a sync call are reserved for the process that holds it.
  const holder = mode === "sync" ? { callInstance: context.heartbeat.instance } : {};
  return {
    project,
    chatId,
    messageId,
    ticketId: ticketIdOf(project, "api", chatId),
    mode,
    timeoutMs,
    incoming: {
      channelId: "api",
      chatId,
      ...user,
      text: message.text,
      timestamp: Date.now(),
      channelMeta: { ...message.meta, ...user },
    },
    routing: { project, messageId, mode, ...callback, ...holder, trace: traceOf(response) },
    slot,
    writer,
    response,
  };
}

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
