import { expect, test } from "@jest/globals";
import { asProjectId, newId } from "@svc/store";
import type { DeliveryRequest } from "@svc/store";
import { callbackBody } from "./callback-body.ts";

const createdAt = new Date("2026-11-21T12:00:00.123Z");
const reply = { id: newId(), ticketId: newId(), inReplyTo: newId(), author: "agent" as const, createdAt };
const delivery: DeliveryRequest = {
  project: asProjectId(newId()),
  id: newId(),
  leaseId: newId(),
  ticketId: reply.ticketId,
  messageId: reply.inReplyTo,
  type: "message.completed",
  url: "https://example.com/hook",
  createdAt,
  replyIds: [],
  event: null,
  webhook: null,
  failures: 0,
  lapses: 0,
  attempt: 1,
  chatId: "chat 1",
  meta: { userId: "u-1", nested: { list: [1, "ä"] } },
  replies: [
    { ...reply, type: "message", seq: 2, text: "Hello\u2028 <b>", markdown: true, sources: null },
    {
      ...reply,
      type: "attachment",
      seq: 3,
      filename: "table.xlsx",
      mime: "application/x",
      content: Buffer.from([0, 255]),
    },
  ],
  sealedSecret: { sealed: "sealed" },
  coveredBy: null,
  isKeyRevoked: false,
  trace: null,
};

test("the body is that of a sync response, with type, ids, time and meta, and without secrets or attempts", () => {
  const item = { id: reply.id, createdAt: createdAt.toISOString(), inReplyTo: reply.inReplyTo, author: "agent" };
  expect(JSON.parse(callbackBody(delivery))).toEqual({
    ok: true,
    mode: "webhook",
    type: "message.completed",
    deliveryId: delivery.id,
    timestamp: "2026-11-21T12:00:00.123Z",
    chatId: "chat 1",
    ticketId: delivery.ticketId,
    messageId: delivery.messageId,
    replies: [
      { ...item, type: "message", seq: 2, text: "Hello\u2028 <b>", markdown: true },
      { ...item, type: "attachment", seq: 3, filename: "table.xlsx", mime: "application/x", base64: "AP8=" },
    ],
    meta: { userId: "u-1", nested: { list: [1, "ä"] } },
  });
});

test("every attempt of a callback sends the same bytes", () => {
  const again = { ...delivery, leaseId: newId(), failures: 5, attempt: 9, isKeyRevoked: true, sealedSecret: null };
  expect(callbackBody(again)).toBe(callbackBody(delivery));
});
