import { z } from "zod";
import { customerItemSchema } from "./customer.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { gapSchema } from "./gap.ts";
import { channelIdSchema } from "./message-request.ts";
import { replyItemSchema } from "./reply-item.ts";
import { overlapSecondsSchema } from "./secret.ts";
import { ticketItemSchema, ticketPrioritySchema } from "./ticket.ts";
import { textUpTo, wellFormedString } from "./limits.ts";

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

const callbackRoute = routesAt("Deliveries", "/api/v1/admin/deliveries");

/** Callbacks and events: pending, delivered or failed. */
export const deliveryEndpoints = {
  listDeliveries: {
    ...callbackRoute("GET", "webhooks:read", "List callbacks and events with all attempts, newest first"),
    query: listQuery.omit({ q: true }).extend({
      state: deliveryStateSchema.optional(),
      webhookId: z.string().optional().describe("Only the events of this webhook."),
    }),
    answers: [listAnswer(deliveryItemSchema)],
    example: { query: { state: "dead" } },
  },
  getDelivery: {
    ...callbackRoute("GET /{id}", "webhooks:read", "Get a callback or an event"),
    answers: [itemAnswer(deliveryItemSchema)],
  },
  replayDelivery: {
    ...callbackRoute("POST /{id}/replay", "webhooks:write", "Replay a callback or an event with the same ID"),
    answers: [itemAnswer(deliveryItemSchema)],
  },
} as const satisfies Record<string, Endpoint>;

/** Limits of webhooks. Characters are Unicode code points. */
export const WEBHOOK_LIMITS = {
  /** Maximum number of webhooks per project. */
  maxCount: 50,
  descriptionMaxChars: 200,
  urlMaxChars: 2_048,
  /** Maximum number of values in a filter. */
  filterMaxCount: 50,
  /** Maximum characters of each text that an event quotes, and of replies that it lists. */
  textMaxChars: 4_000,
  repliesMaxCount: 10,
  /** Maximum bytes of an event. Beyond it, the parts with free fields are left out. */
  bodyMaxBytes: 131_072,
  /** Number of days that finished deliveries of events are stored. */
  keptDays: 30,
} as const;

const changeSchema = z.object({
  reason: z.string().optional().describe("`ticket.needs_review`: why the ticket waits."),
  assignee: z.string().optional().describe("`ticket.assigned`: the operator."),
  replies: z
    .array(
      z.object({
        id: z.uuid(),
        author: z.enum(["agent", "operator"]),
        text: z.string().nullable().describe("Null for a file."),
        markdown: z.boolean(),
        filename: z.string().nullable(),
        isTruncated: z.boolean(),
      }),
    )
    .optional()
    .describe(`\`ticket.replied\`: what was sent. At most ${WEBHOOK_LIMITS.repliesMaxCount}.`),
  until: z.iso
    .datetime()
    .nullable()
    .optional()
    .describe("`ticket.snoozed`: when the snooze ends. Null: when the customer writes."),
  score: z.int().optional().describe("`ticket.rated`: 1 to 5."),
  comment: z.string().optional().describe("`ticket.rated`: what the visitor has added."),
  target: z.string().optional().describe("`ticket.sla_breached`: `first_reply`, `next_reply` or `resolution`."),
  dueAt: z.string().optional().describe("`ticket.sla_breached`: when the ticket was due."),
  message: z
    .object({ id: z.uuid(), text: z.string(), isTruncated: z.boolean(), createdAt: z.iso.datetime() })
    .optional()
    .describe(
      "`ticket.created`, `ticket.needs_review` and `ticket.reopened`: the customer's message, if there is one.",
    ),
});
/** Changes of an event. */
export type EventChange = z.infer<typeof changeSchema>;

/** Body of an event: what happened, and the current state of its objects when the request is made. */
export const webhookEventSchema = z.object({
  id: z.uuid().describe("The same in all attempts and for all webhooks. Use it to ignore duplicates."),
  type: sentEventTypeSchema,
  createdAt: z.iso.datetime().describe("When it happened."),
  projectId: z.uuid(),
  project: z.string().describe("Name of the project."),
  actor: z.string().nullable().describe("Kind and ID of the actor, as in the ticket's events. Null if unknown."),
  change: changeSchema,
  ticket: ticketItemSchema.optional().describe("As `GET /api/v1/admin/tickets/{id}` returns it, without its contents."),
  gap: gapSchema.optional(),
  customer: customerItemSchema.optional(),
  isTruncated: z.boolean().describe("True if `channel_meta` or `attributes` is empty because the event was too long."),
});
export type WebhookEvent = z.infer<typeof webhookEventSchema>;

const filterOf = <Value extends z.ZodType>(value: Value, description: string) =>
  z
    .array(value)
    .max(WEBHOOK_LIMITS.filterMaxCount, { error: `must have at most ${WEBHOOK_LIMITS.filterMaxCount} values` })
    // Duplicates are removed.
    .transform((values) => [...new Set(values)])
    .optional()
    .describe(description);

