import { LIMITS, ServiceError } from "@svc/contracts";
import type { CallbackTarget, ErrorCode, MessageRequest } from "@svc/contracts";
import { readApiKey, requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { principalOf, problemAnswer, readJsonBytes, traceOf, wantsEventStream } from "@svc/http";
import { withinMs } from "@svc/primitives";
import { traceIdOf } from "@svc/telemetry";
import { newId, ticketIdOf } from "@svc/store";
import type { Request, RequestHandler, Response } from "express";
import type { ApiContext } from "./api-context.ts";
import { jsonWriter } from "./call-writer.ts";
import type { CallWriter } from "./call-writer.ts";
import { findPlace, replay } from "./idempotency.ts";
import type { CallPlace } from "./idempotency.ts";
import { MODES } from "./modes.ts";
import { readMessage } from "./read-message.ts";
import type { RequestedMessage } from "./read-message.ts";
import { repeatTimedOutCall } from "./repeat-call.ts";
import { eventWriter } from "./stream/event-writer.ts";
import { checkResumedCall, findResumedCall } from "./stream/last-event-id.ts";

/** The answer does not wait longer for being kept; while the store is away it is kept later. */
const KEEP_WAIT_MS = 1_000;

/** Errors that a repeat of the same call meets again, and that are kept for it. */
const LASTING: ReadonlySet<ErrorCode> = new Set(["invalid_json", "invalid_request"]);

/** The `meta` that is stored: the request's own, with the user's id beside it (service document, section 2.1). */
function metaOf({ meta, userId }: MessageRequest): Record<string, unknown> {
  return { ...meta, ...(userId === undefined ? {} : { userId }) };
}

/** The key that a request was let in with, sealed: it signs the callbacks where no webhook secret is set. */
async function sealKey({ store, readSecrets }: ApiContext, { project }: Principal, request: Request) {
  const { webhookSecret } = await readSecrets(project);
  if (webhookSecret !== null) return null;
  const apiKey = request.headersDistinct["x-api-key"]?.[0];
  return store.sealer.seal(readApiKey({ authorization: request.headers.authorization, apiKey }));
}

/** Where the callbacks of a message go; null in the other modes. */
async function callbackOf(
  context: ApiContext,
  principal: Principal,
  request: Request,
  { webhookUrl }: RequestedMessage,
  timeoutMs: number,
): Promise<CallbackTarget | null> {
  if (webhookUrl === undefined) return null;
  const sealedSecret = await sealKey(context, principal, request);
  return { url: webhookUrl, deliveryId: newId(), apiKeyId: principal.keyId, sealedSecret, timeoutMs };
}

/** The id of the final callback: that of an earlier call where this one repeats it. */
async function deliveryIdOf(
  { store }: ApiContext,
  principal: Principal,
  place: CallPlace,
  callback: CallbackTarget | null,
): Promise<string | null> {
  if (callback === null || !place.isRepeat) return callback?.deliveryId ?? null;
  return store.callbacks.findDeliveryId(principal.project, place.messageId);
}

/** The line that says which message and ticket a request has become. */
function noteAccepted({ log }: ApiContext, response: Response, ids: { messageId: string; ticketId: string }): void {
  if (!log.isLevelEnabled("debug")) return;
  const requestId = response.getHeader("X-Request-Id");
  log.debug({ requestId, traceId: traceIdOf(traceOf(response)), ...ids }, "message accepted");
}

/** Hands the message over and answers in the way of its mode. */
async function accept(
  context: ApiContext,
  {
    request,
    response,
    message,
    place,
    writer,
  }: {
    request: Request;
    response: Response;
    message: RequestedMessage;
    place: CallPlace;
    writer: CallWriter;
  },
): Promise<void> {
  const principal = principalOf(response);
  const { project } = principal;
  const { messageId } = place;
  const mode = MODES[message.mode];
  if (mode.holdsCall) context.limitHeldCalls(request, response);
  const chatId = message.chatId ?? place.chatId;
  const timeoutMs = message.timeoutMs ?? (await context.readSettings()).timeoutMs;
  const callback = await callbackOf(context, principal, request, message, timeoutMs);
  // Watched before it is accepted: the reply may be there before the acceptance returns.
  const ticketId = ticketIdOf(project, "api", chatId);
  const watch = context.board.watch(ticketId, { hearsTexts: writer.showsTexts });
  try {
    // What is held by a process that counts as dead is free for the drain at once.
    if (mode.holdsCall) await context.presence.makeSure();
    const received = context.channel.receive(
      {
        channelId: "api",
        chatId,
        ...(message.userId === undefined ? {} : { userId: message.userId }),
        text: message.text,
        timestamp: Date.now(),
        channelMeta: metaOf(message),
      },
      {
        project,
        messageId,
        mode: message.mode,
        ...(mode.holdsCall ? { callInstance: context.presence.instance } : {}),
        ...(callback === null ? {} : { callback }),
        trace: traceOf(response),
      },
    );
    // When the store breaks off in this moment, the message may be in: then no call waits for it, and its reply goes
    // to the buffer.
    received.catch(() => {
      if (!mode.holdsCall) return;
      void context.persister.persist("finishing a rejected request", () =>
        context.store.replies.endCall(project, messageId),
      );
    });
    await received;
    noteAccepted(context, response, { messageId, ticketId });
    if (place.isRepeat && mode.holdsCall) {
      await context.store.replies.reopenCall(project, messageId, context.presence.instance);
      context.board.wake(ticketId);
    }
    const deliveryId = await deliveryIdOf(context, principal, place, callback);
    watch.waitFor(messageId);
    const trace = traceOf(response);
    const call = { project, chatId, messageId, ticketId, timeoutMs, watch, place, writer, deliveryId, trace };
    await mode.respond(context, call, response);
  } finally {
    watch.end();
  }
}

/** `POST /api/v1/messages` (service document, section 4.2; with events: docs/streaming.md). Scope messages:write. */
export function postMessage(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "messages:write");
    const body = await readJsonBytes(request, LIMITS.bodyMaxBytes);
    const isStream = wantsEventStream(request);
    // An Idempotency-Key says better which call this one repeats.
    const isKeyed = request.headers["idempotency-key"] !== undefined;
    const resumed = isStream && !isKeyed ? await findResumedCall(context.store, principal, request) : null;
    const isResumed = request.headers["last-event-id"] !== undefined;
    const writer = isStream ? eventWriter(context, request, response, isResumed) : jsonWriter(response);
    const found = await findPlace(context, principal, request, body, resumed);
    if (found.kind === "answered") {
      const isBetter = await repeatTimedOutCall(context, principal, found, { response, writer });
      if (!isBetter) await replay(response, writer, found.answer);
      return;
    }
    const { place } = found;
    try {
      const message = readMessage(body, context.guard);
      if (resumed !== null) checkResumedCall(resumed, message);
      await accept(context, { request, response, message, place, writer });
    } catch (error) {
      if (error instanceof ServiceError && LASTING.has(error.code)) {
        await withinMs(place.keep(problemAnswer(request, response, error)), KEEP_WAIT_MS);
      } else {
        void place.release();
      }
      if (!writer.fail(error)) throw error;
      context.log.error({ error, messageId: place.messageId }, "request failed after its event stream had started");
    }
  };
}
