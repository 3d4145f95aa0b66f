import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { ReplyItem } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdChat } from "./support/hold-chat.ts";
import { openRawCall } from "./support/open-raw-call.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
/** Two of these exceed the 8 MB of one response, and one exceeds the buffers of a socket. */
const LARGE = "0123456789abcdef".repeat((7 * 1024 * 1024) / 16);

let product: Product;
let api: ApiClient;
let fixed: Project;
let receiver: WebhookReceiver;

beforeAll(async () => {
  product = await startProduct();
  receiver = await startWebhookReceiver();
  api = createApiClient(product);
  fixed = await addProject(product.store, "fixed", { fixedReply: FIXED });
  await addProject(product.store, "other", { fixedReply: "the other project's answer" });
  await addProject(product.store, "large", { fixedReply: LARGE });
});

afterAll(async () => {
  await receiver.close();
  await product.stop();
});

const nothing: ReplyItem[] = [];
const idsOf = (replies: ReplyItem[]) => replies.map(({ id }) => id);

/**
 * Sends async messages one after the other and waits until all their replies are in the drain, without removing any.
 */
async function fillBuffer(chatId: string, count: number, project = "fixed"): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    expect((await api.send(project, { text: `message ${sent}`, chatId, mode: "async" })).status).toBe(202);
  }
  await waitFor(async () => (await waitingCount(chatId, project)) === count, { what: `${count} replies in ${chatId}` });
}

const sql = <Row extends object>(text: string, values: unknown[] = []) =>
  queryDatabase<Row>(product.databaseUrl, text, values);

/** Returns the number of undelivered replies in a chat, read page by page. */
async function waitingCount(chatId: string, project: string): Promise<number> {
  let count = 0;
  let after = "0";
  for (;;) {
    const page = await api.drain(project, chatId, `?peek=1&after=${after}`);
    count += page.replies.length;
    if (page.body.more !== true) return count;
    after = page.body.cursor ?? "";
  }
}

describe("an async message", () => {
  test("gets 202 with exactly the documented body, and the drain URL", async () => {
    const answer = await api.send("fixed", { text: "hello", chatId: "async 1", mode: "async" });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe("/api/v1/messages/async%201");
    expect(answer.body).toEqual({
      ok: true,
      mode: "async",
      status: "queued",
      chatId: "async 1",
      ticketId: ticketIdOf(fixed.id, "api", "async 1"),
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      drainUrl: "/api/v1/messages/async%201",
    });
  });

  test("is answered in the drain of every replica", async () => {
    const chatId = "async-drained";
    await api.send("fixed", { text: "hello", chatId, mode: "async" });
    const drained = await api.drain("fixed", chatId, "?wait=20000", { replica: 1 });
    expect(drained.status).toBe(200);
    expect(drained.headers.get("cache-control")).toBe("no-store");
    expect(drained.body).toEqual({
      ok: true,
      chatId,
      replies: [expect.objectContaining({ type: "message", text: FIXED, author: "agent", seq: 2 })],
      cursor: "2",
      more: false,
    });
  });
});

describe("waiting", () => {
  test("a long poll that started before the message gets its reply", async () => {
    const chatId = "polled";
    const polling = api.drain("fixed", chatId, "?wait=30000", { replica: 1 });
    await api.send("fixed", { text: "hello", chatId, mode: "async" });
    expect((await polling).texts).toEqual([FIXED]);
  });

  test("a long poll ends empty without a reply", async () => {
    const answer = await api.drain("fixed", "nothing-comes", "?wait=100");
    expect(answer).toMatchObject({ status: 200, body: { ok: true, replies: [], cursor: "0", more: false } });
  });

  test("wait=0 responds immediately, even if empty", async () => {
    expect(await api.drain("fixed", "nothing-there", "?wait=0")).toMatchObject({ status: 200, body: { replies: [] } });
  });

  test("a long poll by cursor waits for replies after the cursor", async () => {
    const chatId = "polled-by-cursor";
    await fillBuffer(chatId, 1);
    const first = await api.drain("fixed", chatId, "?after=0&wait=30000");
    expect(first.replies.length).toBe(1);
    const polling = api.drain("fixed", chatId, `?after=${first.body.cursor ?? ""}&wait=30000`);
    await api.send("fixed", { text: "the second one", chatId, mode: "async" });
    const second = await polling;
    expect(second.replies.length).toBe(1);
    expect(idsOf(second.replies)).not.toEqual(idsOf(first.replies));
  });
});

