import type { ProjectId, Store, StoredReply } from "@svc/store";
import { count, isTracing, startSpan } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";

/** A delivery of replies that a caller has requested. */
export interface Delivery {
  /** Reports whether they have arrived. */
  end(hasArrived: boolean): void;
}

/**
 * Counts replies that are delivered on request, and adds a span to the trace of each message that they answer. `link`
 * is the trace of the request. Nothing waits for it.
 */
export function beginDelivery(
  store: Pick<Store, "messages">,
  project: ProjectId,
  replies: readonly Pick<StoredReply, "inReplyTo">[],
  { way, link = null }: { way: "drain" | "stream" | "socket"; link?: string | null },
): Delivery {
  const answered = [...new Set(replies.flatMap(({ inReplyTo }) => inReplyTo ?? []))];
  const finding = isTracing() && answered.length > 0 ? store.messages.findTraces(project, answered) : null;
  const spans = finding?.then((traces) =>
    [...traces].map(([messageId, parent]) =>
      startSpan("deliver reply", { parent, link, attributes: { "svc.way": way, "svc.message_id": messageId } }),
    ),
  );
  // If the store is unavailable, only the trace of this delivery is lost.
  spans?.catch(() => undefined);
  return {
    end(hasArrived) {
      if (replies.length > 0) {
        count("svc_deliveries_total", { way, outcome: hasArrived ? "delivered" : "later" }, replies.length);
      }
      const finish = (begun: Span[]) => {
        for (const span of begun) {
          if (!hasArrived) span.fail(null);
          span.end();
        }
      };
      spans?.then(finish).catch(() => undefined);
    },
  };
}
