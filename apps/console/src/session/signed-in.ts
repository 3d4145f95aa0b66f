import { randomBytes } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { isCsrfTokenOf, notSignedIn } from "@svc/auth";
import type { LiveSession, SessionCheck } from "@svc/auth";
import { CSRF_HEADER, LIMITS, ServiceError, SESSION_LIMITS, checkInput } from "@svc/contracts";
import { clientAddress, createKnownHosts, isLoopbackBound, readJsonBody, setPrincipal } from "@svc/http";
import type { RateLimit } from "@svc/http";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import type { Sealer, Store } from "@svc/store";
import type { EventHub } from "../events/create-event-hub.ts";
import type { SignInLimit } from "./create-sign-in-limit.ts";
import type { OidcClient } from "./open-oidc.ts";

/** Cookie names, by whether the browser uses https. Browsers accept the first one only for exactly one host. */
const NAMES = { secure: "__Host-svc_session", plain: "svc_session" } as const;

/** Returns the value of a cookie of a request; undefined without one. */
export function readCookie(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Reads and checks the JSON body of a request. Throws like `readJsonBody` and `checkInput`. */
export async function readInput<Output>(request: Request, schema: z.ZodType<Output>, what: string): Promise<Output> {
  return checkInput(schema, await readJsonBody(request, LIMITS.bodyMaxBytes), what);
}

/** The cookie with the token of a session. */
interface SessionCookie {
  isSecure(request: Request): boolean;
  read(request: Request): string | undefined;
  set(request: Request, response: Response, token: string): void;
  clear(request: Request, response: Response): void;
}

/**
 * Creates the session cookie: it is hidden from scripts, and not sent by pages of other sites. It is restricted to
 * https if the browser uses https, according to `publicUrls` or a trusted proxy.
 */
export function createSessionCookie(publicUrls: readonly string[]): SessionCookie {
  const secureHosts = new Set(
    publicUrls.flatMap((url) => (url.startsWith("https://") ? [new URL(url).host.toLowerCase()] : [])),
  );
  const isSecure = (request: Request) => request.secure || secureHosts.has((request.headers.host ?? "").toLowerCase());
  const nameFor = (request: Request) => (isSecure(request) ? NAMES.secure : NAMES.plain);
  const optionsFor = (request: Request) =>
    ({ httpOnly: true, sameSite: "strict", path: "/", secure: isSecure(request) }) as const;
  return {
    isSecure,
    read: (request) => readCookie(request, nameFor(request)),
    set(request, response, token) {
      response.cookie(nameFor(request), token, { ...optionsFor(request), maxAge: SESSION_LIMITS.totalSeconds * 1_000 });
    },
    clear(request, response) {
      response.clearCookie(nameFor(request), optionsFor(request));
    },
  };
}

const DEVICE_COOKIE = "svc_device";
/** The only path that reads it. */
const DEVICE_PATH = "/session";
/** Time without a sign-in after which a browser counts as unknown again. */
const DEVICE_LIFETIME_MS = 90 * 24 * 3_600_000;
/** Maximum number of accounts that one browser is known for: colleagues who share it. */
const MAX_ACCOUNTS = 5;

const devicesSchema = z.object({
  devices: z.array(z.object({ account: z.string(), id: z.string(), until: z.number() })),
});
type Devices = z.infer<typeof devicesSchema>["devices"];

/** The browsers in which operators have signed in before. */
interface DeviceCookie {
  /**
   * Returns the id of this browser if the account (`accountOf` in `create-sign-in-limit.ts`) has signed in there
   * before, or null.
   */
  find(request: Request, account: string): string | null;
  /** Stores, in the browser, that the account has signed in. */
  add(request: Request, response: Response, account: string): void;
}

/**
 * Creates the cookie of known devices: encrypted, so that only a sign-in on this installation creates one, and only for
 * the sign-in. It is not a credential: it exempts from limits that other people's attempts could exhaust.
 */
export function createDeviceCookie(sealer: Sealer, cookie: Pick<SessionCookie, "isSecure">): DeviceCookie {
  function read(request: Request): Devices {
    const text = sealer.open({ sealed: readCookie(request, DEVICE_COOKIE) ?? "" });
    const parsed = text === null ? null : devicesSchema.safeParse(JSON.parse(text));
    return parsed?.success === true ? parsed.data.devices.filter(({ until }) => until > Date.now()) : [];
  }

  return {
    find: (request, account) => read(request).find((device) => device.account === account)?.id ?? null,
    add(request, response, account) {
      const id = randomBytes(12).toString("base64url");
      const others = read(request).filter((device) => device.account !== account);
      const devices: Devices = [{ account, id, until: Date.now() + DEVICE_LIFETIME_MS }, ...others].slice(
        0,
        MAX_ACCOUNTS,
      );
      const { sealed } = sealer.seal(JSON.stringify({ devices }));
      const secure = cookie.isSecure(request);
      response.cookie(DEVICE_COOKIE, sealed, {
        httpOnly: true,
        sameSite: "strict",
        path: DEVICE_PATH,
        secure,
        maxAge: DEVICE_LIFETIME_MS,
      });
    },
  };
}

/** Dependencies of the console's own routes. */
export interface ConsoleContext {
  store: Store;
  queues: Queues;
  log: Log;
  sessions: SessionCheck;
  cookie: SessionCookie;
  devices: DeviceCookie;
  rateLimit: RateLimit;
  signInLimit: SignInLimit;
  hub: EventHub;
  /** Single sign-on; null if none is configured. */
  oidc: OidcClient | null;
  /** True if a mail server is configured. */
  sendsEmails: boolean;
  /** Aborted when the process shuts down. */
  closing: AbortSignal;
}

/** Bind address and host names of the console. */
export interface ConsoleAddresses {
  bindHost: string;
  publicUrls: readonly string[];
  trustProxy: readonly string[];
}

/** Returns the error of a request with an unknown host name. */
export const unknownHost = () =>
  new ServiceError(
    "origin_not_allowed",
    "The console does not accept this host name. Open it at its own URL, or ask an administrator to add this URL to SVC_PUBLIC_URLS.",
  );

/**
 * Accepts only requests with a known host name, if the names are known: with public URLs, or if only programs on this
 * machine can reach the port and no proxy is configured. Otherwise, for example in a local network without public URLs,
 * any name is accepted. Throws origin_not_allowed.
 */
export function checkHost({ bindHost, publicUrls, trustProxy }: ConsoleAddresses): RequestHandler {
  const hosts = createKnownHosts({ bindHost, publicUrls });
  const isChecked = publicUrls.length > 0 || (isLoopbackBound(bindHost) && trustProxy.length === 0);
  return (request, _response, next) => {
    if (isChecked && !hosts.isKnown(request.headers.host)) throw unknownHost();
    next();
  };
}

/** Methods without side effects. */
const SAFE = new Set(["GET", "HEAD"]);

/** The pull of a model can also be started with GET (service specification, section 4.4). */
const BEGINS_PULL = /^\/api\/v1\/admin\/models\/[^/]+\/pull\/?$/i;

/** Returns true for a call that may change something. */
const isChange = ({ method, originalUrl }: Pick<Request, "method" | "originalUrl">): boolean =>
  !SAFE.has(method) || BEGINS_PULL.test(originalUrl.split("?", 1)[0] ?? "");

const fromElsewhere = () =>
  new ServiceError("csrf_refused", "The request comes from another website. Open the console directly and reload it.");

/** Returns the host of an origin, in lower case; null if it has none, such as `null`. */
const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host.toLowerCase() : null);

