import { z } from "zod";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint, EndpointAnswer } from "./endpoint.ts";
import {
  HOOK_LIMITS,
  hookBodySchema,
  hookChangeSchema,
  hookInputSchema,
  hookItemSchema,
  hookRotateSchema,
  hookSecretItem,
  hookTestResultSchema,
  hookTestSchema,
} from "./hook.ts";
import type { HookPreset, HookPresetDefaults } from "./hook.ts";
import { asyncAnswerSchema, webhookAnswerSchema } from "./reply-item.ts";

const route = routesAt("Hooks", "/api/v1/admin/hooks");

/**
 * Inbound hooks: URLs for platforms whose webhooks have a fixed format. All of these endpoints require messages:write.
 */
export const hookEndpoints = {
  listHooks: {
    ...route("GET", "messages:write", "List hooks, newest first"),
    query: listQuery,
    answers: [listAnswer(hookItemSchema)],
  },
  createHook: {
    ...route("POST", "messages:write", "Create a hook"),
    description:
      "A preset provides the authentication, mapping and filter for a platform; fields in the body override it. A secret that " +
      "the service generates is returned only in this response.",
    body: { schema: hookInputSchema },
    answers: [createdAnswer(hookSecretItem)],
    example: { body: { name: "GitHub issues", preset: "github" } },
  },
  getHook: {
    ...route("GET /{id}", "messages:write", "Get a hook"),
    answers: [itemAnswer(hookItemSchema)],
  },
  updateHook: {
    ...route("PATCH /{id}", "messages:write", "Update a hook"),
    description:
      "Mapping fields are merged into the current mapping; null removes a field. The filter is replaced as a whole. " +
      "To change the secret, rotate it.",
    body: { schema: hookChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(hookItemSchema)],
    example: { body: { mapping: { text: "New issue {{$.issue.title}}: {{$.issue.body}}" } } },
  },
  deleteHook: {
    ...route("DELETE /{id}", "messages:write", "Delete a hook"),
    description: "Also deletes the stored request bodies of the hook. Messages created by the hook are not deleted.",
    ifMatch: true,
    answers: [itemAnswer(hookItemSchema)],
  },
  rotateHookSecret: {
    ...route("POST /{id}/rotate", "messages:write", "Rotate a hook's secret"),
    description:
      "The previous secret also remains valid until the overlap ends, so that you can update the platform without downtime.",
    body: { schema: hookRotateSchema, isOptional: true },
    answers: [itemAnswer(hookSecretItem)],
    example: { body: { overlapSeconds: 3_600 } },
  },
  listHookBodies: {
    ...route("GET /{id}/bodies", "messages:write", "List the most recent request bodies of a hook"),
    description:
      `The last ${HOOK_LIMITS.keptBodies} bodies, newest first, for at most ${HOOK_LIMITS.keptDays} days, each with its ` +
      `outcome. Long bodies are truncated to ${HOOK_LIMITS.shownBodyMaxChars} characters. Bodies that fail authentication are not stored.`,
    answers: [listAnswer(hookBodySchema)],
  },
  retryHookBody: {
    ...route("POST /{id}/bodies/{bodyId}/retry", "messages:write", "Retry a stored body"),
    description:
      "Uses the current mapping and filter. A body that has already created a message does not create a second one.",
    answers: [itemAnswer(hookBodySchema, { when: "Retried. `outcome` and `errors` contain the result." })],
    errors: ["channel_disabled"],
  },
  testHook: {
    ...route("POST /{id}/test", "messages:write", "Test the mapping of a hook with a body"),
    description: "Nothing is sent or stored.",
    body: { schema: hookTestSchema, maxBytes: 2 * HOOK_LIMITS.bodyMaxBytes },
    answers: [itemAnswer(hookTestResultSchema)],
    example: { body: { body: { message: "Do you ship to Norway?", email: "ola@example.org" } } },
  },
} as const satisfies Record<string, Endpoint>;

/** Response to the platform. */
const callAnswer: EndpointAnswer = {
  status: 202,
  when: "A message was created, or the filter ignored the body: `status` is then `ignored`, and the other fields are absent.",
  schema: z.union([
    asyncAnswerSchema,
    webhookAnswerSchema,
    z.object({ ok: z.literal(true), status: z.literal("ignored") }),
  ]),
  headers: {
    Location: "URL to collect the replies from.",
    "Idempotent-Replayed": "`true` if an earlier request with this event ID created the message.",
  },
};

const callRoute = routesAt("Hooks", "/api/v1/hooks");
const call = {
  isPublic: true,
  description:
    "For platforms whose webhooks have a fixed format. Requires no API key: the request is authenticated by the secret in " +
    "the path or by a signature of the body in a header. The body is JSON or a form, at most 1 MB, without " +
    "Content-Encoding. A body that cannot be mapped returns invalid_request with pointers into the mapping.",
  body: {
    schema: z.unknown(),
    maxBytes: HOOK_LIMITS.bodyMaxBytes,
    otherTypes: {
      "application/x-www-form-urlencoded": "A form, treated as an object of its fields. Repeated names become lists.",
      "multipart/form-data": "As with forms. Files are ignored.",
    },
  },
  answers: [callAnswer],
  errors: ["invalid_signature", "channel_disabled", "rate_limited"],
} as const;

