import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { TICKET_LIMITS, answerStatsSchema, statsSchema, ticketDetailSchema, ticketItemSchema } from "@svc/contracts";
import type {
  AnswerStats,
  QueueHealth,
  Scope,
  SentTestMessage,
  Stats,
  TicketDetail,
  TicketHistory,
  TicketItem,
} from "@svc/contracts";
import { newId, ticketIdOf } from "@svc/store";
import type { NewAgent, Project } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, cursorOf, documentOf } from "./support/create-kb-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdChat } from "./support/hold-chat.ts";
import { NAUGHTY_STRINGS } from "./support/naughty-strings.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let api: ApiClient;
let north: Project;
let south: Project;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  north = await addProject(product.store, "north", { fixedReply: "We look into it.\n\n| a |\n|---|\n| 1 |" });
  south = await addProject(product.store, "south", { reviewPolicy: "review" }, { handoffText: "A colleague answers." });
});

afterAll(() => product.stop());

/** Calls `/api/v1/admin/tickets` and paths below it as an administrator, alternating between replicas. */
let calls = 0;
const call = (path: string, request: ApiRequest = {}) =>
  callApi(`${api.baseUrl(calls++ % 2)}/api/v1/admin/tickets${path}`, {
    key: product.adminKey,
    project: "north",
    ...request,
  });
const itemOf = ({ body }: ApiAnswer) => (body as unknown as { item: TicketDetail }).item;
const itemsOf = ({ body }: ApiAnswer) => (body as unknown as { items: TicketItem[] }).items;
const listed = async (query: string | Record<string, string>, request: ApiRequest = {}) => {
  const answer = await call(`?${new URLSearchParams(query).toString()}`, request);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  return itemsOf(answer).map(({ id }) => id);
};

/** Sends a message and returns the id of its ticket, once the pipeline has processed it. */
async function converse(
  text: string,
  { project = "north", ...more }: Record<string, unknown> & { project?: string } = {},
) {
  const { body } = await api.send(project, { text, ...more });
  return (body as unknown as { ticketId: string }).ticketId;
}

async function keyOf(project: Project, scopes: Scope[]): Promise<string> {
  const { key } = await issueKey(product.store, { name: "tickets", project: project.id, scopes, createdBy: "test" });
  return key;
}

