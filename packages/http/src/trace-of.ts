import type { Span } from "@svc/telemetry";
import type { Response } from "express";

const SPAN = Symbol("span");

interface WithSpan {
  [SPAN]?: Span;
}

/** Notes the span of a request, for `traceOf`. */
export function setSpan(response: Response, span: Span): void {
  (response as Response & WithSpan)[SPAN] = span;
}

/**
 * The place of a request in its trace, for what is done on its behalf: its own span where spans are taken, else what its
 * caller has sent; null where there is neither.
 */
export function traceOf(response: Response): string | null {
  return (response as Response & WithSpan)[SPAN]?.traceparent ?? null;
}
