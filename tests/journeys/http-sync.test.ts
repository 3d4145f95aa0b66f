import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ReplyItem } from "@svc/contracts";
import { addDocument, ensureKb } from "@svc/knowledge";
import type { Project } from "@svc/store";
import { ticketIdOf } from "@svc/store";
import { testLog, waitFor, queryDatabase } from "@svc/testing";
import { Client } from "pg";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { holdChat } from "./support/hold-chat.ts";
import { openRawCall } from "./support/open-raw-call.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const FIXED = "This is **always** the answer.";
const HANDOFF = "A person will look at it.";
const TABLE = "| City | People |\n|---|---|\n| Oslo | 717710 |\n| Rome | 2748109 |";
/** Larger than socket buffers, so that a response with it cannot be sent while the client does not read. */
const LARGE = "0123456789abcdef".repeat((8 * 1024 * 1024) / 16);
const HANDBOOK = `# Handbook of the Kestrel

## How do I charge the battery?
Connect the blue cable to the port under the tail. The battery is full after 95 minutes, and the lamp turns green.

## How far does it fly?
The Kestrel flies for up to 12 kilometres with the standard battery.
`;

let product: Product;
let api: ApiClient;
const projects: Record<string, Project> = {};

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  const { store } = product;
  projects["fixed"] = await addProject(store, "fixed", { fixedReply: FIXED });
  projects["table"] = await addProject(store, "table", { fixedReply: TABLE });
  projects["large"] = await addProject(store, "large", { fixedReply: LARGE });
  projects["review"] = await addProject(
    store,
    "review",
    { fixedReply: FIXED, reviewPolicy: "review" },
    { handoffText: HANDOFF },
  );
  projects["silent-review"] = await addProject(
    store,
    "silent-review",
    { fixedReply: FIXED, reviewPolicy: "review" },
    { handoffText: "" },
  );
  const handbook = (await store.projects.ensure("handbook")).project;
  const { kb } = await ensureKb({ store }, handbook.id, "handbook");
  await addDocument({ store, log: testLog() }, handbook.id, kb.id, {
    key: "handbook.md",
    text: HANDBOOK,
    mime: "text/markdown",
  });
  await addProject(store, "handbook", { kbIds: [kb.id] });
});

afterAll(() => product.stop());

function projectOf(name: string): Project {
  const project = projects[name];
  if (project === undefined) throw new Error(`no project is named ${name}`);
  return project;
}

const nothing: ReplyItem[] = [];