/** Calls of a hook by a platform: signed by it, or with the secret in the path. */
export const hookCallEndpoints = {
  callHook: {
    ...callRoute("POST /{id}", null, "Receive an event, authenticated by a signature header"),
    ...call,
  },
  callHookWithSecret: {
    ...callRoute("POST /{id}/{secret}", null, "Receive an event, authenticated by the secret in the path"),
    ...call,
    params: z.object({ secret: z.string().describe("The secret that the service generated for the hook.") }),
  },
} as const satisfies Record<string, Endpoint>;

const GITHUB_EVENT = "$headers['x-github-event']";

/**
 * Authentication and mapping for the webhooks of well-known platforms. Each part can be overridden. The formats are
 * those documented by the platforms.
 */
export const HOOK_PRESETS: Record<HookPreset, HookPresetDefaults> = {
  // Issues, and people's comments on them: one chat per issue.
  github: {
    auth: { type: "github" },
    mapping: {
      text: ["{{$.comment.body}}", "{{$.issue.title}}\n\n{{$.issue.body}}", "{{$.issue.title}}"],
      chatId: "github:{{$.repository.full_name}}#{{$.issue.number}}",
      userId: "{{$.sender.login}}",
      meta: {
        event: `{{${GITHUB_EVENT}}}`,
        action: "{{$.action}}",
        repository: "{{$.repository.full_name}}",
        issue: "{{$.issue.number}}",
        url: ["{{$.comment.html_url}}", "{{$.issue.html_url}}"],
        labels: "{{$.issue.labels[*].name}}",
      },
      eventId: "{{$headers['x-github-delivery']}}",
    },
    filter: [
      { path: GITHUB_EVENT, equals: ["issues", "issue_comment"] },
      { path: "$.action", equals: ["opened", "reopened", "created"] },
      // A bot that posts our answer to the issue must not trigger another answer.
      { path: "$.sender.type", not: "Bot" },
    ],
  },
  // Payment events, by the object of the event: one chat per customer.
  stripe: {
    auth: { type: "stripe" },
    mapping: {
      text: [
        "{{$.type}}: {{$.data.object.amount_total}} {{$.data.object.currency}}, {{$.data.object.payment_status}} ({{$.data.object.id}})",
        "{{$.type}}: {{$.data.object.amount}} {{$.data.object.currency}}, reason {{$.data.object.reason}} ({{$.data.object.id}})",
        "{{$.type}}: {{$.data.object.description}} ({{$.data.object.id}})",
        "{{$.type}}: {{$.data.object.id}}",
      ],
      chatId: ["stripe:{{$.data.object.customer}}", "stripe:{{$.data.object.charge}}", "stripe:{{$.data.object.id}}"],
      userId: ["{{$.data.object.customer}}", "{{$.data.object.customer_details.email}}"],
      meta: {
        event: "{{$.type}}",
        object: "{{$.data.object.id}}",
        livemode: "{{$.livemode}}",
        amount: ["{{$.data.object.amount_total}}", "{{$.data.object.amount}}"],
        currency: "{{$.data.object.currency}}",
        email: "{{$.data.object.customer_details.email}}",
      },
      eventId: "{{$.id}}",
    },
    filter: [],
  },
  // The answers of a form, one per line: each response is a chat.
  typeform: {
    auth: { type: "typeform" },
    mapping: {
      text: "{{$.form_response.answers[*]..['text','label','labels','email','phone_number','number','boolean','date','url','file_url']}}",
      chatId: "typeform:{{$.form_response.token}}",
      userId: ["{{$.form_response.hidden.user_id}}", "{{$.form_response.answers[*].email}}"],
      meta: {
        form: "{{$.form_response.form_id}}",
        title: "{{$.form_response.definition.title}}",
        submittedAt: "{{$.form_response.submitted_at}}",
        hidden: "{{$.form_response.hidden}}",
      },
      eventId: "{{$.event_id}}",
    },
    filter: [{ path: "$.event_type", equals: "form_response" }],
  },
  // An order with the customer's note: one chat per customer.
  shopify: {
    auth: { type: "shopify" },
    mapping: {
      text: [
        "Order {{$.name}}: {{$.note}}\n{{$.line_items[*].name}}",
        "Order {{$.name}}\n{{$.line_items[*].name}}",
        "{{$headers['x-shopify-topic']}}: {{$.id}}",
      ],
      chatId: ["shopify:{{$.customer.id}}", "shopify:{{$.id}}"],
      userId: ["{{$.customer.email}}", "{{$.email}}", "{{$.customer.id}}"],
      meta: {
        topic: "{{$headers['x-shopify-topic']}}",
        shop: "{{$headers['x-shopify-shop-domain']}}",
        order: "{{$.id}}",
        total: "{{$.total_price}}",
        currency: "{{$.currency}}",
      },
      eventId: ["{{$headers['x-shopify-event-id']}}", "{{$headers['x-shopify-webhook-id']}}"],
    },
    filter: [],
  },
  // A custom contact form: each submission is a chat.
  form: {
    auth: { type: "path" },
    mapping: {
      text: [
        "{{$.message}}",
        "{{$.text}}",
        "{{$.question}}",
        "{{$.comment}}",
        "{{$.comments}}",
        "{{$.body}}",
        "{{$.description}}",
      ],
      userId: ["{{$.email}}", "{{$.name}}"],
      meta: {
        name: "{{$.name}}",
        email: "{{$.email}}",
        phone: "{{$.phone}}",
        subject: "{{$.subject}}",
        page: ["{{$.page}}", "{{$.url}}"],
      },
    },
    filter: [],
  },
};
