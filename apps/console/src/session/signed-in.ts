import { isCsrfTokenOf, notSignedIn } from "@svc/auth";
import type { LiveSession } from "@svc/auth";
import { CSRF_HEADER, ServiceError } from "@svc/contracts";
import { clientAddress, setPrincipal } from "@svc/http";
import type { Request, RequestHandler, Response } from "express";
import type { ConsoleContext } from "../console-context.ts";
import { isChange } from "./check-page.ts";

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
