export { OTHER, fewValues } from "./few-values.ts";
export { METRICS } from "./metric-list.ts";
export type { MetricDeclaration, MetricName } from "./metric-list.ts";
export { METRICS_TYPE, addToGauge, beforeShown, clearGauge, count, metricsText, observe, setGauge } from "./metrics.ts";
export { openTracing } from "./open-tracing.ts";
export type { TracingConfig } from "./open-tracing.ts";
export { inSpan, isTracing, startSpan } from "./spans.ts";
export type { Span, SpanAttributes, SpanOptions } from "./spans.ts";
export { traceIdOf, parseTraceparent } from "./trace-parent.ts";
