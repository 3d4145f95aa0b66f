import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createClient } from "@svc/client";
import { startWebhookReceiver } from "@svc/testing";
import type { FullAnswer, WebhookReceiver } from "@svc/testing";

let service: WebhookReceiver;
beforeAll(async () => {
  service = await startWebhookReceiver();
});
afterAll(() => service.close());

const replyOf = (seq: number) => ({ type: "message", id: `r-${seq}`, seq, text: `reply ${seq}`, markdown: false });
const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const events = (...sent: string[]): FullAnswer => ({
  status: 200,
  headers: { "Content-Type": "text/event-stream" },
  body: sent.join(""),
});
const json = (body: object): FullAnswer => ({
  status: 200,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

test("replies arrive once and in order, despite dropped connections, temporary errors, and a proxy without streams", async () => {
  const answers: (FullAnswer | "cut")[] = [
    "cut",
    events(
      event("typing", { on: true }),
      event("typing", { on: true }),
      event("delta", { messageId: "m", offset: 0, text: "rep" }),
      event("reply", replyOf(1)),
      event("typing", { on: false }),
      event("done", { ok: true }),
    ),
    { status: 503, headers: { "Retry-After": "0" } },
    json({ ok: true, chatId: "c", replies: [replyOf(2)], cursor: "2", more: false }),
    events(event("reply", replyOf(3))),
  ];
  service.answerWith((_request, index) => answers[index] ?? { status: 500 });
  const client = createClient({ url: service.url("").replace(/\/$/, ""), key: "a-key-of-a-test" });
  const typing: boolean[] = [];
  const deltas: string[] = [];
  const seqs: number[] = [];
  const stream = client.stream("c", { onTyping: (on) => typing.push(on), onDelta: ({ text }) => deltas.push(text) });
  for await (const { seq } of stream) if (seqs.push(seq) === 3) break;
  expect({ seqs, typing, deltas, cursor: stream.cursor }).toEqual({
    seqs: [1, 2, 3],
    typing: [true, false],
    deltas: ["rep"],
    cursor: "3",
  });
  // Only a request after a response has begun resumes an unfinished reply.
  expect(service.requests.map(({ headers }) => headers["last-event-id"])).toEqual([
    undefined,
    undefined,
    "1",
    "1",
    "2",
  ]);
});

test("a permanent problem in the stream is thrown with its code", async () => {
  const problem = { ok: false, status: 401, code: "invalid_key", title: "Invalid key", detail: "The key is revoked." };
  service.answerWith(() => events(event("error", problem)));
  const client = createClient({ url: service.url("").replace(/\/$/, ""), key: "a-key-of-a-test" });
  const read = client.stream("c")[Symbol.asyncIterator]().next();
  await expect(read).rejects.toMatchObject({ code: "invalid_key" });
});
