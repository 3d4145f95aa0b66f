export {
  METRICS_TYPE,
  OTHER,
  addToGauge,
  beforeScrape,
  clearGauge,
  count,
  fewValues,
  metricsText,
  observe,
  setGauge,
} from "./metrics.ts";
export { METRICS } from "./metric-list.ts";
export type { MetricDeclaration, MetricName } from "./metric-list.ts";
export { openTracing } from "./open-tracing.ts";
export type { TracingConfig } from "./open-tracing.ts";
export { inSpan, isTracing, parseTraceparent, startSpan, traceIdOf } from "./spans.ts";
export type { Span, SpanAttributes, SpanOptions } from "./spans.ts";
