import type { CallbackBody, CallbackType } from "@svc/contracts";
import type { DeliveryRequest } from "@svc/store";
import { replyJson } from "../messages/message-responses.ts";

/** Returns the body of a callback. It only depends on stored data, so that all attempts send the same bytes. */
export function callbackBody(delivery: DeliveryRequest): string {
  const body: CallbackBody = {
    ok: true,
    mode: "webhook",
    // `readWebhookEvent` makes the bodies of events.
    type: delivery.type as CallbackType,
    deliveryId: delivery.id,
    timestamp: delivery.createdAt.toISOString(),
    chatId: delivery.chatId,
    ticketId: delivery.ticketId,
    messageId: delivery.messageId,
    replies: delivery.replies.map(replyJson),
    ...(delivery.coveredBy === null ? {} : { coveredBy: delivery.coveredBy }),
    meta: delivery.meta,
  };
  return JSON.stringify(body);
}
