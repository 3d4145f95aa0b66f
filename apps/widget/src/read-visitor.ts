import { ServiceError, visitorIdSchema } from "@svc/contracts";
import type { Queues } from "@svc/queue";
import { clientAddress } from "@svc/http";
import type { Request, Response } from "express";
import { checkKey } from "./check-caller.ts";
import { countFailure, countUse, overUse, rateLimitFields } from "./count-use.ts";
import type { Use } from "./count-use.ts";
import { findVisitor } from "./find-visitor.ts";
import type { Visitor } from "./find-visitor.ts";
import type { WidgetSite } from "./widget-site.ts";

/** One value of a header; sent twice it is a fault, since two readers could take different ones. */
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

/** Headers hold ASCII only, so that an id is written as `encodeURIComponent` does. */
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

/** Counts a call by address and key, and says in the `RateLimit` fields what is left. Throws rate_limited. */
export async function countCall(
  queues: Queues,
  use: Use,
  { request, response, key, site }: { request: Request; response: Response; key: string; site: WidgetSite },
): Promise<void> {
  const caller = { address: clientAddress(request), key, settings: site.settings };
  const counted = await countUse(queues.counters, use, caller);
  response.set(rateLimitFields(use, counted));
  if (counted.isOver) throw overUse(use, counted);
}

/** The key of a call, which may stand in its body too. Throws missing_key, invalid_key, rate_limited, invalid_request. */
export async function readKey(queues: Queues, request: Request, site: WidgetSite, inBody?: unknown): Promise<string> {
  const key = single(request, "X-Api-Key") ?? (typeof inBody === "string" ? inBody : undefined);
  try {
    checkKey(site.settings, key);
    return key;
  } catch (error) {
    throw error instanceof ServiceError ? await countFailure(queues.counters, clientAddress(request), error) : error;
  }
}

/** Who calls, by its headers. Throws invalid_request for an id that could be guessed, and invalid_identity. */
export function readVisitor(request: Request, site: WidgetSite): Visitor {
  const visitorId = single(request, "X-Visitor-Id");
  if (visitorId === undefined) throw invalidHeader("X-Visitor-Id", "is required");
  // Anything weaker could be guessed, and who knows it reads the conversation.
  if (!visitorIdSchema.safeParse(visitorId).success)
    throw invalidHeader("X-Visitor-Id", "must be a random UUID (version 4)");
  return findVisitor(site, visitorId, { userId: userIdOf(request), userHash: single(request, "X-User-Hash") });
}
