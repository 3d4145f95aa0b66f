import { z } from "zod";
import {
  HOOK_LIMITS,
  hookBodySchema,
  hookChangeSchema,
  hookInputSchema,
  hookItemSchema,
  hookRotateSchema,
  hookSecretItemSchema,
  hookTestResultSchema,
  hookTestSchema,
} from "../hook.ts";
import { asyncAnswerSchema, webhookAnswerSchema } from "../message-answers.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint, EndpointAnswer } from "./endpoint.ts";

const tag = "Hooks";
const PATH = "/api/v1/admin/hooks";

/** Inbound hooks: where platforms whose webhooks have a fixed shape post to. Everything about them is messages:write. */
export const hookEndpoints = {
  listHooks: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List hooks, newest first",
    scope: "messages:write",
    query: listQuerySchema,
    answers: [listAnswer(hookItemSchema)],
  },
  createHook: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Make a hook",
    description:
      "A preset brings proof, mapping and filter of a platform; whatever the body names counts instead. A secret that " +
      "the service makes is in this answer and in no other.",
    scope: "messages:write",
    body: { schema: hookInputSchema },
    answers: [createdAnswer(hookSecretItemSchema)],
    example: { body: { name: "GitHub issues", preset: "github" } },
  },
  getHook: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Read a hook",
    scope: "messages:write",
    answers: [itemAnswer(hookItemSchema)],
  },
  updateHook: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Change a hook",
    description:
      "Fields of the mapping are laid over the present one, null takes one away; the filter is replaced as a whole. " +
      "The secret is changed by a rotation.",
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
    description: "With the bodies that are kept of it. The messages that it made stay.",
    scope: "messages:write",
    ifMatch: true,
    answers: [itemAnswer(hookItemSchema)],
  },
  rotateHookSecret: {
    method: "POST",
    path: `${PATH}/{id}/rotate`,
    tag,
    summary: "Give a hook a new secret",
    description:
      "The secret before counts too until the overlap is over, so that the platform can be changed in peace.",
    scope: "messages:write",
    body: { schema: hookRotateSchema, isOptional: true },
    answers: [itemAnswer(hookSecretItemSchema)],
    example: { body: { overlapSeconds: 3_600 } },
  },
  listHookBodies: {
    method: "GET",
    path: `${PATH}/{id}/bodies`,
    tag,
    summary: "List the last bodies of a hook",
    description:
      `The last ${HOOK_LIMITS.keptBodies}, newest first, for at most ${HOOK_LIMITS.keptDays} days, each with what became ` +
      `of it; of a long one the first ${HOOK_LIMITS.shownBodyMaxChars} characters. Bodies without a valid proof are not kept.`,
    scope: "messages:write",
    answers: [listAnswer(hookBodySchema)],
  },
  retryHookBody: {
    method: "POST",
    path: `${PATH}/{id}/bodies/{bodyId}/retry`,
    tag,
    summary: "Try a body again",
    description:
      "With the mapping and filter as they are now. A body that has become a message stays that one message.",
    scope: "messages:write",
    answers: [itemAnswer(hookBodySchema, { when: "It was tried; `outcome` and `errors` say what became of it." })],
    errors: ["channel_disabled"],
  },
  testHook: {
    method: "POST",
    path: `${PATH}/{id}/test`,
    tag,
    summary: "See what a hook makes of a body",
    description: "Nothing is sent and nothing is kept.",
    scope: "messages:write",
    body: { schema: hookTestSchema, maxBytes: 2 * HOOK_LIMITS.bodyMaxBytes },
    answers: [itemAnswer(hookTestResultSchema)],
    example: { body: { body: { message: "Do you ship to Norway?", email: "ola@example.org" } } },
  },
} as const satisfies Record<string, Endpoint>;

/** What a platform is answered. */
const callAnswer: EndpointAnswer = {
  status: 202,
  when: "It is a message now; or the filter does not want it: `status` is then `ignored` and nothing else is there.",
  schema: z.union([
    asyncAnswerSchema,
    webhookAnswerSchema,
    z.object({ ok: z.literal(true), status: z.literal("ignored") }),
  ]),
  headers: {
    Location: "Address of the drain.",
    "Idempotent-Replayed": "`true` where an earlier call with this event id has made the message.",
  },
};

const call = {
  method: "POST",
  tag,
  scope: null,
  isPublic: true,
  description:
    "For platforms whose webhook has a fixed shape. No API key: the hook proves itself, by the secret in the path or a " +
    "signature of the body in a header. The body is JSON or a form, at most 1 MB, without Content-Encoding. What does " +
    "not map is invalid_request with pointers into the mapping.",
  body: {
    schema: z.unknown(),
    maxBytes: HOOK_LIMITS.bodyMaxBytes,
    otherTypes: {
      "application/x-www-form-urlencoded": "A form as an object of its fields; a repeated name is a list.",
      "multipart/form-data": "The same; files are not kept.",
    },
  },
  answers: [callAnswer],
  errors: ["invalid_signature", "channel_disabled", "rate_limited"],
} as const;

/** `POST /api/v1/hooks/{id}` of a platform that signs its calls. */
export const hookCallEndpoint = {
  ...call,
  path: "/api/v1/hooks/{id}",
  summary: "Hand over an event, signed in a header",
} as const satisfies Endpoint;

/** `POST /api/v1/hooks/{id}/{secret}` of a platform that does not. */
export const hookPathCallEndpoint = {
  ...call,
  path: "/api/v1/hooks/{id}/{secret}",
  summary: "Hand over an event, with the secret in the path",
  params: z.object({ secret: z.string().describe("The secret that the service has made for the hook.") }),
} as const satisfies Endpoint;