describe("a sync message that is answered", () => {
  test("gets 200 with exactly the documented body", async () => {
    const answer = await api.send("fixed", { text: "hello", chatId: "exact" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.headers.get("x-request-id")).toMatch(UUID);
    expect(answer.headers.get("x-svc-project")).toBe("fixed");
    expect(answer.body).toEqual({
      ok: true,
      mode: "sync",
      chatId: "exact",
      ticketId: expect.stringMatching(UUID),
      messageId: expect.stringMatching(UUID),
      replies: [
        {
          type: "message",
          text: FIXED,
          markdown: true,
          id: expect.stringMatching(UUID),
          seq: 2,
          createdAt: expect.stringMatching(RFC3339),
          inReplyTo: expect.stringMatching(UUID),
          author: "agent",
          sources: [],
        },
      ],
    });
  });

  test("quotes its knowledge base verbatim, with sources", async () => {
    const answer = await api.send("handbook", { text: "How do I charge the battery of the Kestrel?" });
    expect(answer.status).toBe(200);
    const [reply] = answer.replies;
    if (reply?.type !== "message") throw new Error("the first reply is no message");
    expect(reply.text).toContain("Connect the blue cable to the port under the tail.");
    expect(reply.sources).not.toEqual([]);
    for (const source of reply.sources ?? []) {
      expect(source).toEqual({
        title: "Handbook of the Kestrel",
        documentId: expect.stringMatching(UUID),
        chunkId: expect.stringMatching(UUID),
        quote: expect.any(String),
        excerpt: expect.any(String),
      });
      expect(HANDBOOK).toContain(source.quote);
      expect(reply.text).toContain(source.quote);
    }
  });

  test("gets a Markdown table also as an XLSX attachment", async () => {
    const answer = await api.send("table", { text: "How many people?" });
    expect(answer.status).toBe(200);
    expect(answer.replies.map(({ type }) => type)).toEqual(["message", "attachment"]);
    const attachment = answer.replies[1];
    expect(attachment).toEqual({
      type: "attachment",
      filename: expect.stringMatching(/\.xlsx$/),
      mime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      base64: expect.stringMatching(/^[A-Za-z0-9+/]+={0,2}$/),
      id: expect.stringMatching(UUID),
      seq: 3,
      createdAt: expect.stringMatching(RFC3339),
      inReplyTo: answer.replies[0]?.inReplyTo,
      author: "agent",
    });
    // An XLSX file is a ZIP archive.
    expect(Buffer.from(attachment?.type === "attachment" ? attachment.base64 : "", "base64").subarray(0, 2)).toEqual(
      Buffer.from("PK"),
    );
  });

  test("never finds the reply that its call returned in the drain", async () => {
    const chatId = "returned-once";
    expect((await api.send("fixed", { text: "hello", chatId })).texts).toEqual([FIXED]);
    expect((await api.drain("fixed", chatId)).replies).toEqual(nothing);
    expect((await api.drain("fixed", chatId, "?after=0", { replica: 1 })).replies).toEqual(nothing);
    expect((await api.drain("fixed", chatId, "?wait=1500")).replies).toEqual(nothing);
  });
});

describe("threading", () => {
  test("messages of one chatId share a ticket, with growing sequence numbers", async () => {
    const first = await api.send("fixed", { text: "one", chatId: "thread" });
    const second = await api.send("fixed", { text: "two", chatId: "thread" }, { replica: 1 });
    expect(second.body.ticketId).toBe(first.body.ticketId);
    expect(second.replies[0]?.inReplyTo).not.toBe(first.replies[0]?.inReplyTo);
    expect(second.replies[0]?.seq).toBeGreaterThan(first.replies[0]?.seq ?? Infinity);
  });

  test("another chatId is another ticket", async () => {
    const [one, other] = await Promise.all(
      ["chat-1", "chat-2"].map((chatId) => api.send("fixed", { text: "hello", chatId })),
    );
    expect(one?.body.ticketId).not.toBe(other?.body.ticketId);
  });

  test("the same chatId in another project is another ticket", async () => {
    const one = await api.send("fixed", { text: "hello", chatId: "both" });
    const other = await api.send("table", { text: "hello", chatId: "both" });
    expect(one.body.ticketId).not.toBe(other.body.ticketId);
  });

  test("an omitted chatId becomes a UUID, with which the conversation continues", async () => {
    const first = await api.send("fixed", { text: "one" });
    expect(first.body.chatId).toMatch(UUID);
    const second = await api.send("fixed", { text: "two", chatId: first.body.chatId });
    expect(second.body).toMatchObject({ chatId: first.body.chatId, ticketId: first.body.ticketId });
    expect((await api.send("fixed", { text: "three" })).body.chatId).not.toBe(first.body.chatId);
  });

  test("many calls in one chat, on every replica, are answered in order, each with its own reply", async () => {
    const chatId = "busy";
    const calls = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        api.send("fixed", { text: `question ${index}`, chatId, timeoutMs: 60_000 }, { replica: index }),
      ),
    );
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(calls.map(({ replies }) => replies.length)).toEqual(calls.map(() => 1));
    const replies = calls.flatMap((call) => call.replies);
    expect(new Set(replies.map(({ id }) => id)).size).toBe(calls.length);
    expect(new Set(replies.map(({ inReplyTo }) => inReplyTo)).size).toBe(calls.length);
    // Message ids sort by the time of acceptance, sequence numbers of replies by that of the answer.
    const positions = await messagePositions(calls[0]?.body.ticketId ?? "");
    const byPosition = replies.toSorted((a, b) => a.seq - b.seq).map(({ inReplyTo }) => positions.get(inReplyTo ?? ""));
    expect(byPosition).toEqual(byPosition.toSorted((a, b) => (a ?? 0) - (b ?? 0)));
    expect((await api.drain("fixed", chatId)).replies).toEqual(nothing);
  });
});

