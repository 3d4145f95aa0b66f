import type { Request, RequestHandler, Response } from "express";
import type { Authenticate, KnownKey, Principal } from "@svc/auth";
import { ERRORS, LIMITS, ServiceError } from "@svc/contracts";
import type { Counters, CounterState, CountLimit } from "@svc/queue";
import { clientAddress, clientNetwork } from "./client-address.ts";

const PRINCIPAL = Symbol("principal");
const KEY_ID = Symbol("key id");
const CHECK_AGAIN = Symbol("check again");

interface WithPrincipal {
  [PRINCIPAL]?: Principal;
  /** The valid key of the request, even if the request is rejected. */
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
 * Allows only requests with a valid key, and returns their project in `x-svc-project`. `principalOf` then returns the
 * principal. With a rate limit, requests are counted as soon as the key is known or rejected, so that every later
 * response has the `RateLimit` fields.
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
 * Sets the principal of a request that another check than that of keys has authorized, for `principalOf` and `callerOf`.
 * `checkAgain` repeats the check during long responses.
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
 * Checks the key of a request again during a long response, without counting it; returns the current principal. Throws
 * like the first check, for example if the key was revoked.
 */
export async function recheckKey(response: Response): Promise<Principal> {
  const checkAgain = (response as Response & WithPrincipal)[CHECK_AGAIN];
  if (checkAgain === undefined) throw new Error("this route has no preceding authentication middleware");
  return checkAgain();
}

/**
 * Returns the caller of a request if known: the valid key or the signed-in operator, and the project if they may access
 * it.
 */
export function callerOf(response: Response): {
  actor: string | null;
  project: { id: Principal["project"]; name: string } | null;
} {
  const { [PRINCIPAL]: principal, [KEY_ID]: keyId } = response as Response & WithPrincipal;
  const actor = principal?.actor ?? (keyId === undefined ? null : `key:${keyId}`);
  const project = principal === undefined ? null : { id: principal.project, name: principal.projectName };
  return { actor, project };
}

const WINDOW_SECONDS = 60;
const FAILED_AUTHS: CountLimit = { limit: LIMITS.failedAuthsPerMinute, windowSeconds: WINDOW_SECONDS };

type PolicyName = "default" | "auth";

/** Limits of requests and of failed authentications, shared by all processes. */
export interface RateLimit {
  /**
   * Counts a request with a valid key, by address and key, and sets the `RateLimit` fields. A key without a limit is
   * not counted and gets no fields. All addresses of a key together may make ten times its limit, which bounds the use
   * of a leaked key. Throws rate_limited, whose text begins with `subject`: the limited caller.
   */
  admit(request: Request, response: Response, key: KnownKey, subject?: string): Promise<void>;
  /**
   * Counts a request without a valid key by address, if it is rejected with 401, and sets the `RateLimit` fields to the
   * remaining failures. Returns the error to throw: the given one, or rate_limited instead.
   */
  refuse(request: Request, response: Response, error: ServiceError): Promise<ServiceError>;
  /** Counts a failed authentication without changing the response; other errors do not count. */
  recordFailure(request: Request, error: ServiceError): Promise<void>;
  /** Returns true if the address has no failed authentications left. */
  hasUsedUpFailures(request: Request): Promise<boolean>;
}

/** Returns the seconds until a window ends, rounded up, so that a client that waits for them is not too early. */
const secondsUntil = (resetMs: number) => Math.max(Math.ceil(resetMs / 1_000), 1);

/** Sets the fields of the IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers). */
function setFields(response: Response, policy: PolicyName, limit: CountLimit, state: CounterState): void {
  response.setHeader("RateLimit-Policy", `"${policy}";q=${limit.limit};w=${limit.windowSeconds}`);
  response.setHeader("RateLimit", `"${policy}";r=${state.remaining};t=${secondsUntil(state.resetMs)}`);
}

/** Returns the error of an exhausted limit: what is limited, and when to retry. */
function rateLimited(what: string, { resetMs }: CounterState): ServiceError {
  const seconds = secondsUntil(resetMs);
  return new ServiceError("rate_limited", `${what} Retry in ${seconds} s.`, {
    headers: { "Retry-After": String(seconds) },
  });
}

/** Creates the limits of an HTTP surface. */
export function createRateLimit(counters: Counters): RateLimit {
  const nameOfFailures = (request: Request) => `auth:${clientAddress(request)}`;
  const isFailure = ({ code }: ServiceError) => ERRORS[code].status === 401;

  return {
    async admit(request, response, { keyId, rateLimit }, subject = "Rate limit exceeded: this key is limited to") {
      if (rateLimit === null) return;
      const limit = { limit: rateLimit, windowSeconds: WINDOW_SECONDS };
      const total = { ...limit, limit: rateLimit * LIMITS.rateLimitAddresses };
      const [counted, ofKey] = await Promise.all([
        counters.count(`default:${clientAddress(request)}:${keyId}`, limit),
        counters.count(`key:${keyId}`, total),
      ]);
      setFields(response, "default", limit, counted);
      if (counted.isOver) {
        throw rateLimited(`${subject} ${rateLimit} requests per minute from one address.`, counted);
      }
      if (ofKey.isOver) {
        throw rateLimited(`${subject} ${total.limit} requests per minute from all addresses together.`, ofKey);
      }
    },

    async refuse(request, response, error) {
      const name = nameOfFailures(request);
      if (!isFailure(error)) {
        setFields(response, "auth", FAILED_AUTHS, await counters.peek(name, FAILED_AUTHS));
        return error;
      }
      const counted = await counters.count(name, FAILED_AUTHS);
      setFields(response, "auth", FAILED_AUTHS, counted);
      if (!counted.isOver) return error;
      return rateLimited("Too many requests from this address without a valid key. Send a valid key.", counted);
    },

    async recordFailure(request, error) {
      if (isFailure(error)) await counters.count(nameOfFailures(request), FAILED_AUTHS);
    },

    async hasUsedUpFailures(request) {
      const { remaining } = await counters.peek(nameOfFailures(request), FAILED_AUTHS);
      return remaining === 0;
    },
  };
}

/** Seconds after which a caller with too many open calls may retry. */
const RETRY_SECONDS = 5;

/** Counts open calls in this process, by name. */
interface OpenCount {
  /**
   * Counts another open call under this name. Returns the function that closes it, which is safe to call twice; null if
   * `limit` are open already.
   */
  open(name: string, limit: number): (() => void) | null;
}

/** Creates a counter of open calls, such as long polls by key and address. */
export function createOpenCount(): OpenCount {
  const counts = new Map<string, number>();
  return {
    open(name, limit) {
      const count = counts.get(name) ?? 0;
      if (count >= limit) return null;
      counts.set(name, count + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (counts.get(name) ?? 1) - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      };
    },
  };
}

/** Counts a long call by key and address, until its connection is closed. Throws rate_limited. */
export type OpenLimit = (request: Request, response: Response) => void;

/** Creates the limit of open calls of one kind, per key and address in this process. */
export function createOpenLimit(limit: number, kind: string): OpenLimit {
  const count = createOpenCount();
  return (request, response) => {
    const { keyId, actor } = principalOf(response);
    const close = count.open(`${keyId ?? actor}:${clientAddress(request)}`, limit);
    if (close === null) {
      throw new ServiceError(
        "rate_limited",
        `This key already has ${limit} open ${kind} from one address, which is the maximum. Wait until one of them ends.`,
        { headers: { "Retry-After": String(RETRY_SECONDS) } },
      );
    }
    response.once("close", close);
  };
}