/**
 * Accepts only calls from pages of the console itself, according to the browser (`Sec-Fetch-Site`, `Origin`). Other
 * programs do not send these headers, and cannot be made to call by another site. `publicUrls` are the URLs under which
 * the console is reached through a proxy with another host name.
 */
export function checkPage(publicUrls: readonly string[]): RequestHandler {
  const known = new Set(publicUrls.map((url) => new URL(url).host.toLowerCase()));
  return (request, _response, next) => {
    const site = request.headers["sec-fetch-site"];
    // `none`: typed into the address bar, or opened from a bookmark.
    const isOwn = site === undefined || site === "same-origin" || (site === "none" && !isChange(request));
    if (!isOwn) throw fromElsewhere();
    const { origin } = request.headers;
    if (origin !== undefined) {
      const host = hostOf(origin);
      const own = request.headers.host?.toLowerCase();
      if (host === null || (host !== own && host !== request.host?.toLowerCase() && !known.has(host))) {
        throw fromElsewhere();
      }
    }
    next();
  };
}

const SESSION = Symbol("session");
interface WithSession {
  [SESSION]?: LiveSession;
}

/** Limit of calls with an invalid cookie per address and minute: each one needs a read from the store. */
const MISSES = { limit: 300, windowSeconds: 60 };

