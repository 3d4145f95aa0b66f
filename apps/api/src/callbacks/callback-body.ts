import type { CallbackBody, CallbackType } from "@svc/contracts";
import type { DeliveryRequest } from "@svc/store";
import { replyJson } from "../messages/message-responses.ts";

/** The body of a callback: made from what is stored, so that all tries send the same bytes. */
export function callbackBody(delivery: DeliveryRequest): string {
  const body: CallbackBody = {
    ok: true,
    mode: "webhook",
    // That of an event is made by `readWebhookEvent`.
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
