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
import { asyncAnswerSchema, webhookAnswerSchema } from "./message-answers.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuery } from "./endpoint.ts";
import type { Endpoint, EndpointAnswer } from "./endpoint.ts";

const tag = "Hooks";
const PATH = "/api/v1/admin/hooks";

/**
 * Inbound hooks: URLs for platforms whose webhooks have a fixed format. All of these endpoints require messages:write.
 */
export const hookEndpoints = {
  listHooks: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List hooks, newest first",
    scope: "messages:write",
    query: listQuery,
    answers: [listAnswer(hookItemSchema)],
  },
  createHook: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create a hook",
    description:
      "A preset provides the authentication, mapping and filter for a platform; fields in the body override it. A secret that " +
      "the service generates is returned only in this response.",
    scope: "messages:write",
    body: { schema: hookInputSchema },
    answers: [createdAnswer(hookSecretItem)],
    example: { body: { name: "GitHub issues", preset: "github" } },
  },
  getHook: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a hook",
    scope: "messages:write",
    answers: [itemAnswer(hookItemSchema)],
  },
  updateHook: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Update a hook",
    description:
      "Mapping fields are merged into the current mapping; null removes a field. The filter is replaced as a whole. " +
      "To change the secret, rotate it.",
    scope: "messages:write",
    body: { schema: hookChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(hookItemSchema)],
    example: { body: { mapping: { text: "New issue {{$.issue.title}}: {{$.issue.body}}" } } },
  },
  deleteHook: {
    method: "DELETE",
    path: `${PATH}/{id}`,
    tag,
    summary: "Delete a hook",
    description: "Also deletes the stored request bodies of the hook. Messages created by the hook are not deleted.",
    scope: "messages:write",
    ifMatch: true,
    answers: [itemAnswer(hookItemSchema)],
  },
  rotateHookSecret: {
    method: "POST",
    path: `${PATH}/{id}/rotate`,
    tag,
    summary: "Rotate a hook's secret",
    description:
      "The previous secret also remains valid until the overlap ends, so that you can update the platform without downtime.",
    scope: "messages:write",
    body: { schema: hookRotateSchema, isOptional: true },
    answers: [itemAnswer(hookSecretItem)],
    example: { body: { overlapSeconds: 3_600 } },
  },
  listHookBodies: {
    method: "GET",
    path: `${PATH}/{id}/bodies`,
    tag,
    summary: "List the most recent request bodies of a hook",
    description:
      `The last ${HOOK_LIMITS.keptBodies} bodies, newest first, for at most ${HOOK_LIMITS.keptDays} days, each with its ` +
      `outcome. Long bodies are truncated to ${HOOK_LIMITS.shownBodyMaxChars} characters. Bodies that fail authentication are not stored.`,
    scope: "messages:write",
    answers: [listAnswer(hookBodySchema)],
  },
  retryHookBody: {
    method: "POST",
    path: `${PATH}/{id}/bodies/{bodyId}/retry`,
    tag,
    summary: "Retry a stored body",
    description:
      "Uses the current mapping and filter. A body that has already created a message does not create a second one.",
    scope: "messages:write",
    answers: [itemAnswer(hookBodySchema, { when: "Retried. `outcome` and `errors` contain the result." })],
    errors: ["channel_disabled"],
  },
  testHook: {
    method: "POST",
    path: `${PATH}/{id}/test`,
    tag,
    summary: "Test the mapping of a hook with a body",
    description: "Nothing is sent or stored.",
    scope: "messages:write",
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

const call = {
  method: "POST",
  tag,
  scope: null,
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

/** `POST /api/v1/hooks/{id}`, for platforms that sign their requests. */
export const hookCallEndpoint = {
  ...call,
  path: "/api/v1/hooks/{id}",
  summary: "Receive an event, authenticated by a signature header",
} as const satisfies Endpoint;

/** `POST /api/v1/hooks/{id}/{secret}`, for platforms that do not sign their requests. */
export const hookPathCallEndpoint = {
  ...call,
  path: "/api/v1/hooks/{id}/{secret}",
  summary: "Receive an event, authenticated by the secret in the path",
  params: z.object({ secret: z.string().describe("The secret that the service generated for the hook.") }),
} as const satisfies Endpoint;
