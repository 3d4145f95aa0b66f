import { createHmac, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { visitorChatId } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { waitFor } from "@svc/testing";
import { WebSocket } from "ws";
import { openIoSocket, openPlainSocket } from "./support/open-visitor-socket.ts";
import type { VisitorOptions, VisitorSocket } from "./support/open-visitor-socket.ts";
import { queryDatabase } from "./support/query-database.ts";
import { WIDGET_KEY, startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const SITE = "https://shop.example";
const SECRET = "an identity secret of the site";

let widget: WidgetProduct;
let project: ProjectId;
const open: VisitorSocket[] = [];

beforeAll(async () => {
  widget = await startWidget();
  const found = await widget.store.projects.findByName("default");
  if (found === null) throw new Error("there is no project default");
  project = found.id;
});

afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

afterAll(() => widget?.stop());

type Options = Partial<VisitorOptions> & { replica?: number };
const urlOf = (replica = 0) => widget.urls[replica] ?? widget.urls[0] ?? "";
/** Another replica than the first one, where there is one. */
const OTHER = 1;

function plain({ replica, ...options }: Options = {}): VisitorSocket {
  const socket = openPlainSocket(urlOf(replica), { apiKey: WIDGET_KEY, ...options });
  open.push(socket);
  return socket;
}

function socketIo({ replica, ...options }: Options = {}) {
  const socket = openIoSocket(urlOf(replica), { apiKey: WIDGET_KEY, ...options });
  open.push(socket);
  return socket;
}

/** Opens a line of a visitor and says hello, in each of the ways that there are. */
const OPENERS = {
  "a plain WebSocket"(visitorId, sinceSeq = 0, options = {}) {
    const socket = plain(options);
    socket.send("hello", { visitorId, sinceSeq });
    return socket;
  },
  "socket.io by WebSocket": (visitorId, sinceSeq = 0, options = {}) =>
    socketIo({ auth: { visitorId, sinceSeq }, transports: ["websocket"], ...options }),
  "socket.io as it is": (visitorId, sinceSeq = 0, options = {}) =>
    socketIo({ auth: { visitorId, sinceSeq }, ...options }),
} satisfies Record<string, (visitorId: string, sinceSeq?: number, options?: Options) => VisitorSocket>;
const hello = OPENERS["a plain WebSocket"];

const QUESTION = "How do I start the service?";
const ticketOf = (visitorId: string) => ticketIdOf(project, "widget", visitorChatId(visitorId));

/** Sends a message and waits until it is acknowledged. */
async function say(visitor: VisitorSocket, text = QUESTION, more: object = {}) {
  const clientMessageId = randomUUID();
  visitor.send("message", { text, clientMessageId, ...more });
  return (await visitor.next("ack", ({ data }) => data.clientMessageId === clientMessageId)).data;
}

/** Places of what was said, in the order in which it came. */
const placesOf = ({ frames }: VisitorSocket) =>
  frames.flatMap(({ type, seq }) => (type === "reply" || type === "message" ? [seq] : []));
const lastOf = (visitor: VisitorSocket, type: string) => visitor.frames.findLast((frame) => frame.type === type)?.data;

describe.each(Object.entries(OPENERS))("%s", (_name, connect) => {
  test("has a whole conversation: ready, acknowledged, typing, answered once, and goes on after a cut", async () => {
    const visitorId = randomUUID();
    const visitor = connect(visitorId);
    expect((await visitor.next("ready")).data).toEqual({ chatId: visitorChatId(visitorId), lastSeq: 0 });
    const ack = await say(visitor);
    expect(ack).toEqual({ clientMessageId: expect.any(String), messageId: expect.any(String), seq: 1 });
    expect(await visitor.next("reply")).toMatchObject({ seq: 2, data: { inReplyTo: ack.messageId } });
    await waitFor(() => JSON.stringify(lastOf(visitor, "typing")) === '{"on":false}', { what: "typing to end" });
    await waitFor(() => lastOf(visitor, "status"), { what: "the status" });
    expect(placesOf(visitor)).toEqual([2]);
    visitor.cut();

    const again = connect(visitorId, 2, { replica: OTHER });
    expect((await again.next("ready")).data.lastSeq).toBe(2);
    const next = await say(again);
    await again.next("reply", ({ data }) => data.inReplyTo === next.messageId);
    expect(placesOf(again)).toEqual([next.seq + 1]);
  });

  test("is sent its history, once and in order, from the place that it names", async () => {
    const visitorId = randomUUID();
    const first = connect(visitorId);
    for (const text of ["one", "two", "three"]) {
      const { messageId } = await say(first, text);
      await first.next("reply", ({ data }) => data.inReplyTo === messageId);
    }
    const { lastSeq } = await waitForQuiet(visitorId);
    const all = connect(visitorId, 0, { replica: OTHER });
    await waitFor(() => placesOf(all).length === lastSeq, { what: "the whole history" });
    expect(placesOf(all)).toEqual(Array.from({ length: lastSeq }, (_, index) => index + 1));
    expect(
      all.frames.filter(({ type }) => type === "message").map(({ data }) => (data as { text: string }).text),
    ).toEqual(["one", "two", "three"]);
    const rest = connect(visitorId, 3);
    await waitFor(() => placesOf(rest).length === lastSeq - 3, { what: "the rest" });
    expect(placesOf(rest)[0]).toBe(4);
  });

  test("sends the same message again and it is one: both are acknowledged alike", async () => {
    const visitor = connect(randomUUID());
    const message = { text: QUESTION, clientMessageId: randomUUID() };
    visitor.send("message", message);
    visitor.send("message", message);
    const acks = await waitFor(
      () => {
        const found = visitor.frames.filter(({ type }) => type === "ack");
        return found.length === 2 ? found : null;
      },
      { what: "two acknowledgements" },
    );
    expect(acks[0]?.data).toEqual(acks[1]?.data);
    await visitor.next("reply");
    expect(placesOf(visitor)).toEqual([2]);
  });
});

/** Waits until everything that was sent is answered; answers where the chat ends. */
async function waitForQuiet(visitorId: string): Promise<{ lastSeq: number }> {
  return waitFor(
    async () => {
      const [view] = await widget.store.visitors.look([{ project, ticketId: ticketOf(visitorId) }]);
      return view !== undefined && view.pending === null && view.lastSeq > 0 ? view : null;
    },
    { what: "everything to be answered" },
  );
}

describe("the documented address", () => {
  test("with a visitorId in it is all that a socket needs to be sent what is new", async () => {
    const visitorId = randomUUID();
    const visitors = [plain({ visitorId }), socketIo({ visitorId })];
    for (const visitor of visitors) await visitor.next("ready");
    const response = await widget.call("/api/widget/message", {
      visitorId,
      json: { text: QUESTION, clientMessageId: randomUUID() },
    });
    expect(response.status).toBe(202);
    for (const visitor of visitors) {
      await visitor.next("typing", ({ data }) => data.on);
      await visitor.next("reply");
    }
  });
});

describe("a conversation in two tabs, on two replicas", () => {
  test("is the same: messages and replies are in both, once and in order", async () => {
    const visitorId = randomUUID();
    const tabs = [hello(visitorId), OPENERS["socket.io by WebSocket"](visitorId, 0, { replica: OTHER })] as const;
    for (const tab of tabs) await tab.next("ready");
    const sent = await Promise.all([say(tabs[0], "from the first"), say(tabs[1], "from the second")]);
    const { lastSeq } = await waitForQuiet(visitorId);
    for (const [index, tab] of tabs.entries()) {
      const seen = () => [...new Set([...placesOf(tab), sent[index]?.seq ?? 0])].toSorted((a, b) => a - b);
      await waitFor(() => seen().length === lastSeq, { what: "all of it in each tab" });
      expect(seen()).toEqual(Array.from({ length: lastSeq }, (_, place) => place + 1));
      const places = placesOf(tab);
      expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
    }
  });
});

describe("beside messages", () => {
  test("a rating is kept, seen in every tab, and leaves an event on the ticket; the same one again changes nothing", async () => {
    const visitorId = randomUUID();
    const [visitor, other] = [hello(visitorId), hello(visitorId, 0, { replica: OTHER })];
    visitor.send("rate", { score: 5 });
    expect((await visitor.next("error")).data).toMatchObject({ code: "not_found" });
    await say(visitor);
    await visitor.next("reply");
    for (const rating of [{ score: 2, comment: "slow" }, { score: 4 }, { score: 4 }]) visitor.send("rate", rating);
    await other.next("status", ({ data }) => data.rating === 4);
    const events = () =>
      queryDatabase<{ data: object }>(
        widget.databaseUrl,
        "SELECT data FROM ticket_events WHERE ticket_id = $1 AND actor = 'visitor' ORDER BY id",
        [ticketOf(visitorId)],
      );
    await waitFor(async () => (await events()).length === 2, { what: "both ratings" });
    expect((await events()).map(({ data }) => data)).toEqual([
      { decision: "rate", score: 2, comment: "slow" },
      { decision: "rate", score: 4 },
    ]);
    visitor.send("rate", { score: 6 });
    await waitFor(() => visitor.frames.filter(({ type }) => type === "error").length === 2, { what: "a refusal" });
  });

  test("what was read and what was handed over is noted", async () => {
    const visitorId = randomUUID();
    const visitor = hello(visitorId);
    await say(visitor);
    const { seq } = await visitor.next("reply");
    visitor.send("read", { seq: 1_000 });
    await waitFor(
      async () => {
        const [row] = await queryDatabase<{ read_seq: string; delivered_at: Date | null }>(
          widget.databaseUrl,
          `SELECT v.read_seq, r.delivered_at FROM visitors v JOIN replies r USING (ticket_id)
           WHERE v.ticket_id = $1 AND r.seq = $2`,
          [ticketOf(visitorId), seq],
        );
        return row !== undefined && Number(row.read_seq) >= seq && row.delivered_at !== null;
      },
      { what: "both notes" },
    );
  });

  test("the visitor sees that a person has the conversation, and the end of it", async () => {
    const visitorId = randomUUID();
    const visitor = hello(visitorId);
    await say(visitor, QUESTION, { wantsPerson: true });
    await visitor.next("status", ({ data }) => data.state === "waiting");
    expect((await visitor.next("reply")).data.author).toBe("system");
    await queryDatabase(widget.databaseUrl, "UPDATE tickets SET stage = 'done', status = 'resolved' WHERE id = $1", [
      ticketOf(visitorId),
    ]);
    await visitor.next("status", ({ data }) => data.state === "done");
  });

  test("places go on after the conversation was erased", async () => {
    const visitorId = randomUUID();
    const visitor = hello(visitorId);
    await say(visitor);
    await visitor.next("reply");
    await waitForQuiet(visitorId);
    await widget.store.erasures.erase(project, ticketOf(visitorId));
    const { seq } = await say(visitor);
    expect(seq).toBe(3);
    await visitor.next("reply", (reply) => reply.seq === 4);
    const again = hello(visitorId);
    await again.next("reply");
    expect(placesOf(again)).toEqual([3, 4]);
  });
});

describe("what is refused", () => {
  const HANDSHAKES: [string, Options, number, number][] = [
    ["no key", { apiKey: "" }, 4401, 401],
    ["another key", { apiKey: "wk_other-0123456789" }, 4401, 401],
  ];
  test.each(HANDSHAKES)(
    "%s: a plain WebSocket sees the code, others the status, and nothing is told",
    async (_what, options, code, status) => {
      const refused = plain({ ...options, visitorId: randomUUID() });
      expect(await refused.closed).toBe(code);
      expect(refused.frames).toEqual([]);
      for (const transports of [["websocket"], ["polling"]] as const) {
        const visitor = socketIo({ ...options, transports: [...transports] });
        await visitor.fault;
        expect(visitor.isOpen()).toBe(false);
      }
      const query = `EIO=4&transport=polling&apiKey=${options.apiKey ?? ""}`;
      expect((await fetch(`${urlOf()}/api/widget/ws?${query}`)).status).toBe(status);
    },
  );

  test.each([
    ["what is no JSON", "{"],
    ["no text", Buffer.from([1, 2, 3])],
    ["more than 64 KB", JSON.stringify({ type: "typing", data: { on: "x".repeat(70_000) } })],
  ])("%s: closes a plain WebSocket with 4400", async (_what, sent) => {
    const socket = new WebSocket(`${urlOf().replace("http", "ws")}/api/widget/ws?apiKey=${WIDGET_KEY}`);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.once("open", () => socket.send(sent));
    expect(await closed).toBe(4400);
  });

  test("a megabyte closes it too, and 1,000 frames at once do with 4429; others are served on", async () => {
    const socket = new WebSocket(`${urlOf().replace("http", "ws")}/api/widget/ws?apiKey=${WIDGET_KEY}`);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.once("open", () => socket.send("x".repeat(1_048_576)));
    expect(await closed).toBe(1009);
    const flood = hello(randomUUID());
    await flood.next("ready");
    for (let index = 0; index < 1_000; index++) flood.send("typing", { on: true });
    expect(await flood.closed).toBe(4429);
    await say(hello(randomUUID()));
  });

  test("frames of no use are answered with an error, and the line stays", async () => {
    const visitor = hello(randomUUID());
    await visitor.next("ready");
    const deep = JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`) as unknown;
    const useless: [string, unknown][] = [
      ["message", { text: "" }],
      ["message", { text: "x".repeat(10_001), clientMessageId: "long" }],
      ["message", deep],
      ["reply", { items: [] }],
      ["__proto__", {}],
      ["rate", { score: "5" }],
      ["read", { seq: -1 }],
      ["hello", { sinceSeq: "0" }],
      ["hello", { sinceSeq: 0, visitorId: "guessable" }],
      ["hello", { sinceSeq: 0, visitorId: randomUUID() }],
    ];
    for (const [type, data] of useless) visitor.send(type, data);
    const errors = await waitFor(
      () => {
        const found = visitor.frames.filter(({ type }) => type === "error");
        return found.length === useless.length ? found : null;
      },
      { what: "an error for each" },
    );
    expect(errors.map(({ data }) => (data as { code: string }).code)).toEqual(useless.map(() => "invalid_request"));
    expect(errors.map(({ data }) => (data as { clientMessageId: string | null }).clientMessageId)).toContain("long");
    await say(visitor);
  });

  test("before it has said who it is, a line can do nothing", async () => {
    const nobody = plain();
    nobody.send("message", { text: QUESTION, clientMessageId: randomUUID() });
    expect((await nobody.next("error")).data).toMatchObject({ code: "invalid_request" });
    expect(nobody.frames.map(({ type }) => type)).toEqual(["error"]);
  });

  test("sites that are not on the list: at the handshake, and from open lines when the list changes", async () => {
    const stays = hello(randomUUID(), 0, { origin: SITE });
    const goes = hello(randomUUID(), 0, { origin: "https://evil.example" });
    for (const visitor of [stays, goes]) await visitor.next("ready");
    await widget.configure({ allowedOrigins: [SITE] });
    expect(await goes.closed).toBe(4403);
    expect(await plain({ origin: "https://evil.example" }).closed).toBe(4403);
    await socketIo({ origin: "https://evil.example", transports: ["websocket"] }).fault;
    await say(stays);
    await widget.configure({ allowedOrigins: [] });
  });

  test("a key that was changed: open lines are closed, and new ones need the new one", async () => {
    const lines = [hello(randomUUID()), OPENERS["socket.io by WebSocket"](randomUUID())];
    for (const line of lines) await line.next("ready");
    await widget.configure({ apiKey: "wk_changed-0123456789" });
    expect(await lines[0]?.closed).toBe(4401);
    await lines[1]?.closed;
    expect(lines[1]?.frames.at(-1)).toMatchObject({ type: "error", data: { code: "invalid_key" } });
    await hello(randomUUID(), 0, { apiKey: "wk_changed-0123456789" }).next("ready");
    await widget.configure({ apiKey: WIDGET_KEY });
  });

  test("too many new lines of one address: 4429", async () => {
    const apiKey = `wk_limited-${randomUUID()}`;
    await widget.configure({ apiKey, socketsPerMinute: 2 });
    for (let index = 0; index < 2; index++) await hello(randomUUID(), 0, { apiKey }).next("ready");
    expect(await plain({ apiKey, replica: OTHER }).closed).toBe(4429);
    await widget.configure({ apiKey: WIDGET_KEY, socketsPerMinute: 100_000 });
  });

  test("users without the right hash, where the site demands it; the line stays for a hello that has it", async () => {
    await widget.configure({ identitySecret: widget.store.sealer.seal(SECRET), requireIdentity: true });
    const visitorId = randomUUID();
    const visitor = hello(visitorId);
    expect((await visitor.next("error")).data).toMatchObject({ code: "invalid_identity" });
    const userHash = createHmac("sha256", SECRET).update("u-1").digest("hex");
    visitor.send("hello", { visitorId, sinceSeq: 0, userId: "u-2", userHash });
    visitor.send("hello", { visitorId, sinceSeq: 0, userId: "u-1", userHash });
    await visitor.next("ready");
    expect(visitor.frames.map(({ type }) => type).slice(0, 3)).toEqual(["error", "error", "ready"]);
    await say(visitor);
    await widget.configure({ identitySecret: null, requireIdentity: false });
  });
});
