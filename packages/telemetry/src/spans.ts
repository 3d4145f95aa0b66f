import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import type { Context, Tracer } from "@opentelemetry/api";

/** A place in a trace. */
interface TraceParent {
  /** 32 digits. */
  traceId: string;
  /** 16 digits: the span that comes next is its child. */
  spanId: string;
  /** True where spans of this trace are kept. */
  isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_VERSION = "ff";
/** Bit of the flags: the spans of this trace are exported. */
const SAMPLED: number = TraceFlags.SAMPLED;

/**
 * Reads the header `traceparent` (W3C Trace Context, section 3.2); null for what is none: it is then as if it was not
 * there. A later version is read as far as this one goes.
 */
export function parseTraceparent(text: string | undefined): TraceParent | null {
  const [, version, traceId, spanId, flags, rest] = FORM.exec(text ?? "") ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === NO_VERSION || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** A place as the header `traceparent` says it. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** The trace of a `traceparent` that was made or read here; undefined where there is none: for fields of log lines. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return parseTraceparent(traceparent ?? undefined)?.traceId;
}

/** What a span says of itself: ids, names, counts. Never what a person has written, and no secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export interface SpanOptions {
  /** The `traceparent` of what this is a part of; where there is none, a trace begins. */
  parent: string | null | undefined;
  kind?: keyof typeof KINDS;
  attributes?: SpanAttributes;
  /** The `traceparent` of something else that this has to do with. */
  link?: string | null;
}

/** A piece of work in a trace. Where nothing is traced, it does nothing. */
export interface Span {
  /** What is handed on to those who go on with the work; where nothing is traced, what came in, if anything did. */
  readonly traceparent: string | null;
  rename(name: string): void;
  annotate(attributes: SpanAttributes): void;
  /** Records a failure by the class of the error only, since its message may contain personal data. */
  fail(error: unknown): void;
  end(): void;
}

/** Of this process; null as long as nothing is traced. */
let tracer: Tracer | null = null;

/** Says who takes the spans of this process; null ends that. */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** True where spans are taken: what is only looked up for them need not be looked up else. */
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

/** Begins a span; `end` has to be called. */
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

/** Does work in a span of its own, which fails when the work does. */
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
