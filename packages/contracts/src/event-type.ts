import { z } from "zod";

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
