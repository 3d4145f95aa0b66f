import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { HOOK_HEADERS, HOOK_LIMITS, LIMITS, ServiceError } from "@svc/contracts";
import type { HookAuth } from "@svc/contracts";
import { methodNotAllowed, readBodyBytes } from "@svc/http";
import type { RateLimit, ReceivedBody } from "@svc/http";
import { webhookKeyOf } from "@svc/outbound";
import { isUuid } from "@svc/primitives";
import { newId } from "@svc/store";
import type { Hook, HookBodyResult, NewHookBody } from "@svc/store";
import type { ApiContext } from "./api-context.ts";
import { jsonResponse, queuedAsync, queuedWebhook, sendResponse } from "./messages/response-writer.ts";

/** A call with its claims. */
export interface HookCall {
  /** Every value of each header, names in lower case. */
  headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Raw bytes. */
  body: Buffer;
  /** Secret in the path; null without one. */
  pathSecret: string | null;
  now: Date;
}

type Algorithm = "sha256" | "sha1" | "sha512";

/** Signatures of a call, and how to verify them. */
interface Claim {
  algorithm: Algorithm;
  encoding: "hex" | "base64";
  /** The signed parts, in their order. */
  signed: readonly (string | Buffer)[];
  /** Signatures without their prefix; one of them has to be valid. */
  given: readonly string[];
  keyOf: (secret: string) => Buffer;
}

type HeaderScheme = Exclude<HookAuth["type"], "path">;

/** A call for an unknown hook is checked against this random secret, so that it takes as long as one for a known hook. */
const RANDOM_SECRET = randomBytes(32).toString("base64url");

const bytesOf = (secret: string) => Buffer.from(secret, "utf8");

/** Returns the value of a header that was sent once; readers may disagree on one that was sent twice. */
function single({ headers }: HookCall, name: string): string | null {
  const values = headers[name];
  return values?.length === 1 ? (values[0] ?? null) : null;
}

/** Returns the value of a header after the required prefix. */
function afterPrefix(call: HookCall, name: string, prefix: string): string[] | null {
  const value = single(call, name);
  return value?.startsWith(prefix) ? [value.slice(prefix.length)] : null;
}

/** Returns true if Unix seconds are close enough to now, before or after. */
function isTimely(seconds: string | undefined, { now }: HookCall): seconds is string {
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) return false;
  return Math.abs(now.getTime() - Number(seconds) * 1_000) <= HOOK_LIMITS.toleranceSeconds * 1_000;
}

/** Returns the claim of an HMAC of the body alone, in one header. */
function ofBody(
  call: HookCall,
  { header, prefix, ...how }: { header: string; prefix: string; algorithm: Algorithm; encoding: "hex" | "base64" },
): Claim | null {
  const given = afterPrefix(call, header, prefix);
  return given === null ? null : { ...how, given, signed: [call.body], keyOf: bytesOf };
}

/** Returns the claim of a call by each scheme; null without a signature, or if it is too old. */
const CLAIMS: Record<Exclude<HeaderScheme, "hmac">, (call: HookCall) => Claim | null> = {
  github: (call) =>
    ofBody(call, { header: "x-hub-signature-256", prefix: "sha256=", algorithm: "sha256", encoding: "hex" }),
  shopify: (call) =>
    ofBody(call, { header: "x-shopify-hmac-sha256", prefix: "", algorithm: "sha256", encoding: "base64" }),
  typeform: (call) =>
    ofBody(call, { header: "typeform-signature", prefix: "sha256=", algorithm: "sha256", encoding: "base64" }),
  // `t=<seconds>,v1=<hex>,v1=<hex>`: two while Stripe rotates the secret. Other versions are weaker and ignored.
  stripe(call) {
    const items = (single(call, "stripe-signature") ?? "").split(",").map((item) => item.trim());
    const valuesOf = (name: string) =>
      items.filter((item) => item.startsWith(`${name}=`)).map((item) => item.slice(name.length + 1));
    const [seconds, another] = valuesOf("t");
    if (another !== undefined || !isTimely(seconds, call)) return null;
    const signed = [`${seconds}.`, call.body];
    return { algorithm: "sha256", encoding: "hex", signed, given: valuesOf("v1"), keyOf: bytesOf };
  },
  // `v1,<base64>` for each secret, separated by spaces (Standard Webhooks 1.0).
  "standard-webhooks"(call) {
    const id = single(call, "webhook-id");
    const seconds = single(call, "webhook-timestamp") ?? undefined;
    const signatures = single(call, "webhook-signature");
    if (id === null || signatures === null || !isTimely(seconds, call)) return null;
    const given = signatures.split(" ").flatMap((item) => (item.startsWith("v1,") ? [item.slice(3)] : []));
    const signed = [`${id}.${seconds}.`, call.body];
    return { algorithm: "sha256", encoding: "base64", signed, given, keyOf: webhookKeyOf };
  },
};

/** Returns the claim of a call by the scheme of its hook. */
function claimOf(call: HookCall, auth: HookAuth): Claim | null {
  if (auth.type === "path") return null;
  return auth.type === "hmac" ? ofBody(call, auth) : CLAIMS[auth.type](call);
}

function isEqual(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => Buffer.from(text, "utf8"));
  return a !== undefined && b !== undefined && a.length === b.length && timingSafeEqual(a, b);
}

function isSigned({ algorithm, encoding, signed, given, keyOf }: Claim, secret: string): boolean {
  const hmac = createHmac(algorithm, keyOf(secret));
  for (const part of signed) hmac.update(part);
  const expected = hmac.digest(encoding);
  // Some senders use upper-case hexadecimal digits.
  return given.some((value) => isEqual(encoding === "hex" ? value.toLowerCase() : value, expected));
}

const digestOf = (secret: string) => createHash("sha256").update(secret).digest();

/**
 * Returns true if a call comes from the hook's sender: it has the secret in its path, or an HMAC over the raw body in a
 * header, with one of the valid secrets (at most two). Without a hook it returns false, after the same work. All
 * comparisons take constant time.
 */
export function isProven(hook: { auth: HookAuth; secrets: readonly string[] } | null, call: HookCall): boolean {
  const [current = RANDOM_SECRET, previous = RANDOM_SECRET] = hook?.secrets ?? [];
  if (call.pathSecret !== null) {
    const given = digestOf(call.pathSecret);
    const isMatch = [current, previous].map((secret) => timingSafeEqual(given, digestOf(secret))).includes(true);
    return isMatch && hook?.auth.type === "path";
  }
  const claim = hook === null ? null : claimOf(call, hook.auth);
  const checked: Claim = claim ?? {
    algorithm: "sha256",
    encoding: "hex",
    signed: [call.body],
    given: [""],
    keyOf: bytesOf,
  };
  // Always checks both secrets, so that the time does not reveal which one is valid.
  const usable = claim === null ? [RANDOM_SECRET, RANDOM_SECRET] : [current, previous];
  const isMatch = usable.map((secret) => isSigned(checked, secret)).includes(true);
  return isMatch && claim !== null;
}

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
