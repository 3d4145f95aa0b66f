import { z } from "zod";
import { problemSchema } from "../errors.ts";
import { healthAnswerSchema } from "../health.ts";
import { LIMITS } from "../limits.ts";
import {
  asyncAnswerSchema,
  drainAnswerSchema,
  pendingAnswerSchema,
  syncAnswerSchema,
  webhookAnswerSchema,
} from "../message-answers.ts";
import { chatIdSchema, drainQuerySchema, messageRequestSchema } from "../message-request.ts";
import { replyItemSchema } from "../reply-item.ts";
import { acceptedEventSchema, deltaEventSchema, typingEventSchema } from "../stream-events.ts";
import type { Endpoint, EndpointAnswer } from "./endpoint.ts";
import { hookCallEndpoint, hookPathCallEndpoint } from "./hooks.ts";

const tag = "Messages";

const Location = "Path under which the replies are collected.";
const replayed = { "Idempotent-Replayed": "`true` when it repeats what an earlier call was answered." };

const mediaType = "text/event-stream";
/** What a call and the stream of a chat tell alike. */
const replyEvents = {
  typing: typingEventSchema,
  delta: deltaEventSchema,
  reply: replyItemSchema,
  error: problemSchema,
};

/** A sync call that is answered with events. */
const callStream = {
  status: 200,
  when: "Sync, with `Accept: text/event-stream`: `accepted` and `typing` at once, `delta` while the answer is being written, each `reply`, and `done` with what the JSON would have been; or `error` with the problem. Each has an id, and a comment comes every 15 s.",
  schema: null,
  mediaType,
  events: {
    accepted: acceptedEventSchema,
    ...replyEvents,
    done: z.union([syncAnswerSchema, pendingAnswerSchema]),
  },
  headers: replayed,
} as const satisfies EndpointAnswer;

/** The replies of a chat as they come. */
const chatStream = {
  status: 200,
  when: "With `Accept: text/event-stream`: the replies that wait and those that come, each as `reply` with its cursor as id, and `typing` and `delta` while one is being written; a comment every 15 s. Nothing is taken: whoever comes again with `Last-Event-ID` acknowledges what is before, as with `after`. `done` ends it after `wait` or 10 minutes, `error` when the key is no longer valid.",
  schema: null,
  mediaType,
  events: { ...replyEvents, done: drainAnswerSchema },
} as const satisfies EndpointAnswer;

/** Nothing has changed since the version that the caller has. */
const unchangedAnswer: EndpointAnswer = {
  status: 304,
  when: "`If-None-Match` names what is there: it has not changed.",
  schema: null,
  headers: { ETag: "Changes with what is answered." },
};

const noneMatch = z.object({
  "If-None-Match": z.string().optional().describe("The `ETag` of an earlier answer."),
});

