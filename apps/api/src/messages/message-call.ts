import { readApiKey } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { messageRequestSchema } from "@svc/contracts";
import type { CallbackTarget, IncomingContext, IncomingMessage, MessageMode, MessageRequest } from "@svc/contracts";
import { invalidRequest, parseJson, principalOf, traceOf } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import { newId, ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { traceIdOf } from "@svc/telemetry";
import type { Request, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import type { IdempotencySlot } from "./idempotency.ts";
import type { CallIds, ResponseWriter } from "./response-writer.ts";

/** A valid message request, with its mode. */
export interface RequestedMessage extends MessageRequest {
  mode: MessageMode;
}

/** A call that sends a message: the message, and how its caller gets the response. */
export interface MessageCall extends CallIds {
  project: ProjectId;
  mode: MessageMode;
  timeoutMs: number;
  incoming: IncomingMessage;
  /** What the channel needs besides the message. */
  routing: IncomingContext & { messageId: string };
  slot: IdempotencySlot;
  writer: ResponseWriter;
  response: Response;
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
export function readMessage(body: Buffer, guard: AddressGuard): RequestedMessage {
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
export async function createCall(
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
    routing: { project, messageId, mode, ...callback, trace: traceOf(response) },
    slot,
    writer,
    response,
  };
}

/** Passes the message of a call to the channel, which commits it. `callInstance`: the process that holds the call. */
export async function acceptMessageOf(
  { channel, log }: ApiContext,
  { incoming, routing, response, messageId, ticketId }: MessageCall,
  callInstance?: string,
): Promise<void> {
  await channel.receive(incoming, callInstance === undefined ? routing : { ...routing, callInstance });
  if (!log.isLevelEnabled("debug")) return;
  const requestId = response.getHeader("X-Request-Id");
  log.debug({ requestId, traceId: traceIdOf(traceOf(response)), messageId, ticketId }, "message accepted");
}