describe("a sync message that is not answered in time", () => {
  test("gets 202 pending, and its reply is in the drain exactly once", async () => {
    const chatId = "late/1 %";
    const release = await holdChat(product.store, projectOf("fixed"), chatId);
    const answer = await api.send("fixed", { text: "hello", chatId, timeoutMs: 300 });
    const drainUrl = "/api/v1/messages/late%2F1%20%25";
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe(drainUrl);
    expect(answer.body).toEqual({
      ok: true,
      mode: "sync",
      status: "pending",
      timedOut: true,
      chatId,
      ticketId: ticketIdOf(projectOf("fixed").id, "api", chatId),
      messageId: expect.stringMatching(UUID),
      replies: [],
      drainUrl,
    });
    await release();

    const url = `${api.baseUrl(1)}${drainUrl}`;
    const late = await callApi(`${url}?wait=20000`, { key: product.adminKey, project: "fixed" });
    expect(late.texts).toEqual([FIXED]);
    expect((await api.drain("fixed", chatId, "?wait=1500")).replies).toEqual(nothing);
  });

  test("waits for the channel's default timeout if the call has none", async () => {
    const chatId = "default-timeout";
    await product.store.channelsConfig.update("api", { timeoutMs: 200 });
    const release = await holdChat(product.store, projectOf("fixed"), chatId);
    try {
      // A setting takes effect within a second; until then calls have the previous timeout of 30 s.
      await waitFor(
        async () => {
          const probe = await api.send("fixed", { text: "hello", chatId }, { signal: AbortSignal.timeout(5_000) });
          return probe.body.timedOut === true;
        },
        { what: "a call to end by the timeout of the settings" },
      );
    } finally {
      await product.store.channelsConfig.update("api", { timeoutMs: 30_000 });
      await release();
    }
  });
});

describe("a client that disconnects", () => {
  test("while it waits finds its reply in the drain", async () => {
    const chatId = "hung-up-waiting";
    const release = await holdChat(product.store, projectOf("fixed"), chatId);
    const call = await openRawCall(api.baseUrl(), {
      key: product.adminKey,
      project: "fixed",
      json: { text: "hello", chatId },
    });
    await messagesOf("fixed", chatId, 2);
    call.hangUp();
    await release();
    expect((await api.drain("fixed", chatId, "?wait=20000", { replica: 1 })).texts).toEqual([FIXED]);
    expect((await api.drain("fixed", chatId)).replies).toEqual(nothing);
  });

  test("while its message is being accepted finds its reply in the drain", async () => {
    const chatId = "hung-up-early";
    expect((await api.send("fixed", { text: "the first one", chatId })).status).toBe(200);
    // The transaction that accepts the message waits for the chat's row, which this transaction has locked.
    const locker = new Client({ connectionString: product.databaseUrl });
    await locker.connect();
    try {
      await locker.query("BEGIN");
      await locker.query("SELECT 1 FROM chats WHERE ticket_id = $1 FOR UPDATE", [
        ticketIdOf(projectOf("fixed").id, "api", chatId),
      ]);
      const call = await openRawCall(api.baseUrl(), {
        key: product.adminKey,
        project: "fixed",
        json: { text: "gone", chatId },
      });
      await waitFor(
        async () => {
          const { rows } = await locker.query<{ count: string }>(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          );
          return Number(rows[0]?.count) > 0;
        },
        { what: "the acceptance to wait for the chat" },
      );
      call.hangUp();
      // The same process has served later requests, so it has noticed the end of the other connection.
      await callApi(`${api.baseUrl()}/healthz`);
      await callApi(`${api.baseUrl()}/healthz`);
      await locker.query("COMMIT");
    } finally {
      await locker.end();
    }
    expect((await api.drain("fixed", chatId, "?wait=20000", { replica: 1 })).texts).toEqual([FIXED]);
  });

  test("during the response finds its reply in the drain", async () => {
    const chatId = "hung-up-reading";
    const call = await openRawCall(api.baseUrl(), {
      key: product.adminKey,
      project: "large",
      json: { text: "hello", chatId },
    });
    await call.answerBegins();
    call.hangUp();
    const later = await api.drain("large", chatId, "?wait=20000", { replica: 1 });
    expect(later.texts.map((text) => text.length)).toEqual([LARGE.length]);
    expect((await api.drain("large", chatId)).replies).toEqual(nothing);
  });
});