/** Messages, calls of hooks, health and the description of the API itself (service document, sections 4.1 to 4.3). */
export const messageEndpoints = {
  sendMessage: {
    method: "POST",
    path: "/api/v1/messages",
    tag,
    summary: "Send a message",
    description:
      "`mode` says how the answer comes: `sync` waits for it, `async` leaves it to be collected, and with a `webhookUrl` it is posted there. A sync call that times out or is held for a person loses nothing: the answer is collected later.",
    scope: "messages:write",
    requestHeaders: z.object({
      "Idempotency-Key": z
        .string()
        .min(1)
        .max(LIMITS.idempotencyKeyMaxChars)
        .optional()
        .describe("A key of your own for this message: a repeat of the call within 24 hours makes no second one."),
      "Last-Event-ID": z
        .string()
        .optional()
        .describe("The id of the last event of the same call that was cut: it goes on, and makes no second message."),
    }),
    body: { schema: messageRequestSchema },
    answers: [
      {
        status: 200,
        when: "Sync: the replies to this message.",
        schema: syncAnswerSchema,
        headers: replayed,
      },
      {
        status: 202,
        when: "Sync: there is no reply of an agent yet; it will be collected.",
        schema: pendingAnswerSchema,
        headers: { Location, ...replayed },
      },
      {
        status: 202,
        when: "Async: the message is accepted.",
        schema: asyncAnswerSchema,
        headers: { Location, ...replayed },
      },
      {
        status: 202,
        when: "Webhook: the message is accepted.",
        schema: webhookAnswerSchema,
        headers: { Location, ...replayed },
      },
      callStream,
    ],
    errors: ["idempotency_in_progress", "idempotency_mismatch", "channel_disabled"],
    example: {
      body: {
        text: "How do I send a message with curl?",
        chatId: "customer-17",
        userId: "u-17",
        meta: { plan: "pro" },
      },
      answer: {
        ok: true,
        mode: "sync",
        chatId: "customer-17",
        ticketId: "5c0e6d0e-7d49-5a57-9d3f-0f1f1a4f2a11",
        messageId: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
        replies: [
          {
            type: "message",
            text: "Post it to `/api/v1/messages` with your key.",
            markdown: true,
            id: "01a1fe7b-4512-7b1e-8f0d-3f6d2b7c9e10",
            seq: 1,
            createdAt: "2027-01-04T09:30:00.000Z",
            inReplyTo: "01a1fe7b-4312-7362-b590-0b7f11541fa3",
            author: "agent",
            sources: [
              {
                title: "Sending messages",
                documentId: "01a1fe60-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
                chunkId: "01a1fe60-0a1b-7c2d-8e3f-5b6c7d8e9fa0",
                quote: "Post it to `/api/v1/messages` with your key.",
                excerpt: "Post it to /api/v1/messages with your key.",
              },
            ],
          },
        ],
      },
    },
  },
  drainMessages: {
    method: "GET",
    path: "/api/v1/messages/{chatId}",
    tag,
    summary: "Collect the replies of a chat",
    description:
      "Takes what it returns: the next call does not return it again. With `after` nothing is lost even when an answer is cut: it is returned until it is acknowledged. A chat that nobody has written to has no replies.",
    scope: "messages:read",
    params: z.object({ chatId: chatIdSchema }),
    query: drainQuerySchema,
    requestHeaders: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .describe("The id of the last event of a stream that was cut: it goes on after it, whatever `after` says."),
    }),
    answers: [{ status: 200, when: "The replies, up to 100 or 8 MB.", schema: drainAnswerSchema }, chatStream],
    example: {
      query: { wait: "1000" },
      answer: { ok: true, chatId: "customer-17", replies: [], cursor: "0", more: false },
    },
  },
  callHook: hookCallEndpoint,
  callHookWithSecret: hookPathCallEndpoint,
  getHealth: {
    method: "GET",
    path: "/api/v1/health",
    tag: "Service",
    summary: "Ask whether messages are accepted",
    description: "With an administrator's key the answer says what each part is doing.",
    scope: null,
    isPublic: true,
    answers: [
      { status: 200, when: "They are: `warn` says that something is wrong all the same.", schema: healthAnswerSchema },
      {
        status: 503,
        when: "They are not.",
        schema: healthAnswerSchema,
        headers: { "Retry-After": "Seconds to wait before the next call." },
      },
    ],
    example: { answer: { ok: true, status: "pass", version: "0.1.0", time: "2027-01-04T09:30:00.000Z" } },
  },
  getOpenApi: {
    method: "GET",
    path: "/api/v1/openapi.json",
    tag: "Service",
    summary: "Read this description of the API",
    description: "OpenAPI 3.1, made from the schemas that check the requests.",
    scope: null,
    isPublic: true,
    requestHeaders: noneMatch,
    answers: [
      {
        status: 200,
        when: "The description.",
        schema: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
        headers: { ETag: "Changes with the description." },
      },
      unchangedAnswer,
    ],
  },
  getDocs: {
    method: "GET",
    path: "/api/v1/docs",
    tag: "Service",
    summary: "Read this description as a page",
    description: "HTML with a call of each operation to copy. It loads nothing from elsewhere and runs no script.",
    scope: null,
    isPublic: true,
    requestHeaders: noneMatch,
    answers: [
      {
        status: 200,
        when: "The page.",
        schema: null,
        mediaType: "text/html",
        headers: { ETag: "Changes with the description." },
      },
      unchangedAnswer,
    ],
  },
} as const satisfies Record<string, Endpoint>;
