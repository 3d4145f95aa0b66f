import { z } from "zod";
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
import { asyncAnswerSchema, webhookAnswerSchema } from "./reply-item.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint, EndpointAnswer } from "./endpoint.ts";

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
