import { z } from "zod";
import { problemSchema } from "./errors.ts";
import { LIMITS } from "./limits.ts";
import {
  asyncAnswerSchema,
  drainAnswerSchema,
  pendingAnswerSchema,
  syncAnswerSchema,
  webhookAnswerSchema,
  replyItemSchema,
  acceptedEventSchema,
  deltaEventSchema,
  typingEventSchema,
} from "./reply-item.ts";
import { chatIdSchema, drainQuerySchema, messageRequestSchema } from "./message-request.ts";
import { routesAt } from "./endpoint.ts";
import type { Endpoint, EndpointAnswer } from "./endpoint.ts";

const route = routesAt("Messages", "/api/v1/messages");

const Location = "Path to collect the replies from.";
const replayed = { "Idempotent-Replayed": "`true` if this is the repeated response of an earlier request." };

const mediaType = "text/event-stream";
/** Events that both a streaming sync request and the event stream of a chat send. */
const replyEvents = {
  typing: typingEventSchema,
  delta: deltaEventSchema,
  reply: replyItemSchema,
  error: problemSchema,
};

/** A sync response as an event stream. */
const callStream = {
  status: 200,
  when: "For mode `sync` with `Accept: text/event-stream`. Sends `accepted` and `typing` immediately, `delta` while the answer is being written, each `reply`, and finally `done` with the JSON response, or `error` with the problem. Each event has an id. A comment is sent every 15 s.",
  schema: null,
  mediaType,
  events: {
    accepted: acceptedEventSchema,
    ...replyEvents,
    done: z.union([syncAnswerSchema, pendingAnswerSchema]),
  },
  headers: replayed,
} as const satisfies EndpointAnswer;

/** The replies of a chat as an event stream. */
const chatStream = {
  status: 200,
  when: "With `Accept: text/event-stream`: sends buffered and new replies as `reply` events whose id is the cursor, and `typing` and `delta` while a reply is being written. A comment is sent every 15 s. The stream does not acknowledge replies; reconnecting with `Last-Event-ID` acknowledges the earlier ones, like `after`. The stream ends with `done` after `wait` or 10 minutes, or with `error` if the key is no longer valid.",
  schema: null,
  mediaType,
  events: { ...replyEvents, done: drainAnswerSchema },
} as const satisfies EndpointAnswer;

/** Messages and their replies (service document, sections 4.2 and 4.3). */
export const messageEndpoints = {
  sendMessage: {
    ...route("POST", "messages:write", "Send a message"),
    description:
      "`mode` selects how the answer is delivered: `sync` waits for it, `async` buffers it until you collect it, and with a `webhookUrl` it is sent there. If a sync request times out, or its message is handed over to an operator, the answer is not lost; collect it later.",
    requestHeaders: z.object({
      "Idempotency-Key": z
        .string()
        .min(1)
        .max(LIMITS.idempotencyKeyMaxChars)
        .optional()
        .describe(
          "A unique key for this message. Repeating the request with the same key within 24 hours does not create a second message.",
        ),
      "Last-Event-ID": z
        .string()
        .optional()
        .describe(
          "ID of the last event received before the connection dropped. The stream resumes after it, without creating a second message.",
        ),
    }),
    body: { schema: messageRequestSchema },
    answers: [
      {
        status: 200,
        when: "Mode `sync`: the replies to this message.",
        schema: syncAnswerSchema,
        headers: replayed,
      },
      {
        status: 202,
        when: "Mode `sync`: no reply from an agent yet. Collect it later.",
        schema: pendingAnswerSchema,
        headers: { Location, ...replayed },
      },
      {
        status: 202,
        when: "Mode `async`: the message is accepted.",
        schema: asyncAnswerSchema,
        headers: { Location, ...replayed },
      },
      {
        status: 202,
        when: "Mode `webhook`: the message is accepted.",
        schema: webhookAnswerSchema,
        headers: { Location, ...replayed },
      },
      callStream,
    ],
    errors: ["idempotency_in_progress", "idempotency_mismatch", "channel_disabled", "quota_exceeded"],
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
    ...route("GET /{chatId}", "messages:read", "Collect the replies of a chat"),
    description:
      "Returned replies are removed from the buffer, so that the next request does not return them again. With `after`, replies are returned until they are acknowledged, so that nothing is lost if the connection drops. A chat without messages has no replies.",
    params: z.object({ chatId: chatIdSchema }),
    query: drainQuerySchema,
    requestHeaders: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .describe(
          "ID of the last event received before the connection dropped. The stream resumes after it, regardless of `after`.",
        ),
    }),
    answers: [{ status: 200, when: "The replies, up to 100 replies or 8 MB.", schema: drainAnswerSchema }, chatStream],
    example: {
      query: { wait: "1000" },
      answer: { ok: true, chatId: "customer-17", replies: [], cursor: "0", more: false },
    },
  },
} as const satisfies Record<string, Endpoint>;