describe("a sync message that is held for review", () => {
  test("gets 202 in_review with the handoff text, which is not in the drain again", async () => {
    const chatId = "held";
    const answer = await api.send("review", { text: "hello", chatId });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe("/api/v1/messages/held");
    expect(answer.body).toEqual({
      ok: true,
      mode: "sync",
      status: "in_review",
      timedOut: false,
      chatId,
      ticketId: expect.stringMatching(UUID),
      messageId: expect.stringMatching(UUID),
      replies: [
        {
          type: "message",
          text: HANDOFF,
          markdown: false,
          id: expect.stringMatching(UUID),
          seq: 2,
          createdAt: expect.stringMatching(RFC3339),
          inReplyTo: expect.stringMatching(UUID),
          author: "system",
        },
      ],
      drainUrl: "/api/v1/messages/held",
    });
    expect((await api.drain("review", chatId, "?wait=1500")).replies).toEqual(nothing);
  });

  test("gets the handoff text once, and for every further message a confirmation that it was added", async () => {
    const chatId = "held-twice";
    expect((await api.send("review", { text: "hello", chatId })).texts).toEqual([HANDOFF]);
    const again = await api.send("review", { text: "are you there?", chatId });
    expect(again).toMatchObject({ status: 202, body: { status: "in_review" } });
    expect(again.texts).toEqual([expect.stringMatching(/added this to your request/)]);
  });

  test("gets no replies if the project has no handoff text", async () => {
    const answer = await api.send("silent-review", { text: "hello", chatId: "held" });
    expect(answer).toMatchObject({ status: 202, body: { status: "in_review", timedOut: false, replies: [] } });
  });
});

describe("additional fields of a message", () => {
  test("meta and userId are stored with the ticket, and the newest value of a field wins", async () => {
    const chatId = randomUUID();
    await api.send("fixed", { text: "one", chatId, userId: "user-1", meta: { plan: "free", shop: { id: 7 } } });
    await api.send("fixed", { text: "two", chatId, meta: { plan: "paid" } });
    expect(await channelMeta(chatId)).toEqual({ plan: "paid", shop: { id: 7 }, userId: "user-1" });
  });

  test("unknown fields are ignored", async () => {
    expect((await api.send("fixed", { text: "hello", colour: "blue", stream: { deep: [1] } })).status).toBe(200);
  });
});

async function messagesOf(project: string, chatId: string, count: number): Promise<void> {
  const ticketId = ticketIdOf(projectOf(project).id, "api", chatId);
  await waitFor(async () => (await messagePositions(ticketId)).size === count, {
    what: `${count} messages in ${chatId}`,
  });
}

/** Returns the sequence number of each message of a conversation, by its id. */
async function messagePositions(ticketId: string): Promise<Map<string, number>> {
  const rows = await queryDatabase<{ id: string; seq: string }>(
    product.databaseUrl,
    "SELECT id, seq FROM messages WHERE ticket_id = $1",
    [ticketId],
  );
  return new Map(rows.map(({ id, seq }) => [id, Number(seq)]));
}

async function channelMeta(chatId: string): Promise<unknown> {
  const rows = await queryDatabase<{ channel_meta: unknown }>(
    product.databaseUrl,
    "SELECT channel_meta FROM tickets WHERE chat_id = $1",
    [chatId],
  );
  return rows[0]?.channel_meta;
}
