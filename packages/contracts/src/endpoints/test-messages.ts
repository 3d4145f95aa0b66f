import { sentTestMessageSchema, testMessageSchema } from "../test-message.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Test messages. */
export const testMessageEndpoints = {
  sendTestMessage: {
    method: "POST",
    path: "/api/v1/admin/test-messages",
    tag: "Tickets",
    summary: "Send a test message as a customer",
    description:
      "Creates a chat on the HTTP API channel, with `origin` `test` in its `channel_meta`, which is processed like any other message. Follow the result in its ticket; the reply is stored there.",
    scope: "messages:write",
    body: { schema: testMessageSchema },
    answers: [itemAnswer(sentTestMessageSchema, { status: 202, when: "The message is accepted." })],
    example: { body: { text: "How do I reset my password?" } },
  },
} as const satisfies Record<string, Endpoint>;
