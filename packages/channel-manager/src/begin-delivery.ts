import type { ProjectId, Store, StoredReply } from "@svc/store";
import { count, isTracing, startSpan } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";

/** Replies that are being handed to somebody who asked for them. */
export interface Delivery {
  /** Says whether they have arrived. */
  end(hasArrived: boolean): void;
}

/**
 * Counts replies that are handed over by a way on which they are asked for, and makes that a part of the trace of each
 * message that they answer. `link` is the trace of whoever asks. Nothing waits for it.
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
  // A store that is away takes the trace of this delivery with it, and nothing else.
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