describe("a ticket", () => {
  test("200: has its record, messages and events, and nothing else", async () => {
    const meta = { shop: "one", __proto__: 1 };
    const id = await converse("Where is my parcel?\nSecond line.", { userId: "u-7", meta });
    const answer = await call(`/${id}`);
    const item = itemOf(answer);
    expect(ticketDetailSchema.strict().parse(item)).toEqual(item);
    expect(answer.headers.get("etag")).toBe(`"${item.version}"`);
    expect(item).toMatchObject({
      id,
      homeProject: "north",
      project: "north",
      channelId: "api",
      subject: "Where is my parcel?",
      status: "pending",
      stage: "done",
      priority: "normal",
      assignee: null,
      tags: [],
      draft: null,
      more: { messages: false, replies: false, events: false },
    });
    expect(item.messages).toMatchObject([
      { text: "Where is my parcel?\nSecond line.", state: "answered", mode: "sync" },
    ]);
    expect(item.replies).toMatchObject([
      { type: "message", author: "agent", inReplyTo: item.messages[0]?.id },
      { type: "attachment", mime: expect.stringMatching(/spreadsheet/), sizeBytes: expect.any(Number) },
    ]);
    expect(answer.text).not.toContain("base64");
    expect(item.events).toMatchObject([{ actor: "pipeline", messageId: item.messages[0]?.id }]);
    expect(item.firstReplyAt).not.toBeNull();
    expect((await call(`/${id}`, { method: "HEAD" })).headers.get("etag")).toBe(answer.headers.get("etag"));
    // The list has it without its contents.
    const [inList] = itemsOf(await call(`?chatId=${item.chatId}`));
    const { messages, replies, events, draft, modelUsage, modelCalls, toolCalls, possibleDuplicates, more, ...record } =
      item;
    expect([modelUsage.calls, modelCalls, toolCalls, possibleDuplicates]).toEqual([0, [], [], []]);
    const lastMessage = { text: "We look into it. a 1", author: "agent", actor: null, at: item.replies[0]?.createdAt };
    // Customers are indexed shortly after their message.
    expect(inList).toEqual({ ...record, customer: inList?.customer, lastMessage, waitingSince: null });
    expect(ticketItemSchema.strict().parse(inList)).toEqual(inList);
    expect([messages, replies, events, more].length + Number(draft === null)).toBe(5);
  });

  test("200: is downloaded as text, in which no customer's message can imitate an entry", async () => {
    const text = "Hi.\r\n2026-01-01 00:00 UTC  Operator\u2028  We refund you.\u001b[2J\u202e";
    const meta = { customer: { name: "Mallory\n2026-01-01" } };
    const id = await converse(text, { meta });
    const answer = await call(`/${id}/transcript`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename=conversation-${id.slice(0, 8)}.txt`);
    const at = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d UTC`;
    const lines = answer.text.split("\n");
    const heads = lines.filter((line) => /^\d/.test(line));
    expect(heads).toEqual([
      expect.stringMatching(new RegExp(`^${at}  Mallory 2026-01-01$`)),
      expect.stringMatching(new RegExp(`^${at}  Agent$`)),
      expect.stringMatching(new RegExp(`^${at}  Agent$`)),
    ]);
    expect(lines).toEqual(
      expect.arrayContaining(["  Hi.", "  2026-01-01 00:00 UTC  Operator", "    We refund you.[2J"]),
    );
  });

  test("200: has its draft while held for review, which is stale once the customer writes again", async () => {
    const chatId = `held-${newId()}`;
    const id = await converse("What is the meaning of Zyxgrubl?", { project: "south", chatId });
    const item = itemOf(await call(`/${id}`, { project: "south" }));
    expect(item).toMatchObject({ stage: "review", status: "open", draft: { isStale: false } });
    expect(item.draft?.covers).toEqual(item.messages.map((message) => message.id));
    expect(item.replies).toMatchObject([{ author: "system", text: "A colleague answers." }]);
    // While the chat is locked, the pipeline cannot create a new draft before this one is checked.
    const release = await holdChat(product.store, south, chatId);
    await product.store.messages.accept(south.id, {
      channelId: "api",
      chatId,
      userId: null,
      text: "What is the colour of Zyxgrubl?",
      timestampMs: Date.now(),
      attachments: null,
      channelMeta: {},
      mode: "async",
      callInstance: null,
      callback: null,
    });
    expect(itemOf(await call(`/${id}`, { project: "south" })).draft).toMatchObject({
      isStale: true,
      covers: item.draft?.covers,
    });
    await release();
    const drafted = await waitFor(
      async () => {
        const now = itemOf(await call(`/${id}`, { project: "south" }));
        return now.draft?.isStale === false && now.draft.covers.length === 2 ? now : null;
      },
      { what: "the new draft" },
    );
    expect(drafted.version).toBeGreaterThan(item.version);
  });

  test("200: has the stage received before it is opened", async () => {
    const chatId = `early-${newId()}`;
    const id = ticketIdOf(north.id, "api", chatId);
    // Committed like a channel does, at a moment without a running pipeline.
    await queryDatabase(
      product.databaseUrl,
      `WITH chat AS (INSERT INTO chats (ticket_id, project_id, channel_id, chat_id, last_seq) VALUES ($1, $2, 'api', $3, 1))
       INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, mode, due_at, not_before)
       VALUES ($4, $2, $1, 1, E'  Early\\nbird', 0, '{"a":1}', 'async', now() + interval '1 day', now() + interval '1 day')`,
      [id, north.id, chatId, newId()],
    );
    const answer = await call(`/${id}`);
    expect([answer.status, answer.headers.get("etag")]).toEqual([200, '"0"']);
    const item = itemOf(answer);
    expect(ticketDetailSchema.strict().parse(item)).toEqual(item);
    expect(item).toMatchObject({
      id,
      chatId,
      stage: "received",
      status: "open",
      subject: "Early",
      channel_meta: { a: 1 },
    });
    expect(item.messages).toHaveLength(1);
    expect(await listed({ chatId })).toEqual([]);
    expectProblem(await call(`/${id}`, { project: "south" }), "not_found");
    expectProblem(await call(`/${id}`, { method: "PATCH", json: { tags: [] } }), "not_found");
  });

  test("200: has the newest 200 messages and events, and whether there are more", async () => {
    const id = await converse("many");
    await queryDatabase(
      product.databaseUrl,
      `INSERT INTO ticket_events (ticket_id, project_id, actor) SELECT $1, $2, 'test ' || n FROM generate_series(1, 200) n`,
      [id, north.id],
    );
    const item = itemOf(await call(`/${id}`));
    expect(item.more).toEqual({ messages: false, replies: false, events: true });
    expect([item.events.length, item.events[0]?.actor, item.events.at(-1)?.actor]).toEqual([200, "test 1", "test 200"]);
    // Older ones are paged, and the other list is only returned if requested.
    const before = await call(`/${id}/history?eventsBefore=${item.events[0]?.id}`);
    const older = (before.body as unknown as { item: TicketHistory }).item;
    expect(older).toMatchObject({
      messages: [],
      replies: [],
      more: { messages: false, replies: false, events: false },
    });
    expect(older.events.map(({ actor }) => actor)).toContain("pipeline");
    const last = await call(`/${id}/history?messagesBefore=999&repliesBefore=999&eventsBefore=999999999999999`);
    expect((last.body as unknown as { item: TicketHistory }).item).toMatchObject({
      messages: [{ text: "many" }],
      events: { length: 200 },
      more: { messages: false, events: true },
    });
    expectProblem(await call(`/${id}/history?eventsBefore=x`), "invalid_request", ["/eventsBefore"]);
    expectProblem(await call(`/${id}/history`, { project: "south" }), "not_found");
  });

  test("200: has at most 4 MB of the newest messages and events, however compressible they are", async () => {
    const id = await converse("large");
    await queryDatabase(
      product.databaseUrl,
      `INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, state, due_at, finished_at)
       SELECT gen_random_uuid(), $2, $1, 100 + n, 'large ' || n, 0, jsonb_build_object('a', repeat('a', 60000)), 'answered',
         now(), now() FROM generate_series(1, 100) n`,
      [id, north.id],
    );
    const answer = await call(`/${id}`);
    const { messages, more } = itemOf(answer);
    expect([messages.at(-1)?.text, more.messages]).toEqual(["large 100", true]);
    expect(messages.length).toBeGreaterThan(50);
    expect(JSON.stringify(messages.map(({ meta }) => meta)).length).toBeLessThanOrEqual(TICKET_LIMITS.shownMaxBytes);
  });

  test("200: is updated by its version with an event; 412 and 400 change nothing", async () => {
    const id = await converse("change me");
    const { version } = itemOf(await call(`/${id}`));
    const headers = { "If-Match": `"${version}"` };
    const json = { subject: "Changed", priority: "urgent", tags: ["vip", " vip ", "a:b"] };
    const changed = await call(`/${id}`, { method: "PATCH", json, headers });
    expect([changed.status, changed.headers.get("etag")]).toEqual([200, `"${version + 1}"`]);
    expect(itemOf(changed)).toMatchObject({ subject: "Changed", priority: "urgent", tags: ["vip", "a:b"] });
    expect(await listed({ tag: "a:b" })).toEqual([id]);
    expect((await listed({ sort: "-priority", limit: "1" }))[0]).toBe(id);
    const stale = await call(`/${id}`, { method: "PATCH", json: { tags: [] }, headers });
    expectProblem(stale, "version_conflict");
    expect(stale.headers.get("etag")).toBe(`"${version + 1}"`);
    const bad = { subject: "a\nb", priority: "now", tags: ["", "x".repeat(51)], status: "open" };
    const pointers = ["/subject", "/priority", "/tags/0", "/tags/1", "/status"];
    expectProblem(await call(`/${id}`, { method: "PATCH", json: bad }), "invalid_request", pointers);
    const many = { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) };
    expectProblem(await call(`/${id}`, { method: "PATCH", json: many }), "invalid_request", ["/tags"]);
    const item = itemOf(await call(`/${id}`));
    expect(item).toMatchObject({ subject: "Changed", tags: ["vip", "a:b"], version: version + 1 });
    expect(item.events.at(-1)).toMatchObject({ data: { decision: "change", change: { priority: "urgent" } } });
  });

  test("404: of another project it is indistinguishable from a missing one", async () => {
    const id = await converse("secret of the north");
    const missing = await call(`/${newId()}`, { project: "south" });
    for (const request of [{}, { method: "PATCH", json: { tags: ["stolen"] } }]) {
      const answer = await call(`/${id}`, { project: "south", ...request });
      expectProblem(answer, "not_found");
      const { requestId: _, instance: __, ...body } = answer.body;
      const { requestId: ___, instance: ____, ...missingBody } = missing.body;
      expect(body).toEqual(missingBody);
    }
    for (const bad of ["x", "..%2f", "%00", "'; DROP TABLE tickets; --"]) {
      expect((await call(`/${encodeURIComponent(bad)}`)).status).toBeGreaterThanOrEqual(400);
    }
    expect(await listed({ q: "secret" }, { project: "south" })).toEqual([]);
    expect(itemOf(await call(`/${id}`)).tags).toEqual([]);
  });

  test("200: from another project, has the name of that project only for an administrator", async () => {
    const id = await converse("to be handed on");
    expect((await call(`/${id}/note`, { json: { text: "north's own" } })).status).toBe(200);
    const reroute = (from: string, project: string) =>
      call(`/${id}/reroute`, { project: from, json: { agentId: null, project } });
    expect((await reroute("north", "south")).status).toBe(200);
    expectProblem(await call(`/${id}`), "not_found");
    expect(itemOf(await call(`/${id}`, { project: "south" }))).toMatchObject({
      homeProject: "north",
      project: "south",
    });
    const key = await keyOf(south, ["tickets:read"]);
    const item = itemOf(await call(`/${id}`, { project: "south", key }));
    expect(item).toMatchObject({ homeProject: null, project: "south" });
    expect(item.messages).toHaveLength(1);
    // Events of the other project only show that something happened.
    const [run, note, rerouted] = item.events;
    expect(item.events).toHaveLength(3);
    for (const event of [run, note]) expect(event?.data).toEqual({});
    expect(run?.moves.length).toBeGreaterThan(0);
    expect(run?.moves.map(({ why }) => why)).toEqual(run?.moves.map(() => ""));
    expect(rerouted?.data).toMatchObject({ decision: "reroute", project: "south" });
    expect(JSON.stringify(item)).not.toMatch(/"north"|north's own|north-agent/);
    const whole = itemOf(await call(`/${id}`, { project: "south" }));
    expect(JSON.stringify(whole.events)).toContain("north's own");
    // Back in its own project, it has its own events and not those of the other project.
    await call(`/${id}`, { project: "south", method: "PATCH", json: { tags: ["south's own"] } });
    expect((await reroute("south", "north")).status).toBe(200);
    const home = itemOf(await call(`/${id}`, { key: await keyOf(north, ["tickets:read"]) }));
    const message = home.events.map(({ data }) => data["decision"] ?? Object.keys(data).length > 0);
    expect(message).toEqual([true, "note", false, false, "reroute"]);
  });
});

describe("the customer of a ticket", () => {
  test("200: has the sanitized name and email address of `meta`, and is found by them", async () => {
    const meta = { user: { name: "Zo\u00eb \u202eQuillfeather\n" }, email: "zoe@quill.example" };
    const id = await converse("Where is it?", { userId: "member-9041", meta });
    const customer = { name: "Zo\u00eb Quillfeather", email: "zoe@quill.example" };
    expect(itemOf(await call(`/${id}`))).toMatchObject({ customer, origin: null, channel_meta: meta });
    for (const q of ["zoe quillf", "zoe@quill.example", "quill", "member-9041", "9041"]) {
      await waitFor(async () => (await listed({ q })).includes(id), { what: `a search for ${q}` });
    }
    expect(await listed({ q: "quillfeather" }, { project: "south" })).toEqual([]);
  });

  test("200: `meta` does not make a ticket a task, nor create a customer from invalid data", async () => {
    const id = await converse("Hello?", { meta: { origin: "tool-server", name: ["Zo\u00eb"] } });
    expect(itemOf(await call(`/${id}`))).toMatchObject({ customer: null, origin: null });
  });
});

describe("the list of tickets", () => {
  test("200: is paged consistently while tickets are created and changed", async () => {
    const user = `walker-${newId()}`;
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push(await converse(`walk ${index}`, { userId: user }));
    const read: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: ApiAnswer = await call(`?userId=${user}&sort=createdAt&limit=2&cursor=${cursor}`);
      read.push(...itemsOf(page).map(({ id }) => id));
      cursor = cursorOf(page);
      // A listed and an unlisted ticket are changed.
      for (const id of [ids[0], ids[4]]) await call(`/${id}`, { method: "PATCH", json: { tags: [`t${calls}`] } });
    }
    expect(read).toEqual(ids);
    // Tags move no ticket: the order is that of what was said.
    expect((await listed({ userId: user, limit: "2" })).toSorted()).toEqual([ids[3], ids[4]].toSorted());
    expect(await listed({ userId: user, assignee: "none", status: "pending", sort: "createdAt" })).toEqual(ids);
    expect(await listed({ userId: user, needsReview: "1" })).toEqual([]);
    expect(await listed({ userId: user, createdTo: "2020-01-01" })).toEqual([]);
    expect(await listed({ userId: user, createdFrom: "2020-01-01T00:00:00+01:00", sort: "createdAt" })).toEqual(ids);
  });

  test("200: soon finds words in messages and replies, ignoring case and accents", async () => {
    const word = `zitrone${newId().replaceAll("-", "").slice(-12)}`;
    const id = await converse(`Die Größe meiner ${word.toUpperCase()} fehlt, où est-elle?`);
    await waitFor(async () => (await listed({ q: word })).length > 0, { what: "the words" });
    for (const q of [`grosse ${word}`, `GRÖSSE ${word.slice(0, 15)}`, `ou, ${word}!`, `look ${word}`, `${word} d`]) {
      expect({ q, found: await listed({ q }) }).toEqual({ q, found: [id] });
    }
    for (const q of [`${word} apple`, "???", `${word}x`])
      expect({ q, found: await listed({ q }) }).toEqual({ q, found: [] });
    expect(await listed({ q: word, status: "resolved" })).toEqual([]);
    expect(await listed({ q: word }, { project: "south" })).toEqual([]);
  });

  test("200: of all projects is paged in one order, and needs an administrator's key", async () => {
    const user = `all-${newId()}`;
    const ids: string[] = [];
    for (const project of ["north", "south", "north", "south", "north"]) {
      ids.push(await converse("about all", { project, userId: user }));
    }
    const query = `allProjects=1&userId=${user}`;
    const read: TicketItem[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: ApiAnswer = await call(`?${query}&sort=createdAt&limit=2&cursor=${cursor}`);
      read.push(...itemsOf(page));
      cursor = cursorOf(page);
    }
    expect(read.map(({ id, project }) => [id, project])).toEqual(
      ids.map((id, index) => [id, index % 2 === 0 ? "north" : "south"]),
    );
    const count = async (more: string) => (await call(`/count?${query}${more}`)).body;
    expect(await count("")).toMatchObject({ item: { count: 5, isMore: false } });
    expect(await count("&needsReview=1")).toMatchObject({ item: { count: 2 } });
    const tag = `both ${user}`;
    for (const [id, project] of [
      [ids[0], "north"],
      [ids[1], "south"],
    ] as const) {
      await call(`/${id}`, { method: "PATCH", json: { tags: [tag] }, project });
    }
    expect(await listed({ allProjects: "1", tag, sort: "createdAt" })).toEqual(ids.slice(0, 2));
    // Once the ticket list is up to date, it uses its index of tags.
    await waitFor(
      async () =>
        (
          await queryDatabase<{ count: number }>(
            product.databaseUrl,
            "SELECT count(*)::integer AS count FROM ticket_list WHERE cardinality(tag_keys) = 1 AND ticket_id = ANY ($1)",
            [ids],
          )
        )[0]?.count === 2,
      { what: "the tags in the list" },
    );
    expect(await listed({ allProjects: "1", tag, sort: "createdAt" })).toEqual(ids.slice(0, 2));
    expectProblem(await call(`?${query}&q=about&chatId=x`), "invalid_request", ["/q", "/chatId"]);
    const scoped = await keyOf(north, ["tickets:*"]);
    for (const path of ["", "/count"])
      expectProblem(await call(`${path}?${query}`, { key: scoped }), "insufficient_scope");
  });

  test("400: reports all errors of the query", async () => {
    const query = new URLSearchParams({
      limit: "0",
      cursor: "x",
      sort: "subject; DROP TABLE tickets",
      status: "closed",
      stage: "x",
      channelId: "fax",
      agentId: "me",
      assignee: "x".repeat(321),
      priority: "1",
      tag: "a\nb",
      language: "english",
      userId: "\u0000",
      createdFrom: "yesterday",
      updatedTo: "2026-13-01",
      needsReview: "yes",
    });
    const pointers = [...query.keys()].map((name) => `/${name}`);
    expectProblem(await call(`?${query.toString()}`), "invalid_request", pointers);
    expectProblem(await call("?status=open&status=spam"), "invalid_request", ["/status"]);
    expectProblem(await call("?status[$ne]=open&q=a&q=b"), "invalid_request", ["/q"]);
  });

  test("400: rejects a cursor that was changed, or of another order or list", async () => {
    for (let index = 0; index < 3; index++) await converse(`cursor ${index}`);
    const cursor = cursorOf(await call("?limit=1"));
    const agents = await callApi(`${api.baseUrl()}/api/v1/admin/agents?limit=1`, {
      key: product.adminKey,
      project: "north",
    });
    for (const query of [
      `sort=createdAt&cursor=${cursor}`,
      `cursor=${cursor?.slice(0, -1)}`,
      `cursor=A${cursor}`,
      `cursor=${"A".repeat(38)}`,
      `cursor=${cursorOf(agents) ?? "AAAA"}`,
      `cursor=${cursor}&cursor=${cursor}`,
    ]) {
      expectProblem(await call(`?limit=1&${query}`), "invalid_request", ["/cursor"]);
    }
    expect((await call(`?limit=1&cursor=${cursor}`)).status).toBe(200);
  });

  test("treats any search as text, which at worst finds nothing", async () => {
    const before = await listed({ limit: "200" });
    const hostile = [
      "' OR 1=1 --",
      "\\', 'x'::tsquery",
      "a & !b | c:*",
      "%_",
      "{}",
      "\"}'",
      ...NAUGHTY_STRINGS.filter((_, index) => index % 25 === 0),
    ];
    for (const text of hostile) {
      for (const name of ["q", "userId", "chatId", "assignee", "tag"]) {
        const answer = await call(`?${new URLSearchParams({ [name]: text }).toString()}`);
        expect([200, 400]).toContain(answer.status);
        if (answer.status === 400) expectProblem(answer, "invalid_request", [`/${name}`]);
        else if (name !== "q" && text !== "" && text !== "none") expect(itemsOf(answer)).toEqual([]);
      }
    }
    expect(await listed({ limit: "200" })).toEqual(before);
  });

  test("403: needs its scope", async () => {
    const id = await converse("scoped");
    const reader = await keyOf(north, ["tickets:read"]);
    const writer = await keyOf(north, ["tickets:write"]);
    for (const path of ["", `/${id}`]) {
      expectProblem(await call(path, { key: writer }), "insufficient_scope");
      expect((await call(path, { key: reader })).status).toBe(200);
    }
    expectProblem(await call(`/${id}`, { key: reader, method: "PATCH", body: "{" }), "insufficient_scope");
    expect((await call(`/${id}`, { key: writer, method: "PATCH", json: { tags: ["w"] } })).status).toBe(200);
    expectProblem(await call("", { method: "POST", json: {} }), "method_not_allowed");
  });
});

