export * from "./metrics.ts";
export * from "./open-tracing.ts";
export { inSpan, isTracing, parseTraceparent, startSpan, traceIdOf } from "./spans.ts";
export type { Span, SpanAttributes, SpanOptions } from "./spans.ts";
