import { sentTestMessageSchema, testMessageSchema } from "../test-message.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Test messages. */
export const testMessageEndpoints = {
  sendTestMessage: {
    method: "POST",
    path: "/api/v1/admin/test-messages",
    tag: "Tickets",
    summary: "Send a message as a customer would",
    description:
      "It begins a chat of the HTTP API, with `origin` `test` in its `channel_meta`, and goes through the pipeline as any other message. What becomes of it is read in its ticket; the reply is kept there.",
    scope: "messages:write",
    body: { schema: testMessageSchema },
    answers: [itemAnswer(sentTestMessageSchema, { status: 202, when: "The message is accepted." })],
    example: { body: { text: "How do I reset my password?" } },
  },
} as const satisfies Record<string, Endpoint>;
