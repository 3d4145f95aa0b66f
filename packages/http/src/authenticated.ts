import { ServiceError } from "@svc/contracts";
import type { Authenticate, KnownKey, Principal } from "@svc/auth";
import type { Request, RequestHandler, Response } from "express";
import { clientNetwork } from "./client-address.ts";
import type { RateLimit } from "./rate-limit.ts";

const PRINCIPAL = Symbol("principal");
const KEY_ID = Symbol("key id");
const CHECK_AGAIN = Symbol("check again");

interface WithPrincipal {
  [PRINCIPAL]?: Principal;
  /** The valid key that was shown, also where the request is refused all the same. */
  [KEY_ID]?: string;
  [CHECK_AGAIN]?: () => Promise<Principal>;
}

/** Returns the value of a header. Rejects a repeated header, because two readers could use different values. */
function single(request: Request, name: string): string | undefined {
  const values = request.headersDistinct[name];
  if (values === undefined) return undefined;
  if (values.length > 1) {
    throw new ServiceError("ambiguous_credentials", `The header ${name} is repeated. Send it once.`);
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
      response[KEY_ID] = key.keyId;
      if (key.projectName !== null) response.setHeader("x-svc-project", key.projectName);
      await rateLimit?.admit(request, response, key);
    }

    try {
      const credentials = {
        authorization: single(request, "authorization"),
        apiKey: single(request, "x-api-key"),
        project: single(request, "x-svc-project"),
      };
      const principal = await authenticate(credentials, admit, () => clientNetwork(request));
      response[PRINCIPAL] = { ...principal, requestId: String(response.getHeader("X-Request-Id")) };
      response[CHECK_AGAIN] = () => authenticate(credentials);
    } catch (error) {
      if (isKeyKnown || rateLimit === undefined || !(error instanceof ServiceError)) throw error;
      throw await rateLimit.refuse(request, response, error);
    }
    next();
  };
}

/**
 * Notes who asks, of a request that was let on by another check than that of keys: `principalOf` and `askerOf` know it
 * then. `checkAgain` does the check again, for what is answered for long.
 */
export function setPrincipal(response: Response, principal: Principal, checkAgain: () => Promise<Principal>): void {
  const target = response as Response & WithPrincipal;
  target[PRINCIPAL] = { ...principal, requestId: String(response.getHeader("X-Request-Id")) };
  target[CHECK_AGAIN] = checkAgain;
}

/** The principal of an authenticated request. */
export function principalOf(response: Response): Principal {
  const principal = (response as Response & WithPrincipal)[PRINCIPAL];
  if (principal === undefined) throw new Error("this route has no preceding authentication middleware");
  return principal;
}

/**
 * Checks the key of a request again that is still being answered, and counts nothing: what it may do now. Throws as the
 * first check did, as when the key was revoked meanwhile.
 */
export async function checkKeyAgain(response: Response): Promise<Principal> {
  const checkAgain = (response as Response & WithPrincipal)[CHECK_AGAIN];
  if (checkAgain === undefined) throw new Error("this route has no preceding authentication middleware");
  return checkAgain();
}

/**
 * Who asks, where that is known: the valid key that was shown or the operator who is signed in, and the project where
 * they may work there.
 */
export function askerOf(response: Response): {
  actor: string | null;
  project: { id: Principal["project"]; name: string } | null;
} {
  const { [PRINCIPAL]: principal, [KEY_ID]: keyId } = response as Response & WithPrincipal;
  const actor = principal?.actor ?? (keyId === undefined ? null : `key:${keyId}`);
  const project = principal === undefined ? null : { id: principal.project, name: principal.projectName };
  return { actor, project };
}
