import { waitFor } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";

/** A span as a collector receives it by OTLP in JSON. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Absent or empty for the root span. */
  parentSpanId?: string;
  name: string;
  /** The process that has sent it. */
  service: string;
  attributes: Record<string, unknown>;
  links: { traceId: string }[];
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface OtlpBody {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Omit<ReceivedSpan, "service" | "attributes" | "links"> & {
        attributes?: Attribute[];
        links?: { traceId: string }[];
      })[];
    }[];
  }[];
}

const asRecord = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Returns every span received so far by a receiver that acts as a collector. */
export function spansOf(receiver: WebhookReceiver): ReceivedSpan[] {
  return receiver.requests.flatMap(({ json }) =>
    (json as OtlpBody).resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          ...span,
          service: String(asRecord(resource.attributes)["service.name"]),
          attributes: asRecord(span.attributes),
          links: span.links ?? [],
        })),
      ),
    ),
  );
}

/** Waits until a trace has a span with each of these names, and returns its spans. */
export async function waitForTrace(
  receiver: WebhookReceiver,
  traceId: string,
  names: readonly string[],
): Promise<ReceivedSpan[]> {
  const ofTrace = () => spansOf(receiver).filter((span) => span.traceId === traceId);
  await waitFor(() => names.every((name) => ofTrace().some((span) => span.name === name)), {
    what: `the spans ${names.join(", ")}`,
  });
  return ofTrace();
}
