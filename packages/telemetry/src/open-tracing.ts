import { setTracer } from "./spans.ts";

/** Where spans go, in the words of OpenTelemetry's own variables. */
export interface TracingConfig {
  /** Of the collector, without the path of its traces. */
  endpoint: string;
  protocol: "http/protobuf" | "http/json";
  /** Sent with every call, as a key of a hosted collector. */
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  serviceVersion: string;
  /** Of traces that begin here: the share that is kept, from 0 to 1. What a caller began goes by what the caller says. */
  sampleRatio: number;
}

/** Spans that wait to be sent at most; what comes when there are as many is dropped. */
const QUEUE_MAX = 16_384;
const BATCH_MAX = 2_048;
const SEND_EVERY_MS = 1_000;
const SEND_LIMIT_MS = 5_000;
/** A stop waits so long for the last spans. */
const CLOSE_LIMIT_MS = 1_500;
/** Minimum interval between warnings about a failing collector. */
const REPORT_EVERY_MS = 60_000;

const EXPORTERS = {
  "http/protobuf": async () => (await import("@opentelemetry/exporter-trace-otlp-proto")).OTLPTraceExporter,
  "http/json": async () => (await import("@opentelemetry/exporter-trace-otlp-http")).OTLPTraceExporter,
} as const;

/**
 * Sends the spans of this process to a collector by OTLP over HTTP, until the answer is called; `onError` hears at most
 * once a minute that it does not take them. Nothing waits for a collector: spans that it does not take are dropped. The
 * libraries are loaded here, so that a process that traces nothing does not pay for them.
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
