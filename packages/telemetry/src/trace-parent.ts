/** A place in a trace. */
export interface TracePlace {
  /** 32 digits. */
  traceId: string;
  /** 16 digits: the span that comes next is its child. */
  spanId: string;
  /** True where spans of this trace are kept. */
  isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_VERSION = "ff";
const SAMPLED = 1;

/**
 * Reads the header `traceparent` (W3C Trace Context, section 3.2); null for what is none: it is then as if it was not
 * there. A later version is read as far as this one goes.
 */
export function parseTraceparent(text: string | undefined): TracePlace | null {
  const [, version, traceId, spanId, flags, rest] = FORM.exec(text ?? "") ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === NO_VERSION || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** A place as the header `traceparent` says it. */
export function formatTraceparent({ traceId, spanId, isSampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** The trace of a `traceparent` that was made or read here; undefined where there is none: for fields of log lines. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return parseTraceparent(traceparent ?? undefined)?.traceId;
}