type CheckContext = Pick<ConsoleContext, "sessions" | "cookie" | "rateLimit" | "queues">;

/** Returns the value of a header. Rejects a repeated header, because two readers could use different values. */
function single(request: Request, name: string): string | undefined {
  const values = request.headersDistinct[name];
  if (values !== undefined && values.length > 1) {
    throw new ServiceError("invalid_request", `The header ${name} is repeated. Send it once.`);
  }
  return values?.[0];
}

/** Returns the live session of a request. Throws not_signed_in, and rate_limited after too many invalid ones. */
async function getSession({ sessions, cookie, queues }: CheckContext, request: Request): Promise<LiveSession> {
  const token = cookie.read(request);
  if (token === undefined) throw notSignedIn();
  const name = `session-misses:${clientAddress(request)}`;
  const { remaining, resetMs } = await queues.counters.peek(name, MISSES);
  try {
    return await sessions.getSession(token);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "not_signed_in") throw error;
    await queues.counters.count(name, MISSES);
    if (remaining > 0) throw error;
    const seconds = String(Math.max(1, Math.ceil(resetMs / 1_000)));
    throw new ServiceError("rate_limited", `Too many requests with invalid sessions. Try again in ${seconds} s.`, {
      headers: { "Retry-After": seconds },
    });
  }
}

/**
 * Accepts only requests with a session, and changes only with its CSRF token; the session is then available through
 * `sessionOf`. Throws not_signed_in and csrf_refused.
 */
export function signedIn(context: CheckContext): RequestHandler {
  return async (request, response: Response & WithSession, next) => {
    const session = await getSession(context, request);
    if (isChange(request) && !isCsrfTokenOf(session.token, single(request, CSRF_HEADER))) {
      throw new ServiceError(
        "csrf_refused",
        `The request lacks the CSRF token of its session (${CSRF_HEADER}). Reload the page.`,
      );
    }
    response[SESSION] = session;
    next();
  };
}

/** Returns the session of a request that has passed `signedIn`. */
export function sessionOf(response: Response): LiveSession {
  const session = (response as Response & WithSession)[SESSION];
  if (session === undefined) throw new Error("this route has no preceding session check");
  return session;
}

/**
 * After `signedIn`: determines the operator's permissions in the project of `x-svc-project`, which the response
 * repeats; requests are counted. The principal is then available through `principalOf`. Throws project_mismatch,
 * not_found and rate_limited.
 */
export function inProject({ sessions, rateLimit }: CheckContext): RequestHandler {
  return async (request, response, next) => {
    const session = sessionOf(response);
    const wanted = single(request, "x-svc-project");
    const principal = await sessions.choosePrincipal(session, wanted);
    setPrincipal(response, principal, async () =>
      sessions.choosePrincipal(await sessions.getSession(session.token), wanted),
    );
    response.setHeader("x-svc-project", principal.projectName);
    const { rateLimit: limit, projectName } = principal;
    await rateLimit.admit(
      request,
      response,
      { keyId: `operator-${session.operator.id}`, rateLimit: limit, projectName },
      "Rate limit exceeded: you are limited to",
    );
    next();
  };
}
