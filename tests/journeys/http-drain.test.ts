import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { ReplyItem } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { waitFor } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { openRawCall } from "./support/open-raw-call.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
/** Two of these are more than the 8 MB of one answer, and one is more than sockets take on their own. */
const LARGE = "0123456789abcdef".repeat((7 * 1024 * 1024) / 16);

let product: Product;
let api: ApiClient;
let fixed: Project;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  fixed = await addProject(product.store, "fixed", { fixedReply: FIXED });
  await addProject(product.store, "other", { fixedReply: "the other project's answer" });
  await addProject(product.store, "large", { fixedReply: LARGE });
});

afterAll(() => product.stop());

const nothing: ReplyItem[] = [];
const idsOf = (replies: ReplyItem[]) => replies.map(({ id }) => id);

/** Sends async messages one after the other and waits until all their replies are there, without taking one. */
async function fillBuffer(chatId: string, count: number, project = "fixed"): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    expect((await api.send(project, { text: `message ${sent}`, chatId, mode: "async" })).status).toBe(202);
  }
  await waitFor(async () => (await waitingCount(chatId, project)) === count, { what: `${count} replies in ${chatId}` });
}

/** How many replies wait in a chat, read page by page. */
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
  test("gets 202 with exactly the documented body, and where its replies will be", async () => {
    const answer = await api.send("fixed", { text: "hello", chatId: "async 1", mode: "async" });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe("/api/v1/messages/async%201");
    expect(answer.body).toEqual({
      ok: true,
      mode: "async",
      status: "queued",
      chatId: "async 1",
      ticketId: ticketIdOf(fixed.id, "api", "async 1"),
      drainUrl: "/api/v1/messages/async%201",
    });
  });

  test("is answered in the drain, whichever replica is asked", async () => {
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
  test("a long poll that began before the message gets its reply", async () => {
    const chatId = "polled";
    const polling = api.drain("fixed", chatId, "?wait=30000", { replica: 1 });
    await api.send("fixed", { text: "hello", chatId, mode: "async" });
    expect((await polling).texts).toEqual([FIXED]);
  });

  test("a long poll ends empty when nothing comes", async () => {
    const answer = await api.drain("fixed", "nothing-comes", "?wait=100");
    expect(answer).toMatchObject({ status: 200, body: { ok: true, replies: [], cursor: "0", more: false } });
  });

  test("wait=0 answers at once, also with nothing", async () => {
    expect(await api.drain("fixed", "nothing-there", "?wait=0")).toMatchObject({ status: 200, body: { replies: [] } });
  });

  test("a long poll by cursor waits for what comes after the cursor", async () => {
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
  test("takes what it returns: nobody finds it again", async () => {
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
    const places = (await api.drain("fixed", chatId)).replies.map(({ seq }) => seq);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test("gives each reply to exactly one of several readers", async () => {
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

  test("returns at most 100 replies and says that there are more", async () => {
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

  test("returns at most 8 MB, but always a reply when there is one", async () => {
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
  test("returns replies again and again until they are acknowledged", async () => {
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

  test("goes through more than one page without a loss or a repeat", async () => {
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

describe("looking without taking", () => {
  test("peek=1 takes nothing", async () => {
    const chatId = "peeked";
    await fillBuffer(chatId, 1);
    const looked = await api.drain("fixed", chatId, "?peek=1");
    expect(looked.texts).toEqual([FIXED]);
    expect(idsOf((await api.drain("fixed", chatId)).replies)).toEqual(idsOf(looked.replies));
  });

  test("peek=1 acknowledges nothing either", async () => {
    const chatId = "peeked-by-cursor";
    await fillBuffer(chatId, 2);
    const { replies } = await api.drain("fixed", chatId, "?peek=1");
    await api.drain("fixed", chatId, `?peek=1&after=${replies[1]?.seq ?? ""}`);
    expect(idsOf((await api.drain("fixed", chatId)).replies)).toEqual(idsOf(replies));
  });

  test("HEAD has no body and takes nothing", async () => {
    const chatId = "headed";
    await fillBuffer(chatId, 1);
    const head = await api.drain("fixed", chatId, "", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    await api.drain("fixed", chatId, "?after=1000", { method: "HEAD" });
    expect((await api.drain("fixed", chatId)).texts).toEqual([FIXED]);
  });
});

describe("a reader that hangs up", () => {
  test("while it waits takes nothing", async () => {
    const chatId = "reader-gone";
    const impatient = new AbortController();
    const polling = api.drain("fixed", chatId, "?wait=30000", { signal: impatient.signal });
    // The poll has reached the process when a later request on another connection has been answered.
    await api.drain("fixed", chatId);
    impatient.abort();
    await expect(polling).rejects.toThrow();
    await fillBuffer(chatId, 1);
    expect((await api.drain("fixed", chatId)).texts).toEqual([FIXED]);
  });

  test("while the answer is on its way leaves the replies to the next reader", async () => {
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

describe("whose replies", () => {
  test("an unknown chat is empty, not an error", async () => {
    expect(await api.drain("fixed", "never-heard-of")).toMatchObject({
      status: 200,
      body: { ok: true, chatId: "never-heard-of", replies: [], cursor: "0", more: false },
    });
  });

  test("another project finds nothing, and takes and acknowledges nothing", async () => {
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

describe("a chatId survives the path:", () => {
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