describe("a plain GET", () => {
  test("removes the replies that it returns", async () => {
    const chatId = "taken";
    await fillBuffer(chatId, 3);
    expect((await api.drain("fixed", chatId)).replies.length).toBe(3);
    for (const query of ["", "?peek=1", "?after=0"]) {
      expect((await api.drain("fixed", chatId, query, { replica: 1 })).replies).toEqual(nothing);
    }
  });

  test("returns replies in the order of the chat", async () => {
    const chatId = "ordered";
    await fillBuffer(chatId, 5);
    const positions = (await api.drain("fixed", chatId)).replies.map(({ seq }) => seq);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  test("returns each reply to exactly one of several readers", async () => {
    const chatId = "shared";
    const count = 20;
    const read: string[] = [];
    const readers = Array.from({ length: 6 }, async (_, replica) => {
      while (read.length < count) {
        read.push(...idsOf((await api.drain("fixed", chatId, "?wait=500", { replica })).replies));
      }
    });
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        api.send("fixed", { text: `message ${index}`, chatId, mode: "async" }, { replica: index }),
      ),
    );
    await Promise.all(readers);
    expect(read.length).toBe(count);
    expect(new Set(read).size).toBe(count);
    expect((await api.drain("fixed", chatId)).replies).toEqual(nothing);
  });

  test("returns at most 100 replies, and whether there are more", async () => {
    const chatId = "crowded";
    await fillBuffer(chatId, 101);
    const first = await api.drain("fixed", chatId);
    expect(first.replies.length).toBe(100);
    expect(first.body.more).toBe(true);
    const rest = await api.drain("fixed", chatId);
    expect(rest.replies.length).toBe(1);
    expect(rest.body.more).toBe(false);
    expect(rest.replies[0]?.seq).toBeGreaterThan(first.replies.at(-1)?.seq ?? Infinity);
  });

  test("returns at most 8 MB, but at least one reply if there is any", async () => {
    const chatId = "heavy";
    await fillBuffer(chatId, 2, "large");
    const first = await api.drain("large", chatId);
    expect([first.replies.length, first.body.more]).toEqual([1, true]);
    const rest = await api.drain("large", chatId);
    expect([rest.replies.length, rest.body.more]).toEqual([1, false]);
    expect(idsOf(rest.replies)).not.toEqual(idsOf(first.replies));
  });
});

describe("a GET with a cursor", () => {
  test("returns replies repeatedly until they are acknowledged", async () => {
    const chatId = "acknowledged";
    await fillBuffer(chatId, 3);
    const first = await api.drain("fixed", chatId, "?after=0");
    expect(first.replies.length).toBe(3);
    const again = await api.drain("fixed", chatId, "?after=0", { replica: 1 });
    expect(again.body).toEqual(first.body);

    const after = await api.drain("fixed", chatId, `?after=${first.body.cursor ?? ""}`);
    expect(after.body).toMatchObject({ replies: [], cursor: first.body.cursor, more: false });
    expect((await api.drain("fixed", chatId)).replies).toEqual(nothing);
  });

  test("acknowledges only up to its cursor", async () => {
    const chatId = "acknowledged-in-part";
    await fillBuffer(chatId, 3);
    const [one, two, three] = (await api.drain("fixed", chatId, "?after=0")).replies;
    const later = await api.drain("fixed", chatId, `?after=${one?.seq ?? ""}`);
    expect(idsOf(later.replies)).toEqual([two?.id, three?.id]);
    expect(idsOf((await api.drain("fixed", chatId)).replies)).toEqual([two?.id, three?.id]);
  });

  test("returns more than 8 MB in pages, each repeatedly until it is acknowledged", async () => {
    const chatId = "heavy-by-cursor";
    await fillBuffer(chatId, 3, "large");
    const seen: string[] = [];
    let cursor = "0";
    for (let more = true; more;) {
      const page = await api.drain("large", chatId, `?after=${cursor}`);
      const again = await api.drain("large", chatId, `?after=${cursor}`, { replica: 1 });
      expect(again.text === page.text).toBe(true);
      expect(page.replies.length).toBe(1);
      seen.push(...idsOf(page.replies));
      cursor = page.body.cursor ?? "";
      more = page.body.more === true;
    }
    expect([seen.length, new Set(seen).size]).toEqual([3, 3]);
    expect((await api.drain("large", chatId, `?after=${cursor}`)).replies).toEqual(nothing);
    expect((await api.drain("large", chatId)).replies).toEqual(nothing);
  });

  test("loses and repeats nothing while messages arrive on every replica", async () => {
    const chatId = "keeps-coming";
    const count = 25;
    const sending = Promise.all(
      Array.from({ length: count }, (_, replica) =>
        api.send("fixed", { text: `message ${replica}`, chatId, mode: "async" }, { replica }),
      ),
    );
    const seen: string[] = [];
    let cursor = "0";
    for (let replica = 0; seen.length < count; replica++) {
      const page = await api.drain("fixed", chatId, `?after=${cursor}&wait=20000`, { replica });
      seen.push(...idsOf(page.replies));
      cursor = page.body.cursor ?? cursor;
    }
    await sending;
    expect(new Set(seen).size).toBe(count);
    expect((await api.drain("fixed", chatId, `?after=${cursor}`)).replies).toEqual(nothing);
    expect((await api.drain("fixed", chatId)).replies).toEqual(nothing);
  });

  test("loses and repeats nothing over several pages", async () => {
    const chatId = "paged";
    await fillBuffer(chatId, 101);
    const seen: string[] = [];
    let cursor = "0";
    for (let more = true; more;) {
      const page = await api.drain("fixed", chatId, `?after=${cursor}`);
      seen.push(...idsOf(page.replies));
      cursor = page.body.cursor ?? "";
      more = page.body.more === true;
    }
    expect(seen.length).toBe(101);
    expect(new Set(seen).size).toBe(101);
  });
});

