import type { Span } from "@svc/telemetry";
import type { Response } from "express";

const SPAN = Symbol("span");

interface WithSpan {
  [SPAN]?: Span;
}

/** Sets the span of a request, for `traceOf`. */
export function setSpan(response: Response, span: Span): void {
  (response as Response & WithSpan)[SPAN] = span;
}

/**
 * Returns the `traceparent` for work on behalf of a request: its own span if tracing is on, else that of its client;
 * null if there is neither.
 */
export function traceOf(response: Response): string | null {
  return (response as Response & WithSpan)[SPAN]?.traceparent ?? null;
}