const fields = {
  description: textUpTo(WEBHOOK_LIMITS.descriptionMaxChars).optional().describe("For operators. Defaults to none."),
  url: wellFormedString
    .max(WEBHOOK_LIMITS.urlMaxChars)
    .meta({ format: "uri" })
    .describe("URL of the receiver. The same addresses as for callbacks are allowed."),
  events: z
    .array(eventTypeSchema)
    .min(1, { error: "must have at least 1 event type" })
    .max(eventTypeSchema.options.length, { error: `must have at most ${eventTypeSchema.options.length} event types` })
    .transform((types) => [...new Set(types)])
    .describe("Types of the events to send."),
  channels: filterOf(channelIdSchema, "Only tickets of these channels. Empty for all, which is the default."),
  agentIds: filterOf(
    z.uuid({ error: "must be the ID of an agent" }),
    "Only tickets and gaps of these agents. Empty for all, which is the default.",
  ),
  priorities: filterOf(ticketPrioritySchema, "Only tickets of these priorities. Empty for all, which is the default."),
  isActive: z
    .boolean({ error: "must be true or false" })
    .optional()
    .describe("False: events are not sent, and those that happen meanwhile never are. Defaults to true."),
};

/** Body of `POST /api/v1/admin/webhooks`. Unknown fields are rejected. */
export const webhookInputSchema = z.strictObject(fields);

/** Body of `PATCH /api/v1/admin/webhooks/:id`. Lists are replaced as a whole. Unknown fields are rejected. */
export const webhookChangeSchema = z.strictObject({
  ...fields,
  url: fields.url.optional(),
  events: fields.events.optional(),
});
export type WebhookChange = z.input<typeof webhookChangeSchema>;

/** Body of `POST /api/v1/admin/webhooks/:id/rotate`. */
export const webhookRotateSchema = z.strictObject({
  overlapSeconds: overlapSecondsSchema.describe(
    "How long the previous secret also signs, from 0 to 2,592,000 seconds. Defaults to one day; 0 ends it immediately.",
  ),
});

/** A webhook as shown to administrators, without its secret. */
export const webhookItemSchema = z.object({
  id: z.uuid(),
  description: z.string(),
  url: z
    .string()
    .describe("Without the scope webhooks:write, the user name, password and query values are shown as `***`."),
  events: z.array(eventTypeSchema),
  channels: z.array(channelIdSchema),
  agentIds: z.array(z.uuid()),
  priorities: z.array(ticketPrioritySchema),
  isActive: z.boolean(),
  previousSecretUntil: z.iso
    .datetime()
    .nullable()
    .describe("Until when the previous secret also signs. Null if it does not."),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type WebhookItem = z.infer<typeof webhookItemSchema>;

/** A webhook with its new secret: the only responses that contain it. */
export const webhookSecretItem = webhookItemSchema.extend({
  secret: z.string().describe("Secret that signs the events, as defined by Standard Webhooks. Shown only once."),
});
export type WebhookSecretItem = z.infer<typeof webhookSecretItem>;

const route = routesAt("Webhooks", "/api/v1/admin/webhooks");

/** Events contain tickets, gaps and customers, so the caller must be allowed to read these. */
const alsoScope = "tickets:read";

/** Webhooks: URLs that receive the events of a project. */
export const webhookEndpoints = {
  listWebhooks: {
    ...route("GET", "webhooks:read", "List webhooks, newest first"),
    query: listQuery,
    answers: [listAnswer(webhookItemSchema)],
  },
  createWebhook: {
    ...route("POST", "webhooks:write", "Create a webhook"),
    description:
      "Its URL receives the selected events from now on. The secret that signs them is returned only in this response.",
    alsoScope,
    body: { schema: webhookInputSchema },
    answers: [createdAnswer(webhookSecretItem)],
    example: {
      body: { url: "https://example.com/events", events: ["ticket.created", "ticket.resolved"], description: "CRM" },
    },
  },
  getWebhook: {
    ...route("GET /{id}", "webhooks:read", "Get a webhook"),
    answers: [itemAnswer(webhookItemSchema)],
  },
  updateWebhook: {
    ...route("PATCH /{id}", "webhooks:write", "Update a webhook"),
    description: "Pending deliveries are sent to the new URL. To change the secret, rotate it.",
    alsoScope,
    body: { schema: webhookChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(webhookItemSchema)],
    example: { body: { priorities: ["high", "urgent"] } },
  },
  deleteWebhook: {
    ...route("DELETE /{id}", "webhooks:write", "Delete a webhook"),
    description: "Also deletes its deliveries. Pending ones are not sent.",
    ifMatch: true,
    answers: [itemAnswer(webhookItemSchema)],
  },
  rotateWebhookSecret: {
    ...route("POST /{id}/rotate", "webhooks:write", "Rotate a webhook's secret"),
    description:
      "The previous secret also signs until the overlap ends, so that you can update the receiver without downtime.",
    alsoScope,
    body: { schema: webhookRotateSchema, isOptional: true },
    answers: [itemAnswer(webhookSecretItem)],
    example: { body: { overlapSeconds: 3_600 } },
  },
  testWebhook: {
    ...route("POST /{id}/test", "webhooks:write", "Send a test event"),
    description: `Sends an event of the type \`${TEST_EVENT}\`, also if the webhook is not active. Get the delivery to see the result.`,
    answers: [itemAnswer(deliveryItemSchema)],
  },
} as const satisfies Record<string, Endpoint>;
