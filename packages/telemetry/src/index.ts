export * from "./metrics.ts";
export { inSpan, isTracing, openTracing, parseTraceparent, startSpan, traceIdOf } from "./spans.ts";
export type { Span, SpanOptions, TracingConfig } from "./spans.ts";
