import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId, ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

test("an accepted message is committed with all its data", async () => {
  const project = await db.newProject();
  const message = newMessage({
    chatId: "chat/1 %?",
    userId: "user-1",
    text: "שלום 👩‍👩‍👧 \n\t'; DROP TABLE messages; --",
    timestampMs: 1_763_700_000_123,
    attachments: [{ type: "image/png", url: "https://example.com/a.png", name: "a.png" }],
    channelMeta: { nested: { list: [1, "two", null] } },
    mode: "sync",
    callInstance: newId(),
  });
  const accepted = await db.store.messages.accept(project, message);
  expect(accepted).toEqual({
    messageId: expect.any(String),
    ticketId: ticketIdOf(project, "api", message.chatId),
    seq: 1,
    priority: 0,
  });
  const rows = await db.sql(
    `SELECT m.project_id, m.ticket_id, m.user_id, m.text, m.timestamp_ms::float8 AS timestamp_ms, m.attachments,
       m.channel_meta, m.mode, m.call_instance, m.state, m.attempts, c.chat_id, c.channel_id
     FROM messages m JOIN chats c USING (ticket_id) WHERE m.id = $1`,
    [accepted.messageId],
  );
  expect(rows).toEqual([
    {
      project_id: project,
      ticket_id: accepted.ticketId,
      user_id: message.userId,
      text: message.text,
      timestamp_ms: message.timestampMs,
      attachments: message.attachments,
      channel_meta: message.channelMeta,
      mode: message.mode,
      call_instance: message.callInstance,
      state: "received",
      attempts: 0,
      chat_id: message.chatId,
      channel_id: "api",
    },
  ]);
});

test("messages of a project with a backlog have a priority that grows with it, and are swept later; those of another project are not", async () => {
  const [project, other] = [await db.newProject(), await db.newProject()];
  const accept = (of: ProjectId) => db.store.messages.accept(of, newMessage({ chatId: newId() }));
  const flood = await Promise.all(Array.from({ length: 150 }, () => accept(project)));
  const priorities = flood.map(({ priority }) => priority);
  expect(priorities.slice(0, 101)).toEqual(Array.from({ length: 101 }, () => 0));
  // A batch does not count messages that are concurrently accepted in another one.
  expect(priorities.at(-1)).toBeGreaterThan(0);
  const behind = await accept(project);
  expect(behind.priority).toBe(50);
  expect((await accept(other)).priority).toBe(0);
  // The jobs of a backlog wait in the queue: the sweeper publishes its messages later.
  const sweptAfter = await db.sql<{ ms: number }>(
    `SELECT (extract(epoch FROM due_at - created_at) * 1000)::integer AS ms FROM messages
     WHERE id = ANY ($1) ORDER BY ms`,
    [[flood[0]?.messageId, behind.messageId]],
  );
  expect(sweptAfter).toEqual([{ ms: 2_000 }, { ms: 2_000 + 50 * 5 }]);
});

test("the channel's metadata of a message is found, and that of the newest message of its chat", async () => {
  const project = await db.newProject();
  const { messages } = db.store;
  const first = await messages.accept(project, newMessage({ chatId: "c", channelMeta: { topic: 1 } }));
  await messages.accept(project, newMessage({ chatId: "c", channelMeta: { topic: 2 } }));
  expect(await messages.findMeta(project, first.messageId)).toEqual({ topic: 1 });
  expect(await messages.findLastMeta(project, first.ticketId)).toEqual({ topic: 2 });
  expect(await messages.findMeta(project, newId())).toBeNull();
  expect(await messages.findLastMeta(project, newId())).toBeNull();
});

test("concurrent messages of many chats, from two processes, are each committed once, with consecutive sequence numbers", async () => {
  const project = await db.newProject();
  const another = db.openAnother();
  const chats = Array.from({ length: 20 }, (_, index) => `chat-${index}`);
  const accepted = await Promise.all(
    Array.from({ length: 600 }, (_, index) =>
      (index % 2 === 0 ? db.store : another).messages.accept(
        project,
        newMessage({ chatId: chats[index % chats.length] ?? "", text: `message ${index}` }),
      ),
    ),
  );
  expect(new Set(accepted.map(({ messageId }) => messageId)).size).toBe(600);

  const rows = await db.sql<{ id: string; text: string; seq: number; ticket_id: string }>(
    "SELECT id, text, seq::int AS seq, ticket_id FROM messages WHERE project_id = $1",
    [project],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  expect(rows.length).toBe(600);
  for (const [index, { messageId, ticketId, seq }] of accepted.entries()) {
    expect(byId.get(messageId)).toEqual({ id: messageId, text: `message ${index}`, seq, ticket_id: ticketId });
  }
  for (const chatId of chats) {
    const ticketId = ticketIdOf(project, "api", chatId);
    const positions = rows.filter((row) => row.ticket_id === ticketId).map(({ seq }) => seq);
    expect(positions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  }
});

test("messages of one chat keep the order of the calls", async () => {
  const project = await db.newProject();
  // More messages than fit into one statement, because the order must also hold across statements; repeated because it
  // is a race.
  for (let round = 0; round < 10; round++) {
    const accepted = await Promise.all(
      Array.from({ length: 500 }, () => db.store.messages.accept(project, newMessage({ chatId: `chat ${round}` }))),
    );
    const outOfOrder = accepted.filter(({ seq }, index) => seq !== index + 1);
    expect(outOfOrder.length).toBe(0);
  }
});

test("a message that cannot be stored affects no other of its batch", async () => {
  const project = await db.newProject();
  const messages = Array.from({ length: 20 }, (_, index) =>
    newMessage({ chatId: `chat-${index % 4}`, text: index === 7 ? "a NUL: \u0000" : `message ${index}` }),
  );
  const outcomes = await Promise.allSettled(messages.map((message) => db.store.messages.accept(project, message)));
  expect(outcomes.map(({ status }) => status)).toEqual(
    messages.map((_, index) => (index === 7 ? "rejected" : "fulfilled")),
  );
  const rows = await db.sql<{ ticket_id: string; places: number[] }>(
    "SELECT ticket_id, array_agg(seq::int ORDER BY seq) AS places FROM messages WHERE project_id = $1 GROUP BY 1",
    [project],
  );
  // The invalid one has left no gap in its chat.
  expect(rows.map(({ places: positions }) => positions).toSorted((a, b) => a.length - b.length)).toEqual([
    [1, 2, 3, 4],
    [1, 2, 3, 4, 5],
    [1, 2, 3, 4, 5],
    [1, 2, 3, 4, 5],
  ]);
});

test("the same chat id on another channel or in another project is another chat", async () => {
  const [project, other] = [await db.newProject(), await db.newProject()];
  const chatId = "same";
  const accepted = [
    await db.store.messages.accept(project, newMessage({ chatId })),
    await db.store.messages.accept(project, newMessage({ chatId, channelId: "widget" })),
    await db.store.messages.accept(other, newMessage({ chatId })),
  ];
  expect(new Set(accepted.map(({ ticketId }) => ticketId)).size).toBe(3);
  expect(accepted.map(({ seq }) => seq)).toEqual([1, 1, 1]);
});
