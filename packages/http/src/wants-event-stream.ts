import type { Request } from "express";

const EVENT_STREAM = "text/event-stream";

/**
 * Whether a caller asks for events rather than for JSON (RFC 9110, section 12.5.1): it has to name `text/event-stream`,
 * and not to like JSON as well or better.
 */
export function wantsEventStream(request: Request): boolean {
  const accepted = request.headers.accept ?? "";
  return (
    accepted.toLowerCase().includes(EVENT_STREAM) &&
    request.accepts(["application/json", EVENT_STREAM]) === EVENT_STREAM
  );
}
