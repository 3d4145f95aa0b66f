import type { IncomingMessage } from "node:http";
import { ServiceError } from "@svc/contracts";
import { checkKey, checkOrigin } from "../check-caller.ts";
import { countFailure, countUse, overUse } from "../count-use.ts";
import type { WidgetContext } from "../widget-context.ts";
import type { Admission } from "./session.ts";

/** The query string of a request's address. */
export function queryOf(request: IncomingMessage): URLSearchParams {
  return new URLSearchParams((request.url ?? "").split("?").slice(1).join("?"));
}

/**
 * Checks key, site and rate of a socket that is to be opened, before anything else is done for it. Throws missing_key,
 * invalid_key, origin_not_allowed, rate_limited, unavailable.
 */
export async function admitSocket(
  { queues, readSite }: Pick<WidgetContext, "queues" | "readSite">,
  request: IncomingMessage,
  address: string,
): Promise<Admission> {
  const { settings } = await readSite();
  const { origin } = request.headers;
  const key = queryOf(request).get("apiKey") ?? undefined;
  checkOrigin(settings, origin);
  try {
    checkKey(settings, key);
  } catch (error) {
    throw error instanceof ServiceError ? await countFailure(queues.counters, address, error) : error;
  }
  const admission = { address, key: key ?? "", origin };
  const counted = await countUse(queues.counters, "sockets", { address, key: admission.key, settings });
  if (counted.isOver) throw overUse("sockets", counted);
  return admission;
}