describe("messages of all modes in one chat", () => {
  test("each get their reply by their mode, and the drain has the others in order", async () => {
    const chatId = "mixed";
    const bodyOf = (text: string, change: object = {}) => ({ text, chatId, ...change });
    const release = await holdChat(product.store, fixed, chatId);
    expect((await api.send("fixed", bodyOf("timed out", { timeoutMs: 50 }))).body.status).toBe("pending");
    await api.send("fixed", bodyOf("async", { mode: "async" }), { replica: 1 });
    await api.send("fixed", bodyOf("delivered", { webhookUrl: receiver.url("/delivered") }));
    receiver.answerWith(({ path }) => ({ status: path === "/dead" ? 410 : 204 }));
    await api.send("fixed", bodyOf("dead", { webhookUrl: receiver.url("/dead") }), { replica: 1 });
    const call = api.send("fixed", bodyOf("sync", { timeoutMs: 60_000 }));
    const gone = await openRawCall(api.baseUrl(1), {
      key: product.adminKey,
      project: "fixed",
      json: bodyOf("hung up", { timeoutMs: 60_000 }),
    });
    const textsIn = async () => {
      const rows = await sql<{ text: string }>("SELECT text FROM messages WHERE ticket_id = $1 ORDER BY seq", [
        ticketIdOf(fixed.id, "api", chatId),
      ]);
      return rows.map(({ text }) => text);
    };
    await waitFor(async () => (await textsIn()).length === 7, { what: "all messages to be accepted" });
    gone.hangUp();
    await release();

    const answered = await call;
    expect(answered.texts).toEqual([FIXED]);
    const deliveries = () =>
      sql("SELECT 1 FROM deliveries WHERE ticket_id = $1 AND state IN ('delivered', 'dead')", [
        ticketIdOf(fixed.id, "api", chatId),
      ]);
    await waitFor(async () => (await deliveries()).length === 2, { what: "both callbacks to be over" });
    await waitFor(async () => (await waitingCount(chatId, "fixed")) === 4, { what: "four replies in the drain" });
    const questionOf = async (replies: ReplyItem[]) => {
      const rows = await sql<{ id: string; text: string }>("SELECT id, text FROM messages WHERE ticket_id = $1", [
        ticketIdOf(fixed.id, "api", chatId),
      ]);
      return replies.map(({ inReplyTo }) => rows.find(({ id }) => id === inReplyTo)?.text);
    };
    const { replies } = await api.drain("fixed", chatId);
    const questions = await questionOf(replies);
    // The order of the two pending ones depends on the receiver and the pipeline.
    expect(questions.slice(0, 2)).toEqual(["timed out", "async"]);
    expect(new Set(questions)).toEqual(new Set(["timed out", "async", "hung up", "dead"]));
    expect(replies.map(({ seq }) => seq)).toEqual(replies.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(await questionOf(answered.replies)).toEqual(["sync"]);
    expect((await api.drain("fixed", chatId, "?after=0")).replies).toEqual(nothing);
  });
});

describe("reading without removing", () => {
  test("peek=1 removes nothing", async () => {
    const chatId = "peeked";
    await fillBuffer(chatId, 1);
    const checked = await api.drain("fixed", chatId, "?peek=1");
    expect(checked.texts).toEqual([FIXED]);
    expect(idsOf((await api.drain("fixed", chatId)).replies)).toEqual(idsOf(checked.replies));
  });

  test("peek=1 acknowledges nothing either", async () => {
    const chatId = "peeked-by-cursor";
    await fillBuffer(chatId, 2);
    const { replies } = await api.drain("fixed", chatId, "?peek=1");
    await api.drain("fixed", chatId, `?peek=1&after=${replies[1]?.seq ?? ""}`);
    expect(idsOf((await api.drain("fixed", chatId)).replies)).toEqual(idsOf(replies));
  });

  test("HEAD has no body and removes nothing", async () => {
    const chatId = "headed";
    await fillBuffer(chatId, 1);
    const head = await api.drain("fixed", chatId, "", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    await api.drain("fixed", chatId, "?after=1000", { method: "HEAD" });
    expect((await api.drain("fixed", chatId)).texts).toEqual([FIXED]);
  });
});

describe("a reader that disconnects", () => {
  test("while it waits removes nothing", async () => {
    const chatId = "reader-gone";
    const impatient = new AbortController();
    const polling = api.drain("fixed", chatId, "?wait=30000", { signal: impatient.signal });
    // The poll has reached the process once a later request on another connection has its response.
    await api.drain("fixed", chatId);
    impatient.abort();
    await expect(polling).rejects.toThrow();
    await fillBuffer(chatId, 1);
    expect((await api.drain("fixed", chatId)).texts).toEqual([FIXED]);
  });

  test("during the response leaves the replies to the next reader", async () => {
    const chatId = "reader-gone-reading";
    await fillBuffer(chatId, 1, "large");
    const call = await openRawCall(api.baseUrl(), {
      key: product.adminKey,
      project: "large",
      path: `/api/v1/messages/${chatId}`,
    });
    await call.answerBegins();
    call.hangUp();
    const next = await api.drain("large", chatId, "?wait=20000", { replica: 1 });
    expect(next.texts.map((text) => text.length)).toEqual([LARGE.length]);
  });
});

describe("access to replies", () => {
  test("an unknown chat is empty, not an error", async () => {
    expect(await api.drain("fixed", "never-heard-of")).toMatchObject({
      status: 200,
      body: { ok: true, chatId: "never-heard-of", replies: [], cursor: "0", more: false },
    });
  });

  test("another project finds, removes and acknowledges nothing", async () => {
    const chatId = "private";
    await fillBuffer(chatId, 1);
    const other = await product.store.projects.findByName("other");
    if (other === null) throw new Error("there is no other project");
    const { key } = await issueKey(product.store, {
      name: "reader of the other project",
      scopes: ["messages:read"],
      project: other.id,
      createdBy: "test",
    });
    const url = `${api.baseUrl()}/api/v1/messages/${chatId}`;
    for (const query of ["", "?peek=1", "?after=0", "?after=1000"]) {
      expect(await callApi(`${url}${query}`, { key })).toMatchObject({ status: 200, body: { replies: [] } });
    }
    expect((await api.drain("fixed", chatId)).texts).toEqual([FIXED]);
  });
});

describe("a chatId is preserved in the path:", () => {
  test.each([
    "a/b/c",
    "100 % sure",
    "%2F is not a slash",
    " spaces around ",
    "a+b&c=d?e#f;g",
    "emoji 👩‍👩‍👧‍👦 and é",
    "שלום",
    "..%2f..",
    "__proto__",
    "'\"<>\\^`{|}",
    "x".repeat(200),
  ])("%j", async (chatId) => {
    const sent = await api.send("fixed", { text: "hello", chatId, mode: "async" });
    expect(sent.body.chatId).toBe(chatId);
    const url = `${api.baseUrl(1)}${sent.body.drainUrl ?? ""}?wait=20000`;
    const drained = await callApi(url, { key: product.adminKey, project: "fixed" });
    expect(drained.body.chatId).toBe(chatId);
    expect(drained.texts).toEqual([FIXED]);
  });
});

describe("an uncollected reply", () => {
  const chats = { old: "too-old", young: "young-enough" };

  /** Makes the replies of a chat this old. */
  const age = (chatId: string, interval: string) =>
    sql("UPDATE replies SET created_at = now() - $2::interval WHERE ticket_id = $1", [
      ticketIdOf(fixed.id, "api", chatId),
      interval,
    ]);
  const inTable = async (chatId: string) =>
    (await sql("SELECT 1 FROM replies WHERE ticket_id = $1", [ticketIdOf(fixed.id, "api", chatId)])).length;
  const reads = ["?peek=1", "?after=0", "?peek=1&after=1"];
  const seen = async (chatId: string) =>
    Promise.all(reads.map(async (query) => (await api.drain("fixed", chatId, query)).texts));

  test("is removed from the drain after 7 days and not before, and stays in the ticket", async () => {
    for (const chatId of Object.values(chats)) await fillBuffer(chatId, 1);
    await age(chats.old, "7 days 1 minute");
    await age(chats.young, "6 days 23 hours 59 minutes");
    expect(await seen(chats.old)).toEqual([[], [], []]);
    expect(await seen(chats.young)).toEqual([[FIXED], [FIXED], [FIXED]]);
    expect((await api.drain("fixed", chats.old)).body).toMatchObject({ replies: [], cursor: "0", more: false });
    expect((await api.drain("fixed", chats.old, "?wait=50")).replies).toEqual(nothing);
    // A new one in the same chat is returned alone.
    await api.send("fixed", { text: "once more", chatId: chats.old, mode: "async" });
    expect((await api.drain("fixed", chats.old, "?wait=20000")).texts).toEqual([FIXED]);
    expect((await api.drain("fixed", chats.young)).texts).toEqual([FIXED]);
    expect(await inTable(chats.old)).toBe(2);
  });

  test("is kept for the days of the setting bufferDays, on every replica", async () => {
    const chatId = "other-days";
    await fillBuffer(chatId, 1);
    await age(chatId, "2 days");
    const isThere = (expected: boolean) =>
      waitFor(
        async () => {
          const answers = await Promise.all(
            [0, 1].map((replica) => api.drain("fixed", chatId, "?peek=1", { replica })),
          );
          return answers.every(({ replies }) => (replies.length === 1) === expected);
        },
        { what: `the reply to be ${expected ? "there" : "gone"}` },
      );
    try {
      await product.store.channelsConfig.update("api", { bufferDays: 1 });
      await isThere(false);
      expect((await api.drain("fixed", chatId)).replies).toEqual(nothing);
      await product.store.channelsConfig.update("api", { bufferDays: 3 });
      await isThere(true);
      await age(chatId, "20 days");
      await isThere(false);
      await product.store.channelsConfig.update("api", { bufferDays: 365 });
      await isThere(true);
      expect((await api.drain("fixed", chatId)).texts).toEqual([FIXED]);
    } finally {
      await product.store.channelsConfig.update("api", { bufferDays: 7 });
    }
  });
});

describe("an invalid cursor", () => {
  const INVALID = [
    "",
    " ",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x10",
    "NaN",
    "Infinity",
    "null",
    "１",
    "1 ",
    "1%00",
    "1;DROP TABLE replies",
    "1' OR '1'='1",
    "[1]",
    '{"$gt":0}',
    "9007199254740993",
    "9".repeat(16),
    "9".repeat(5_000),
  ];

  test("is 400, and neither removes nor acknowledges anything", async () => {
    const chatId = "hostile-cursors";
    await fillBuffer(chatId, 2);
    for (const cursor of INVALID) {
      const query = `?after=${cursor.includes("%") ? cursor : encodeURIComponent(cursor)}`;
      expectProblem(await api.drain("fixed", chatId, query), "invalid_request", ["/after"]);
    }
    for (const query of ["?after=1&after=2", "?after=0&after=0"]) {
      expectProblem(await api.drain("fixed", chatId, query), "invalid_request", ["/after"]);
    }
    expect((await api.drain("fixed", chatId)).replies.length).toBe(2);
  });

  test("beyond the end of the chat is 400 too, and acknowledges nothing", async () => {
    const chatId = "cursor-beyond";
    await fillBuffer(chatId, 2);
    const { cursor = "" } = (await api.drain("fixed", chatId, "?after=000")).body;
    for (const beyond of [String(Number(cursor) + 1), "9".repeat(15), "0".repeat(5) + "9".repeat(10)]) {
      expectProblem(await api.drain("fixed", chatId, `?after=${beyond}`), "invalid_request", ["/after"]);
    }
    expect((await api.drain("fixed", chatId)).replies.length).toBe(2);
    expect((await api.drain("fixed", chatId, `?after=${cursor}`)).body).toMatchObject({ replies: [], cursor });
  });

  test("of another chat acknowledges nothing there", async () => {
    await fillBuffer("cursor-of", 3);
    const { cursor = "" } = (await api.drain("fixed", "cursor-of", "?after=0")).body;
    await fillBuffer("cursor-for", 1);
    await api.drain("fixed", "cursor-of", `?after=${cursor}`);
    expect((await api.drain("fixed", "cursor-for")).texts).toEqual([FIXED]);
  });
});
