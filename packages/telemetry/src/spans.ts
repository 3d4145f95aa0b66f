import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import type { Context, Tracer } from "@opentelemetry/api";

/** A position in a trace. */
interface TraceParent {
  /** 32 digits. */
  traceId: string;
  /** 16 digits: the parent of the next span. */
  spanId: string;
  /** True if spans of this trace are exported. */
  isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_VERSION = "ff";
/** Bit of the flags: the spans of this trace are exported. */
const SAMPLED: number = TraceFlags.SAMPLED;

/**
 * Parses the header `traceparent` (W3C Trace Context, section 3.2); null if it is invalid, which counts as missing. Of
 * later versions, the known part is parsed.
 */
export function parseTraceparent(text: string | undefined): TraceParent | null {
  const [, version, traceId, spanId, flags, rest] = FORM.exec(text ?? "") ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === NO_VERSION || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Formats the header `traceparent`. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** Returns the trace ID of a valid `traceparent`, for log lines; undefined if there is none. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return parseTraceparent(traceparent ?? undefined)?.traceId;
}

/** Attributes of a span: ids, names, counts. Never texts of people, and no secrets. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export interface SpanOptions {
  /** The `traceparent` of the parent; without one, a trace begins. */
  parent: string | null | undefined;
  kind?: keyof typeof KINDS;
  attributes?: SpanAttributes;
  /** The `traceparent` of a related trace. */
  link?: string | null;
}

/** A unit of work in a trace; has no effect if tracing is off. */
export interface Span {
  /** The `traceparent` for child spans; if tracing is off, that of the parent, or null. */
  readonly traceparent: string | null;
  rename(name: string): void;
  annotate(attributes: SpanAttributes): void;
  /** Records a failure by the class of the error only, since its message may contain personal data. */
  fail(error: unknown): void;
  end(): void;
}

/** Tracer of this process; null while tracing is off. */
let tracer: Tracer | null = null;

/** Sets the tracer of this process; null turns tracing off. */
function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** Returns true if tracing is on: data that only spans need is not looked up otherwise. */
export const isTracing = (): boolean => tracer !== null;

function contextOf(traceparent: string | null | undefined): Context {
  const position = parseTraceparent(traceparent ?? undefined);
  if (position === null) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = position;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

const ignore = () => undefined;

/** A span that is not exported. */
function untraced(parent: string | null | undefined): Span {
  return { traceparent: parent ?? null, rename: ignore, annotate: ignore, fail: ignore, end: ignore };
}

/** Starts a span; `end` must be called. */
export function startSpan(name: string, { parent, kind = "internal", attributes, link }: SpanOptions): Span {
  if (tracer === null) return untraced(parent);
  const linked = link == null ? undefined : trace.getSpanContext(contextOf(link));
  const span = tracer.startSpan(
    name,
    {
      kind: KINDS[kind],
      ...(attributes === undefined ? {} : { attributes }),
      ...(linked === undefined ? {} : { links: [{ context: linked }] }),
    },
    contextOf(parent),
  );
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & SAMPLED) !== 0;
  return {
    traceparent: formatTraceparent({ traceId, spanId, isSampled }),
    rename: (next) => span.updateName(next),
    annotate: (more) => span.setAttributes(more),
    fail(error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
    },
    end: () => span.end(),
  };
}

/** Runs work in a span of its own, which fails if the work does. */
export async function inSpan<Result>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const span = startSpan(name, options);
  try {
    return await work(span);
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

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
