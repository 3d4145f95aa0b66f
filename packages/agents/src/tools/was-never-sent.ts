import { BlockedAddressError, OutboundConnectionError } from "@svc/outbound";

/** What Node says when no connection was made. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** True when a request that has thrown never left: nothing can have been done by it. */
export function wasNeverSent(error: unknown): boolean {
  if (error instanceof BlockedAddressError) return true;
  return error instanceof OutboundConnectionError && NEVER_CONNECTED.has(error.errorCode);
}
