import { ServiceError } from "@svc/contracts";
import type { Authenticate, KnownKey, Principal } from "@svc/auth";
import type { Request, RequestHandler, Response } from "express";
import type { RateLimit } from "./rate-limit.ts";

const PRINCIPAL = Symbol("principal");

interface WithPrincipal {
  [PRINCIPAL]?: Principal;
}

/** One value of a header; a header that was sent twice is a fault, since two readers could take different ones. */
function single(request: Request, name: string): string | undefined {
  const values = request.headersDistinct[name];
  if (values === undefined) return undefined;
  if (values.length > 1) {
    throw new ServiceError("ambiguous_credentials", `The header ${name} was sent more than once. Send it once.`);
  }
  return values[0];
}

/**
 * Lets only requests with a valid key on, and says in `x-svc-project` which project they work on. The principal is
 * then read with `principalOf`. With a rate limit, requests are counted as soon as the key is known or refused, so that
 * every answer after that has the `RateLimit` fields.
 */
export function authenticated(authenticate: Authenticate, rateLimit?: RateLimit): RequestHandler {
  return async (request, response: Response & WithPrincipal, next) => {
    let isKeyKnown = false;
    async function admit(key: KnownKey): Promise<void> {
      isKeyKnown = true;
      if (key.projectName !== null) response.setHeader("x-svc-project", key.projectName);
      await rateLimit?.admit(request, response, key);
    }

    try {
      const credentials = {
        authorization: single(request, "authorization"),
        apiKey: single(request, "x-api-key"),
        project: single(request, "x-svc-project"),
      };
      response[PRINCIPAL] = await authenticate(credentials, admit);
    } catch (error) {
      if (isKeyKnown || rateLimit === undefined || !(error instanceof ServiceError)) throw error;
      throw await rateLimit.refuse(request, response, error);
    }
    next();
  };
}

/** The principal of an authenticated request. */
export function principalOf(response: Response): Principal {
  const principal = (response as Response & WithPrincipal)[PRINCIPAL];
  if (principal === undefined) throw new Error("this route has no key check before it");
  return principal;
}
