import { ERRORS, LIMITS, ServiceError } from "@svc/contracts";
import type { KnownKey } from "@svc/auth";
import type { CountLimit, CounterState, Counters } from "@svc/queue";
import type { Request, Response } from "express";
import { clientAddress } from "./client-address.ts";

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
