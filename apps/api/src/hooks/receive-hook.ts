import { HOOK_HEADERS, HOOK_LIMITS, LIMITS, ServiceError } from "@svc/contracts";
import { methodNotAllowed, readBodyBytes } from "@svc/http";
import type { RateLimit, ReceivedBody } from "@svc/http";
import { isUuid } from "@svc/primitives";
import { newId } from "@svc/store";
import type { Hook, HookBodyResult, NewHookBody } from "@svc/store";
import type { Request, RequestHandler, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import { jsonResponse, queuedAsync, queuedWebhook, sendResponse } from "../messages/message-responses.ts";
import { isProven } from "./verify-proof.ts";

/** Dependencies of the route. */
interface HookTools {
  rateLimit: RateLimit;
  take: (hook: Hook, body: NewHookBody) => Promise<ReceivedBody>;
}

/** Fields of a body that became no message. */
const NO_MESSAGE = { eventId: null, messageId: null, ticketId: null, chatId: null, userId: null } as const;

/** The same error for an unknown hook and an invalid signature, so that callers cannot learn which hooks exist. */
const signatureError = () =>
  new ServiceError(
    "invalid_signature",
    "This hook does not exist, or the request is not signed correctly. Check the hook's URL and secret.",
    { headers: { "WWW-Authenticate": 'Hook realm="svc"' } },
  );

const textParam = (request: Request, name: string): string | null => {
  const value = request.params[name];
  return typeof value === "string" ? value : null;
};

/** Returns the valid secrets, the current one first. */
function liveSecrets({ store, log }: ApiContext, hook: Hook): string[] {
  const { secret, previousSecret } = hook;
  const isPreviousLive = previousSecret !== null && previousSecret.until.getTime() > Date.now();
  const opened = [secret, ...(isPreviousLive ? [previousSecret] : [])].map((sealed) => store.sealer.open(sealed));
  if (opened.includes(null)) {
    log.warn({ hookId: hook.id }, "cannot decrypt a hook's secret with this SVC_SECRET_KEY; rotate the secret");
  }
  return opened.filter((text) => text !== null);
}

/** Bytes that are read of a body to check its signature if its address has too many failures; most events are smaller. */
const UNTRUSTED_MAX_BYTES = 64 * 1024;

/**
 * Returns the hook that a call is authenticated for, with the call's body. A secret in the path is checked before the body
 * is read; the other schemes sign the body, of which little is read if the address `isSuspect`. An unknown hook takes as
 * long as a known one. Throws invalid_signature, and the errors of `readBodyBytes`.
 */
async function authenticate(
  context: ApiContext,
  request: Request,
  isSuspect: boolean,
): Promise<{ hook: Hook; content: Buffer }> {
  const id = textParam(request, "hookId") ?? "";
  const hook = isUuid(id) ? await context.store.hooks.findForCall(id) : null;
  const known = hook === null ? null : { auth: hook.auth, secrets: liveSecrets(context, hook) };
  const check = (pathSecret: string | null, body: Buffer): Hook => {
    const call = { headers: request.headersDistinct, body, pathSecret, now: new Date() };
    const isKnown = known !== null && known.secrets.length > 0;
    if (!isProven(isKnown ? known : null, call) || hook === null) throw signatureError();
    return hook;
  };
  const pathSecret = textParam(request, "secret");
  if (pathSecret !== null) {
    const proven = check(pathSecret, Buffer.alloc(0));
    return { hook: proven, content: await readBodyBytes(request, HOOK_LIMITS.bodyMaxBytes) };
  }
  const content = await readBodyBytes(request, isSuspect ? UNTRUSTED_MAX_BYTES : HOOK_LIMITS.bodyMaxBytes);
  return { hook: check(null, content), content };
}

/** Returns the headers that a mapping may use, if they were sent once. */
function headersOf({ headersDistinct }: Request): Record<string, string> {
  const known = HOOK_HEADERS.flatMap((name) => {
    const [value, another] = headersDistinct[name] ?? [];
    return value === undefined || another !== undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

/**
 * Stores a body for the hook's owner. An error, also because storage is full, does not change the result of the call.
 */
async function storeBody(
  { store, log }: ApiContext,
  hook: Hook,
  body: NewHookBody,
  result: HookBodyResult,
): Promise<void> {
  try {
    await store.storedBytes.checkRoom(hook.project, "hookBodies", body.content.length);
    await store.hooks.addBody(hook.project, hook.id, { ...body, result });
  } catch (error) {
    log.warn({ error, hookId: hook.id }, "failed to store a hook's request body");
  }
}

function respond(response: Response, body: ReceivedBody): void {
  const { outcome, messageId, ticketId, chatId, deliveryId, isRepeat } = body;
  if (outcome === "ignored" || messageId === null || ticketId === null || chatId === null) {
    sendResponse(response, jsonResponse(202, { ok: true, status: "ignored" }));
    return;
  }
  if (isRepeat) response.setHeader("Idempotent-Replayed", "true");
  const ids = { chatId, ticketId, messageId };
  sendResponse(response, deliveryId === null ? queuedAsync(ids) : queuedWebhook(ids, deliveryId));
}

/** Removes a secret from the path: platforms show responses to everyone who can see their deliveries. */
function hideSecret(request: Request): void {
  if (textParam(request, "secret") !== null) {
    request.url = `/api/v1/hooks/${encodeURIComponent(textParam(request, "hookId") ?? "")}`;
  }
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/**
 * Middleware before the routes of hooks: the response to a path without a route repeats only the segment of the hook's id,
 * since any other segment may be a secret.
 */
export function redactUnknownPath(request: Request, _response: Response, next: () => void): void {
  const [, id, , ...more] = request.path.split("/");
  const isOfRoute = more.every((part) => part === "") && more.length < 2 && isDecodable(request.path);
  if (!isOfRoute) request.url = `/${id !== undefined && isDecodable(id) ? id : "-"}/-/-`;
  next();
}

/**
 * `POST /api/v1/hooks/:hookId` and `POST /api/v1/hooks/:hookId/:secret`: the body becomes one message of the hook's
 * project. The call is authenticated by the hook's secret or signature instead of an API key. Without a valid one it is not
 * stored, gets no details, and counts as a failed authentication; little is read from an address with too many of these.
 * Authenticated calls are rate limited by address and hook.
 */
export function receiveHook(context: ApiContext, { rateLimit, take }: HookTools): RequestHandler {
  async function admit(request: Request, response: Response): Promise<{ hook: Hook; content: Buffer }> {
    const isSuspect = await rateLimit.hasUsedUpFailures(request);
    let call: { hook: Hook; content: Buffer };
    try {
      call = await authenticate(context, request, isSuspect);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // A body that is too large to be checked is not authenticated.
      const isUnchecked = isSuspect && error.code === "payload_too_large";
      throw await rateLimit.refuse(request, response, isUnchecked ? signatureError() : error);
    }
    const { hook } = call;
    response.setHeader("x-svc-project", hook.projectName);
    const key = { keyId: `hook:${hook.id}`, rateLimit: LIMITS.rateLimitPerMinute, projectName: hook.projectName };
    await rateLimit.admit(request, response, key, "Rate limit exceeded: this hook is limited to");
    return call;
  }

  return async (request, response) => {
    hideSecret(request);
    const { hook, content } = await admit(request, response);
    const types = request.headersDistinct["content-type"] ?? [];
    const body: NewHookBody = {
      id: newId(),
      // Readers may disagree on a header that was sent twice: it counts as absent.
      contentType: types.length === 1 ? (types[0] ?? "") : "",
      headers: headersOf(request),
      content,
    };
    let taken: ReceivedBody;
    try {
      taken = await take(hook, body);
    } catch (error) {
      // Not every sender retries: the hook's owner can replay bodies that arrived while the channel was disabled.
      if (error instanceof ServiceError && error.code === "channel_disabled") {
        const errors = [{ pointer: "", code: error.code, detail: error.message }];
        await storeBody(context, hook, body, { ...NO_MESSAGE, outcome: "failed", faults: errors });
      }
      throw error;
    }
    await storeBody(context, hook, body, taken);
    if (taken.error !== null) throw taken.error;
    respond(response, taken);
  };
}

/** Rejects the other methods of a hook's path, with the same fields as every response. */
export function refuseHookMethod(rateLimit: RateLimit): RequestHandler {
  const refuse = methodNotAllowed("POST");
  return async (request, response) => {
    hideSecret(request);
    try {
      refuse(request);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw await rateLimit.refuse(request, response, error);
    }
  };
}
