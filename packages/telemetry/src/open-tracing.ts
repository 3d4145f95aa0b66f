import { setTracer } from "./spans.ts";

/** Export of spans, in the terms of OpenTelemetry's variables. */
export interface TracingConfig {
  /** URL of the collector, without the path for traces. */
  endpoint: string;
  protocol: "http/protobuf" | "http/json";
  /** Sent with every request, for example the key of a hosted collector. */
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  serviceVersion: string;
  /**
   * Share of the traces started here that is exported, from 0 to 1. For other traces, the caller's decision applies.
   */
  sampleRatio: number;
}

/** Maximum of spans waiting to be sent; further ones are dropped. */
const QUEUE_MAX = 16_384;
const BATCH_MAX = 2_048;
const SEND_EVERY_MS = 1_000;
const SEND_LIMIT_MS = 5_000;
/** Timeout of sending the last spans during shutdown. */
const CLOSE_LIMIT_MS = 1_500;
/** Minimum interval between warnings about a failing collector. */
const REPORT_EVERY_MS = 60_000;

const EXPORTERS = {
  "http/protobuf": async () => (await import("@opentelemetry/exporter-trace-otlp-proto")).OTLPTraceExporter,
  "http/json": async () => (await import("@opentelemetry/exporter-trace-otlp-http")).OTLPTraceExporter,
} as const;

/**
 * Exports the spans of this process to a collector by OTLP over HTTP, until the returned function is called; `onError`
 * is called at most once a minute if the collector rejects them. Spans that the collector does not accept are dropped.
 * The libraries are loaded here, so that a process without tracing does not load them.
 */
export async function openTracing(
  config: TracingConfig,
  onError: (text: string) => void,
): Promise<{ close(): Promise<void> }> {
  const [{ DiagLogLevel, diag }, sdk, { resourceFromAttributes }, OTLPTraceExporter] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
    EXPORTERS[config.protocol](),
  ]);
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = (text: string) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    onError(text);
  };
  const ignore = () => undefined;
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({
    url: `${config.endpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: { ...config.headers },
    timeoutMillis: SEND_LIMIT_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": config.serviceName, "service.version": config.serviceVersion }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(config.sampleRatio) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_LIMIT_MS,
      }),
    ],
  });
  setTracer(provider.getTracer("svc", config.serviceVersion));
  return {
    async close() {
      setTracer(null);
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_LIMIT_MS);
      });
      const ended = provider.shutdown().catch((error: unknown) => {
        report(error instanceof Error ? error.message : "failed to export the last spans");
      });
      await Promise.race([ended, limit]);
      clearTimeout(timer);
      diag.disable();
    },
  };
}
