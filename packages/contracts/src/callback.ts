import { z } from "zod";
import { itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { replyItemSchema } from "./reply-item.ts";

/** Types of events, and when they happen. */
export const EVENT_TYPES = {
  "ticket.created": "A conversation begins: its first message is processed, or an issue is submitted.",
  "ticket.needs_review": "A ticket begins to wait for an operator.",
  "ticket.assigned": "A ticket is assigned, by a person or because an operator has replied.",
  "ticket.replied": "An agent or an operator has replied to the customer.",
  "ticket.resolved": "A ticket is resolved.",
  "ticket.reopened": "A closed ticket is open again: an operator has reopened it, or the customer has written.",
  "ticket.rated": "The visitor has rated the conversation.",
  "ticket.sla_breached": "A ticket is late by an SLA target.",
  "ticket.snoozed": "A ticket is snoozed.",
  "gap.found": "A question has no good answer in the knowledge bases, or no longer has one.",
  "customer.updated": "Something of a customer has changed: by an operator, or because a channel has new facts.",
} as const;
export type EventType = keyof typeof EVENT_TYPES;
export const eventTypeSchema = z.enum(Object.keys(EVENT_TYPES) as [EventType, ...EventType[]], {
  error: `must be one of ${Object.keys(EVENT_TYPES).join(", ")}`,
});

/** Type of the event that tests a webhook. No webhook can select it. */
export const TEST_EVENT = "webhook.test";
/** Type of an event that is sent. */
export const sentEventTypeSchema = z.enum([...eventTypeSchema.options, TEST_EVENT]);
export type SentEventType = z.infer<typeof sentEventTypeSchema>;

/** Types of callbacks, and when they are sent (service document, section 6). */
export const CALLBACK_TYPES = {
  "message.completed":
    "The message is answered; `replies` contains the answer. Later replies to it are delivered the same way.",
  "message.in_review":
    "The message needs an operator; `replies` may contain a handoff text. The answer follows as `message.completed`.",
  "message.timeout": "`timeoutMs` has passed without an answer. The answer still follows as `message.completed`.",
  "message.rejected": "An operator decided not to answer.",
  "message.failed": "Processing failed five times. Operators see the message and can retry it.",
} as const;
export type CallbackType = keyof typeof CALLBACK_TYPES;
export const callbackTypeSchema = z.enum(Object.keys(CALLBACK_TYPES) as [CallbackType, ...CallbackType[]]);

/** Body of a callback: the fields of a sync response, plus delivery information. */
export const callbackBodySchema = z.object({
  ok: z.literal(true),
  mode: z.literal("webhook"),
  type: callbackTypeSchema,
  deliveryId: z.uuid().describe("The same in all attempts. Use it to ignore duplicates."),
  timestamp: z.iso.datetime().describe("Time of the event. The same in all attempts."),
  chatId: z.string(),
  ticketId: z.uuid(),
  messageId: z.uuid(),
  replies: z.array(replyItemSchema),
  coveredBy: z
    .uuid()
    .optional()
    .describe("ID of a later message in the chat whose reply, from an operator, also answers this message."),
  meta: z.record(z.string(), z.unknown()).describe("The `meta` of the message, with its `userId`."),
});
export type CallbackBody = z.infer<typeof callbackBodySchema>;

/** State of a delivery: pending, delivered, or failed. */
export const deliveryStateSchema = z.enum(["pending", "delivered", "dead"]);
export type DeliveryState = z.infer<typeof deliveryStateSchema>;

/** One attempt: the HTTP status of the receiver, or the reason why there was none. */
export const deliveryAttemptSchema = z.object({
  at: z.string(),
  status: z.int().nullable(),
  ms: z
    .int()
    .nullable()
    .describe("Duration in milliseconds. Null while the attempt is running, or if its process crashed."),
  error: z.string().nullable(),
});
export type DeliveryAttempt = z.infer<typeof deliveryAttemptSchema>;

/** A delivery as shown to operators. */
export const deliveryItemSchema = z.object({
  id: z.uuid(),
  type: z.enum([...callbackTypeSchema.options, ...sentEventTypeSchema.options]),
  ticketId: z.uuid().nullable().describe("Null for an event that is not about a ticket."),
  chatId: z.string().describe("Empty for an event that is not about a ticket, and after the chat was erased."),
  messageId: z.uuid().nullable().describe("Null for an event."),
  webhookId: z.uuid().nullable().describe("Webhook that receives the event. Null for a callback."),
  eventId: z.uuid().nullable().describe("The `id` in the event. Null for a callback."),
  url: z
    .string()
    .describe("Without the scope webhooks:write, the user name, password and query values are shown as `***`."),
  state: deliveryStateSchema,
  attempts: z.array(deliveryAttemptSchema),
  nextAt: z.iso.datetime().nullable().describe("Time of the next attempt. Null if there will be none."),
  createdAt: z.iso.datetime(),
});
export type DeliveryItem = z.infer<typeof deliveryItemSchema>;

const route = routesAt("Deliveries", "/api/v1/admin/deliveries");

/** Callbacks and events: pending, delivered or failed. */
export const deliveryEndpoints = {
  listDeliveries: {
    ...route("GET", "webhooks:read", "List callbacks and events with all attempts, newest first"),
    query: listQuery.omit({ q: true }).extend({
      state: deliveryStateSchema.optional(),
      webhookId: z.string().optional().describe("Only the events of this webhook."),
    }),
    answers: [listAnswer(deliveryItemSchema)],
    example: { query: { state: "dead" } },
  },
  getDelivery: {
    ...route("GET /{id}", "webhooks:read", "Get a callback or an event"),
    answers: [itemAnswer(deliveryItemSchema)],
  },
  replayDelivery: {
    ...route("POST /{id}/replay", "webhooks:write", "Replay a callback or an event with the same ID"),
    answers: [itemAnswer(deliveryItemSchema)],
  },
} as const satisfies Record<string, Endpoint>;
