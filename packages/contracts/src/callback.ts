import { z } from "zod";
import type { ReplyItem } from "./reply-item.ts";

/** What a callback tells, and when (service document, section 6, completed). */
export const CALLBACK_TYPES = {
  "message.completed": "The message is answered; `replies` holds the answer. Later replies to it come the same way.",
  "message.in_review": "A person has to look; `replies` may hold a hand-off text. The answer follows as completed.",
  "message.timeout": "There is no answer yet at the end of `timeoutMs`. It still follows as completed.",
  "message.rejected": "An operator has decided that there will be no answer.",
  "message.failed": "The service failed at this message five times. Operators see it and can send it again.",
} as const;
export type CallbackType = keyof typeof CALLBACK_TYPES;
export const callbackTypeSchema = z.enum(Object.keys(CALLBACK_TYPES) as [CallbackType, ...CallbackType[]]);

/** Body of a callback: that of a sync answer, with what a receiver needs besides. */
export interface CallbackBody {
  ok: true;
  mode: "webhook";
  type: CallbackType;
  deliveryId: string;
  /** When it happened (RFC 3339), the same in all tries. */
  timestamp: string;
  chatId: string;
  ticketId: string;
  messageId: string;
  replies: ReplyItem[];
  /** The message's own `meta`, with its `userId`. */
  meta: Record<string, unknown>;
}

/** Where a delivery is: still tried, received, or given up. */
export const deliveryStateSchema = z.enum(["pending", "delivered", "dead"]);
export type DeliveryState = z.infer<typeof deliveryStateSchema>;

/** One try: the receiver's HTTP status, or why there was none. */
export interface DeliveryAttempt {
  at: string;
  status: number | null;
  /** How long it took; null while it goes on, or when its process died. */
  ms: number | null;
  error: string | null;
}

/** A delivery as operators see it. */
export interface DeliveryItem {
  id: string;
  type: CallbackType;
  ticketId: string;
  chatId: string;
  messageId: string;
  url: string;
  state: DeliveryState;
  attempts: DeliveryAttempt[];
  /** When it is tried next; null when it is not. */
  nextAt: string | null;
  createdAt: string;
}