test("202: a test message is answered like any other, in its own chat", async () => {
  const send = (json: object, request: ApiRequest = {}) =>
    callApi(`${api.baseUrl(calls++ % 2)}/api/v1/admin/test-messages`, {
      key: product.adminKey,
      project: "north",
      method: "POST",
      json,
      ...request,
    });
  const answers = [await send({ text: "Is anybody there?" }), await send({ text: "Is anybody there?" })];
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  const [one, other] = answers.map(({ body }) => (body as unknown as { item: SentTestMessage }).item);
  expect(one?.ticketId).not.toBe(other?.ticketId);
  await waitFor(
    async () => {
      const { channel_meta, replies } = itemOf(await call(`/${one?.ticketId}`));
      return replies.length > 0 && channel_meta["origin"] === "test";
    },
    { what: "the answer in the ticket" },
  );
  expectProblem(await send({ text: " " }), "invalid_request", ["/text"]);
  expectProblem(await send({ text: "x".repeat(2_001) }), "invalid_request", ["/text"]);
  const key = await keyOf(north, ["tickets:*"]);
  expectProblem(await send({ text: "x" }, { key }), "insufficient_scope");
});

describe("statistics", () => {
  const stats = async (query: string, request: ApiRequest = {}) =>
    callApi(`${api.baseUrl(calls++ % 2)}/api/v1/admin/stats${query}`, {
      key: product.adminKey,
      project: "counted",
      ...request,
    });

  const messagesOf = ({ body }: ApiAnswer) => (body as unknown as { messages: number }).messages;

  test("200: count incoming messages and their outcomes, by channel and by agent", async () => {
    const project = await addProject(product.store, "counted", { reviewPolicy: "review" });
    const [held] = await product.store.agents.list(project.id);
    const chatId = `c-${newId()}`;
    await converse("one", { project: "counted", chatId });
    await converse("two", { project: "counted", chatId });
    await product.store.agents.update(project.id, { id: held?.id ?? "" }, { fixedReply: "Yes.", reviewPolicy: "auto" });
    await waitFor(async () => (await api.send("counted", { text: "three" })).status === 200, {
      what: "the agent to answer by itself",
    });
    const read = await waitFor(
      async () => {
        const { body } = await stats("");
        const found = body as unknown as { messages: number; automatic: number; handoffs: number };
        return found.automatic === 1 && found.messages === found.automatic + found.handoffs ? found : null;
      },
      { what: "the figures" },
    );
    const { ok: _, ...figures } = read as unknown as { ok: boolean };
    expect(statsSchema.strict().parse(figures)).toEqual(figures);
    const times = { p50: expect.any(Number), p90: expect.any(Number) };
    expect(read).toMatchObject({
      ok: true,
      automatic: 1,
      edits: 0,
      firstReplyMs: times,
      topUnanswered: expect.any(Array),
    });
    expect(read.handoffs).toBeGreaterThanOrEqual(2);
    expect(read).toMatchObject({
      byChannel: [{ channelId: "api", messages: read.messages, automatic: 1 }],
      byAgent: [{ agentId: held?.id, name: "counted-agent", messages: read.messages }],
    });
    expect((await stats("?to=2026-01-01")).body).toMatchObject({
      messages: 0,
      byAgent: [],
      firstReplyMs: { p50: null },
    });
    expect((await stats("?channelId=widget")).body).toMatchObject({ messages: 0 });
    expect((await stats(`?agentId=${held?.id}&channelId=api`)).body).toMatchObject({ messages: read.messages });
    expect((await stats("", { project: "north" })).body).not.toMatchObject({ messages: 0 });
    // One point per hour of a short period, per day of a longer one and per week of a long one, in the caller's time
    // zone.
    const seriesOf = async (query: string) => ((await stats(query)).body as unknown as Stats).series;
    const days = (read as unknown as Stats).series;
    expect(days).toMatchObject({ unit: "day" });
    expect(days.points.reduce((sum, { messages }) => sum + messages, 0)).toBe(read.messages);
    expect(await seriesOf("?from=2026-10-24T12:00:00Z&to=2026-10-26T12:00:00Z&timeZone=Europe/Berlin")).toMatchObject({
      unit: "hour",
      points: { length: 48, 0: { at: "2026-10-24T12:00:00.000Z", messages: 0, firstReplyMs: { p50: null } } },
    });
    const positions = (await seriesOf("?from=2026-10-23&to=2026-10-28&timeZone=Europe/Berlin")).points;
    expect(positions.map(({ at }) => at)).toEqual([
      "2026-10-22T22:00:00.000Z",
      "2026-10-23T22:00:00.000Z",
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T23:00:00.000Z",
      "2026-10-26T23:00:00.000Z",
      "2026-10-27T23:00:00.000Z",
    ]);
    const weeks = await seriesOf("?from=2025-12-01&to=2026-11-30&timeZone=America/New_York");
    expect(weeks).toMatchObject({ unit: "week", points: { 0: { at: "2025-11-24T05:00:00.000Z" } } });
    // A message that was processed again counts once, by its last run.
    await queryDatabase(
      product.databaseUrl,
      `INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, at, moves, data)
       SELECT ticket_id, project_id, message_id, actor, at, moves, '{"gate":{"sends":false}}' FROM ticket_events
       WHERE project_id = $1 AND data #>> '{gate,sends}' = 'true'`,
      [project.id],
    );
    expect((await stats("")).body).toMatchObject({
      messages: read.messages,
      automatic: 0,
      handoffs: read.handoffs + 1,
    });
    // A moved ticket counts in the project that works on it.
    const given = await converse("given away");
    const target = { agentId: null, project: "counted" };
    expect((await call(`/${given}/reroute`, { json: target })).status).toBe(200);
    await waitFor(async () => messagesOf(await stats("")) === read.messages + 1, {
      what: "the ticket to count",
    });
  });

  test("200: count the outcomes of sent and held answers, without greetings and fixed replies", async () => {
    const { project } = await product.store.projects.ensure("answered");
    const kbs = createKbClient(product, "answered");
    const kb = await kbs.makeKb();
    const text = "# Shipping\n\nWe ship parcels to Iceland within ten days.\n";
    await kbs.settled(kb.id, documentOf(await kbs.add(kb.id, { text, title: "Shipping", key: "shipping" })).id);
    const answers = async (query = "") => {
      const { status, body } = await stats(`/answers${query}`, { project: "answered" });
      expect(status).toBe(200);
      const { ok: _, ...figures } = body as unknown as AnswerStats & { ok: boolean };
      expect(answerStatsSchema.strict().parse(figures)).toEqual(figures);
      return figures.agents;
    };
    expect(await answers()).toEqual([]);
    const settings: NewAgent = { name: "Shipping", kbIds: [kb.id], reviewPolicy: "auto_if", autoThreshold: 0 };
    const agent = await product.store.agents.insert(project.id, settings);
    const ask = (message: string, chatId: string = newId()) => converse(message, { project: "answered", chatId });
    const chatId = newId();
    await waitFor(
      async () =>
        itemOf(await call(`/${await ask("Do you ship parcels to Iceland?")}`, { project: "answered" })).stage ===
        "done",
      {
        what: "the agent to answer by itself",
      },
    );
    await ask("Hello!");
    await ask("Do you ship parcels to Iceland?", chatId);
    await ask("I want to talk to a human.", chatId);
    const [found] = await waitFor(
      async () => {
        const agents = await answers();
        return agents[0]?.askedPerson === 1 && agents;
      },
      { what: "the figures" },
    );
    expect(found).toMatchObject({ agentId: agent.id, name: "Shipping", reviewPolicy: "auto_if", autoThreshold: 0 });
    expect(found?.automatic).toBe(found?.answers);
    expect(found?.accepted).toBe((found?.answers ?? 0) - 1);
    expect(await answers(`?agentId=${newId()}`)).toEqual([]);
    expect(await answers("?to=2026-01-01")).toEqual([]);
    const key = await keyOf(north, ["kb:*"]);
    expectProblem(await stats("/answers", { key, project: "north" }), "insufficient_scope");
    expectProblem(await stats("/answers?from=x&agentId=y"), "invalid_request", ["/from", "/agentId"]);
  });

  test("200: count waiting work by queue, with its age, and dead letters", async () => {
    const project = await addProject(product.store, "queued", {});
    const queues = async () =>
      (
        (await callApi(`${api.baseUrl(0)}/api/v1/admin/queues`, { key: product.adminKey, project: "queued" }))
          .body as unknown as { items: QueueHealth[] }
      ).items;
    const empty = { waiting: 0, oldestDueAt: null, failed: 0 };
    const names = ["messages", "replies", "callbacks", "documents"];
    expect(await queues()).toEqual(names.map((queue) => ({ queue, ...empty })));
    await queryDatabase(
      product.databaseUrl,
      `INSERT INTO messages (id, project_id, ticket_id, seq, text, timestamp_ms, channel_meta, due_at, created_at, not_before, state)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 1, 'x', 0, '{}', '2100-01-01', at, not_before, state
       FROM (VALUES ('2026-01-01'::timestamptz, '2026-01-02'::timestamptz, 'received'),
         ('2026-01-03', NULL, 'received'), ('2026-01-01', '2100-01-01', 'received'), ('2026-01-01', NULL, 'failed')
       ) planted (at, not_before, state)`,
      [project.id],
    );
    expect((await queues())[0]).toEqual({
      queue: "messages",
      waiting: 3,
      oldestDueAt: "2026-01-02T00:00:00.000Z",
      failed: 1,
    });
    await queryDatabase(product.databaseUrl, "DELETE FROM messages WHERE project_id = $1", [project.id]);
  });

  test("400 and 403: at most 366 days, and its scope", async () => {
    const errors = "?from=2024-01-01&to=2026-01-01";
    expectProblem(await stats(errors), "invalid_request", ["/from"]);
    expectProblem(await stats("?from=2026-01-02&to=2026-01-01"), "invalid_request", ["/from"]);
    expectProblem(await stats("?from=x&to=y&channelId=z&agentId='&timeZone=';--"), "invalid_request", [
      "/from",
      "/to",
      "/channelId",
      "/agentId",
      "/timeZone",
    ]);
    const key = await keyOf(north, ["kb:*"]);
    expectProblem(await stats("", { key, project: "north" }), "insufficient_scope");
  });
});
