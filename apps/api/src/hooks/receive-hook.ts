import { HOOK_HEADERS, HOOK_LIMITS, LIMITS, ServiceError } from "@svc/contracts";
import type { TakenBody } from "@svc/admin";
import { methodNotAllowed, readBodyBytes } from "@svc/http";
import type { RateLimit } from "@svc/http";
import { isUuid } from "@svc/primitives";
import { newId } from "@svc/store";
import type { Hook, HookBodyResult, NewHookBody } from "@svc/store";
import type { Request, RequestHandler, Response } from "express";
import type { ApiContext } from "../api-context.ts";
import { jsonAnswer, sendAnswer } from "../idempotency.ts";
import { queuedAsync, queuedWebhook } from "../modes.ts";
import { isProven } from "./verify-proof.ts";

/** What the route works with. */
interface HookTools {
  rateLimit: RateLimit;
  take: (hook: Hook, body: NewHookBody) => Promise<TakenBody>;
}

/** Of a body that became no message. */
const NO_MESSAGE = { eventId: null, messageId: null, ticketId: null, chatId: null, userId: null } as const;

/** One text for a hook that is not there and a proof that is wrong: nobody learns which hooks exist. */
const refusal = () =>
  new ServiceError(
    "invalid_signature",
    "This hook does not exist, or the request is not signed correctly. Check the hook's URL and secret.",
    { headers: { "WWW-Authenticate": 'Hook realm="svc"' } },
  );

const textParam = (request: Request, name: string): string | null => {
  const value = request.params[name];
  return typeof value === "string" ? value : null;
};

/** The secrets that count right now, the present one first. */
function liveSecrets({ store, log }: ApiContext, hook: Hook): string[] {
  const { secret, previousSecret } = hook;
  const isPreviousLive = previousSecret !== null && previousSecret.until.getTime() > Date.now();
  const opened = [secret, ...(isPreviousLive ? [previousSecret] : [])].map((sealed) => store.sealer.open(sealed));
  if (opened.includes(null)) {
    log.warn({ hookId: hook.id }, "cannot decrypt a hook's secret with this SVC_SECRET_KEY; rotate the secret");
  }
  return opened.filter((text) => text !== null);
}

/** Bytes of a body that are read to check a call of an address with too many failures; most events are smaller. */
const UNTRUSTED_MAX_BYTES = 64 * 1024;

/**
 * The hook that a call has proved to come from the sender of, with the call's body. A secret in the path is checked before
 * the body is read; what the others sign is the body itself, of which little is read where the address `isSuspect`. A hook
 * that is not there costs as much as one that is. Throws invalid_signature, and what `readBodyBytes` throws.
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
    if (!isProven(isKnown ? known : null, call) || hook === null) throw refusal();
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

/** The headers that a mapping may use, of those that came once. */
function headersOf({ headersDistinct }: Request): Record<string, string> {
  const known = HOOK_HEADERS.flatMap((name) => {
    const [value, another] = headersDistinct[name] ?? [];
    return value === undefined || another !== undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

/**
 * Stores a body for its owner to see. A body that cannot be stored, also because storage is full, does not undo what
 * became of it.
 */
async function keep({ store, log }: ApiContext, hook: Hook, body: NewHookBody, result: HookBodyResult): Promise<void> {
  try {
    await store.storedBytes.checkRoom(hook.project, "hookBodies", body.content.length);
    await store.hooks.addBody(hook.project, hook.id, body, result);
  } catch (error) {
    log.warn({ error, hookId: hook.id }, "failed to store a hook's request body");
  }
}

function answer(response: Response, { outcome, messageId, ticketId, chatId, deliveryId, isRepeat }: TakenBody): void {
  if (outcome === "ignored" || messageId === null || ticketId === null || chatId === null) {
    sendAnswer(response, jsonAnswer(202, { ok: true, status: "ignored" }));
    return;
  }
  if (isRepeat) response.setHeader("Idempotent-Replayed", "true");
  const names = { chatId, ticketId, messageId };
  sendAnswer(response, deliveryId === null ? queuedAsync(names) : queuedWebhook({ ...names, deliveryId }));
}

/** Nothing of a secret in the path may be in an answer, which platforms show to everybody who sees their deliveries. */
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
 * Comes before the routes of hooks, below their path: the answer to a path that is none of theirs repeats nothing of it
 * but what is in the place of the hook's id, since a secret may be in any other.
 */
export function hideStrayPath(request: Request, _response: Response, next: () => void): void {
  const [, id, , ...more] = request.path.split("/");
  const isOfRoute = more.every((part) => part === "") && more.length < 2 && isDecodable(request.path);
  if (!isOfRoute) request.url = `/${id !== undefined && isDecodable(id) ? id : "-"}/-/-`;
  next();
}

/**
 * `POST /api/v1/hooks/:hookId` and `POST /api/v1/hooks/:hookId/:secret`: what a platform sends becomes one message of
 * the hook's project. There is no API key: the caller proves itself by the hook's secret or signature. A call that does not is
 * neither answered in detail nor stored, and counts as a failed authentication; little is read of an address with too
 * many of these. A call that does counts by address and hook.
 */
export function receiveHook(context: ApiContext, { rateLimit, take }: HookTools): RequestHandler {
  async function admit(request: Request, response: Response): Promise<{ hook: Hook; content: Buffer }> {
    const isSuspect = await rateLimit.hasUsedUpFailures(request);
    let call: { hook: Hook; content: Buffer };
    try {
      call = await authenticate(context, request, isSuspect);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // A suspect with a body that is too large to be checked has proved nothing.
      const isUnchecked = isSuspect && error.code === "payload_too_large";
      throw await rateLimit.refuse(request, response, isUnchecked ? refusal() : error);
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
      // Of a header that came twice readers may take different ones: it counts as none.
      contentType: types.length === 1 ? (types[0] ?? "") : "",
      headers: headersOf(request),
      content,
    };
    let taken: TakenBody;
    try {
      taken = await take(hook, body);
    } catch (error) {
      // Not every sender tries again: what came while the channel was off can be tried by the hook's owner.
      if (error instanceof ServiceError && error.code === "channel_disabled") {
        const faults = [{ pointer: "", code: error.code, detail: error.message }];
        await keep(context, hook, body, { ...NO_MESSAGE, outcome: "failed", faults });
      }
      throw error;
    }
    await keep(context, hook, body, taken);
    if (taken.error !== null) throw taken.error;
    answer(response, taken);
  };
}

/** Refuses the other methods of a hook's addresses, with the same fields as every answer. */
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
