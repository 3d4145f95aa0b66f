import type { Request, RequestHandler, Response } from "express";
import { isCsrfTokenOf, notSignedIn } from "@svc/auth";
import type { LiveSession } from "@svc/auth";
import { CSRF_HEADER, ServiceError } from "@svc/contracts";
import { clientAddress, setPrincipal, createKnownHosts, isLoopbackBound } from "@svc/http";
import type { ConsoleContext } from "../console-context.ts";

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
