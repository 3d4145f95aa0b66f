import { ERRORS, LIMITS, ServiceError } from "@svc/contracts";
import type { KnownKey } from "@svc/auth";
import type { CountLimit, CounterState, Counters } from "@svc/queue";
import type { Request, Response } from "express";
import { clientAddress } from "./client-address.ts";

const WINDOW_SECONDS = 60;
const FAILED_AUTHS: CountLimit = { limit: LIMITS.failedAuthsPerMinute, windowSeconds: WINDOW_SECONDS };

type PolicyName = "default" | "auth";

/** The limit of requests and that of failed authentications, which all processes share. */
export interface RateLimit {
  /**
   * Counts a request with a valid key, by address and key, and says in the `RateLimit` fields what is left. A key
   * without a limit is not counted and gets no fields. All addresses of a key together may make ten times its limit, so
   * that a leaked key has a ceiling. Throws rate_limited, whose text begins with `subject`: what may make or get so many
   * requests.
   */
  admit(request: Request, response: Response, key: KnownKey, subject?: string): Promise<void>;
  /**
   * Counts a request that has shown no valid key, where its refusal is a 401, by address, and says in the `RateLimit`
   * fields how many more may fail. Returns the error to throw: the given one, or rate_limited in its place.
   */
  refuse(request: Request, response: Response, error: ServiceError): Promise<ServiceError>;
  /** Counts a failed authentication of which the answer says nothing; other errors do not count. */
  noteFailure(request: Request, error: ServiceError): Promise<void>;
  /** True when no further authentication of the address may fail right now. */
  hasUsedUpFailures(request: Request): Promise<boolean>;
}

/** Returns the seconds until a window ends, rounded up, so that a client that waits for them is not too early. */
const secondsUntil = (resetMs: number) => Math.max(Math.ceil(resetMs / 1_000), 1);

/** Sets the fields of the IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers). */
function setFields(response: Response, policy: PolicyName, limit: CountLimit, state: CounterState): void {
  response.setHeader("RateLimit-Policy", `"${policy}";q=${limit.limit};w=${limit.windowSeconds}`);
  response.setHeader("RateLimit", `"${policy}";r=${state.remaining};t=${secondsUntil(state.resetMs)}`);
}

/** The error of a used up limit: what is limited, and when to come again. */
function rateLimited(what: string, { resetMs }: CounterState): ServiceError {
  const seconds = secondsUntil(resetMs);
  return new ServiceError("rate_limited", `${what} Retry in ${seconds} s.`, {
    headers: { "Retry-After": String(seconds) },
  });
}

/** Makes the limits of an HTTP surface. */
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

    async noteFailure(request, error) {
      if (isFailure(error)) await counters.count(nameOfFailures(request), FAILED_AUTHS);
    },

    async hasUsedUpFailures(request) {
      const { remaining } = await counters.peek(nameOfFailures(request), FAILED_AUTHS);
      return remaining === 0;
    },
  };
}
