import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import {
  conversationNumberSchema,
  isOriginAllowed,
  ServiceError,
  visitorChatId,
  visitorChatIds,
  visitorIdSchema,
  WIDGET_LIMITS,
} from "@svc/contracts";
import type { WidgetSettings } from "@svc/contracts";
import { clientAddress } from "@svc/http";
import type { Queues } from "@svc/queue";
import { ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { countFailure, countUse, limitExceeded, rateLimitFields } from "./count-use.ts";
import type { Use } from "./count-use.ts";
import type { SiteReader, WidgetSite } from "./widget-context.ts";

const CHALLENGE = 'Bearer realm="svc"';

const hash = (text: string) => createHash("sha256").update(text).digest();

/** Returns true if this is the widget's key. If the settings have no key, no key is valid. */
export function isWidgetKey({ apiKey }: WidgetSettings, key: string): boolean {
  return apiKey !== null && timingSafeEqual(hash(apiKey), hash(key));
}

/** Throws missing_key or invalid_key. */
export function checkKey(settings: WidgetSettings, key: string | undefined): asserts key is string {
  if (key === undefined || key === "") {
    throw new ServiceError("missing_key", "Send the widget's key in the X-Api-Key header, or as apiKey of a socket.", {
      headers: { "WWW-Authenticate": CHALLENGE },
    });
  }
  if (isWidgetKey(settings, key)) return;
  throw new ServiceError(
    "invalid_key",
    "Invalid widget key. Use the key from the widget's settings in the page's tag.",
    {
      headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
    },
  );
}

/** Throws origin_not_allowed for a page of a site that is not in the list. */
export function checkOrigin({ allowedOrigins }: WidgetSettings, origin: string | undefined): void {
  if (isOriginAllowed(origin, allowedOrigins)) return;
  throw new ServiceError(
    "origin_not_allowed",
    "This website is not allowed to use the widget. An administrator can add its origin to allowedOrigins.",
  );
}

const METHODS = "GET, HEAD, POST";
const REQUEST_HEADERS = "Content-Type, X-Api-Key, X-Visitor-Id, X-Conversation, X-User-Id, X-User-Hash";
const SHOWN_HEADERS = "Content-Disposition, ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id";
/** Cache duration of a preflight response. */
const REMEMBERED_SECONDS = 600;

/** Path whose rejections every page may read: the first call of a widget. */
const CONFIG_PATH = "/config/";

/**
 * Allows pages of the allowed sites to call the widget's endpoints (the Fetch standard's CORS protocol), and responds
 * to preflight requests. Others get 403 `origin_not_allowed`, which they may read only for the settings. Keys and ids
 * are sent in headers and never in cookies, so no credentials are allowed.
 */
export function crossOrigin(readSite: SiteReader): RequestHandler {
  return async (request, response, next) => {
    const { settings } = await readSite();
    const { origin } = request.headers;
    // A response for one site must not be cached for another one, whether it is allowed or not.
    response.vary("Origin");
    // A rejection contains no secret, and the site's owner must be able to see why the widget does not load.
    if (request.path.startsWith(CONFIG_PATH)) response.setHeader("Access-Control-Allow-Origin", "*");
    checkOrigin(settings, origin);
    if (origin !== undefined) {
      response.setHeader("Access-Control-Allow-Origin", settings.allowedOrigins.length === 0 ? "*" : origin);
      response.setHeader("Access-Control-Expose-Headers", SHOWN_HEADERS);
    }
    response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
    if (request.method !== "OPTIONS") {
      next();
      return;
    }
    response
      .status(204)
      .set({
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": REQUEST_HEADERS,
        "Access-Control-Max-Age": String(REMEMBERED_SECONDS),
      })
      .end();
  };
}

/** The identity that a visitor claims. */
interface ClaimedIdentity {
  userId?: string | undefined;
  /** Lower-case hex HMAC-SHA256 of `userId` under the identity secret. */
  userHash?: string | undefined;
}

/** Checked first, because Node's hex decoder ignores everything after the last valid digit. */
const HASH = /^[0-9a-f]{64}$/i;

function isSigned(secret: string, userId: string, userHash: string): boolean {
  if (!HASH.test(userHash)) return false;
  const right = createHmac("sha256", secret).update(userId).digest();
  return timingSafeEqual(Buffer.from(userHash, "hex"), right);
}

/**
 * Returns the verified user id of a visitor; null if there is none. An id counts only with its hash: without an
 * identity secret none can be verified, and claims are ignored. Throws invalid_identity for a wrong hash, for an id
 * without one, and for a missing id if the settings require one.
 */
export function checkIdentity(
  { settings, identitySecret }: WidgetSite,
  { userId, userHash }: ClaimedIdentity,
): string | null {
  const isSent = userId !== undefined || userHash !== undefined;
  if (identitySecret !== null && isSent) {
    if (userId !== undefined && userHash !== undefined && isSigned(identitySecret, userId, userHash)) return userId;
    throw new ServiceError(
      "invalid_identity",
      "The user hash is missing or wrong. It must be the HMAC-SHA256 of the user ID with the identity secret, in lowercase hex.",
    );
  }
  if (!settings.requireIdentity) return null;
  throw new ServiceError(
    "invalid_identity",
    "Only signed-in users can write on this website: send userId and userHash.",
  );
}

/** A visitor with a conversation. The visitorId, which is a secret, is not stored. */
export interface Visitor {
  project: ProjectId;
  /** Chat ID of the first conversation, which shows operators that others belong to the same visitor. */
  firstChatId: string;
  chatId: string;
  ticketId: string;
  /** Verified by its hash; null if there is none. */
  userId: string | null;
  /** The identity secret that has verified the user id; null if there is none. */
  provenBy: string | null;
}

/** Returns a conversation of a visitorId; both must be validated. Throws invalid_identity. */
export function findVisitor(
  site: WidgetSite,
  { visitorId, conversation = 1 }: { visitorId: string; conversation?: number | undefined },
  identity: ClaimedIdentity,
): Visitor {
  const userId = checkIdentity(site, identity);
  const chatId = visitorChatId(visitorId, conversation);
  return {
    project: site.project,
    firstChatId: visitorChatId(visitorId),
    chatId,
    ticketId: ticketIdOf(site.project, "widget", chatId),
    userId,
    provenBy: userId === null ? null : site.identitySecret,
  };
}

/** Returns false if changed settings require the visitor to identify again. */
export function isStillKnown({ project, userId, provenBy }: Visitor, site: WidgetSite): boolean {
  if (project !== site.project) return false;
  return userId === null ? !site.settings.requireIdentity : provenBy === site.identitySecret;
}

/** Returns the value of a header. Rejects a repeated header, because two readers could use different values. */
function single(request: Request, name: string): string | undefined {
  const values = request.headersDistinct[name.toLowerCase()];
  if (values === undefined || values.length === 1) return values?.[0];
  throw new ServiceError("invalid_request", `The header ${name} is repeated. Send it once.`);
}

function invalidHeader(name: string, detail: string): ServiceError {
  return new ServiceError("invalid_request", `The header ${name} is not valid: ${detail}.`, {
    errors: [{ pointer: `/${name}`, code: "invalid", detail }],
  });
}

/** Headers contain only ASCII, so an id is encoded with `encodeURIComponent`. */
function userIdOf(request: Request): string | undefined {
  const value = single(request, "X-User-Id");
  if (value === undefined) return undefined;
  let userId: string;
  try {
    userId = decodeURIComponent(value);
  } catch {
    throw invalidHeader("X-User-Id", "percent-encode it, as encodeURIComponent does");
  }
  if (userId === "" || userId.length > 200) throw invalidHeader("X-User-Id", "1 to 200 characters");
  return userId;
}

/** Counts a call by address and key, and sets the `RateLimit` fields. Throws rate_limited. */
export async function countCall(
  queues: Queues,
  use: Use,
  { request, response, key, site }: { request: Request; response: Response; key: string; site: WidgetSite },
): Promise<void> {
  const caller = { address: clientAddress(request), key, settings: site.settings };
  const counted = await countUse(queues.counters, use, caller);
  response.set(rateLimitFields(use, counted));
  if (counted.isOver) throw limitExceeded(use, counted);
}

/**
 * Returns the key of a call, which may be in its body too. Throws missing_key, invalid_key, rate_limited,
 * invalid_request.
 */
export async function readKey(queues: Queues, request: Request, site: WidgetSite, inBody?: unknown): Promise<string> {
  const key = single(request, "X-Api-Key") ?? (typeof inBody === "string" ? inBody : undefined);
  try {
    checkKey(site.settings, key);
    return key;
  } catch (error) {
    throw error instanceof ServiceError ? await countFailure(queues.counters, clientAddress(request), error) : error;
  }
}

/** Returns the visitor ID in the header of a call. Throws invalid_request for a guessable one. */
function readVisitorId(request: Request): string {
  const visitorId = single(request, "X-Visitor-Id");
  if (visitorId === undefined) throw invalidHeader("X-Visitor-Id", "is required");
  // Any weaker ID could be guessed, and would give access to the conversation.
  if (!visitorIdSchema.safeParse(visitorId).success)
    throw invalidHeader("X-Visitor-Id", "must be a random UUID (version 4)");
  return visitorId;
}

const identityOf = (request: Request): ClaimedIdentity => ({
  userId: userIdOf(request),
  userHash: single(request, "X-User-Hash"),
});

/** Returns the calling visitor with the conversation, from the headers. Throws invalid_request and invalid_identity. */
export function readVisitor(request: Request, site: WidgetSite): Visitor {
  const visitorId = readVisitorId(request);
  const number = conversationNumberSchema.optional().safeParse(toNumber(single(request, "X-Conversation")));
  if (!number.success)
    throw invalidHeader("X-Conversation", `must be a number from 1 to ${WIDGET_LIMITS.conversationsMaxCount}`);
  return findVisitor(site, { visitorId, conversation: number.data }, identityOf(request));
}

const toNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));

/** Returns the tickets of all conversations that a calling visitor can have, by number. Throws like `readVisitor`. */
export function readTickets(request: Request, site: WidgetSite): string[] {
  const visitorId = readVisitorId(request);
  checkIdentity(site, identityOf(request));
  return visitorChatIds(visitorId).map((chatId) => ticketIdOf(site.project, "widget", chatId));
}
