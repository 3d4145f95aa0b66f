import { createHmac, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { visitorChatId } from "@svc/contracts";
import type { ServerFrame } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import { WebSocket } from "ws";
import {
  OTHER,
  QUESTION,
  createVisitorLines,
  errorsOf,
  lastOf,
  positionsOf,
  say,
} from "./support/create-visitor-lines.ts";
import type { LineOptions } from "./support/create-visitor-lines.ts";
import { WIDGET_KEY, startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const SITE = "https://shop.example";
const SECRET = "an identity secret of the site";

let widget: WidgetProduct;
let project: ProjectId;
const { urlOf, plain, socketIo, hello, openers, closeAll } = createVisitorLines(() => widget.urls);

beforeAll(async () => {
  widget = await startWidget();
  const found = await widget.store.projects.findByName("default");
  if (found === null) throw new Error("no project is named default");
  project = found.id;
});

afterEach(closeAll);

afterAll(() => widget?.stop());

const ticketOf = (visitorId: string) => ticketIdOf(project, "widget", visitorChatId(visitorId));
const openWebSocket = () => new WebSocket(`${urlOf().replace("http", "ws")}/api/widget/ws?apiKey=${WIDGET_KEY}`);
const closeOf = (socket: WebSocket) => new Promise<number>((resolve) => socket.once("close", resolve));

describe("rejected connections and frames", () => {
  const HANDSHAKES: [string, LineOptions, number, number][] = [
    ["no key", { apiKey: "" }, 4401, 401],
    ["another key", { apiKey: "wk_other-0123456789" }, 4401, 401],
    ["an administrator's key", { apiKey: "journey-administrator-5d0c7b1e" }, 4401, 401],
  ];
  test.each(HANDSHAKES)(
    "%s: a plain WebSocket gets the code, other transports the status, and no data is sent",
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
    const socket = openWebSocket();
    const closed = closeOf(socket);
    socket.once("open", () => socket.send(sent));
    expect(await closed).toBe(4400);
  });

  test("a megabyte closes it too, and 1,000 frames at once close it with 4429; other connections still work", async () => {
    const socket = openWebSocket();
    const closed = closeOf(socket);
    socket.once("open", () => socket.send("x".repeat(1_048_576)));
    expect(await closed).toBe(4400);
    const flood = hello(randomUUID());
    await flood.next("ready");
    for (let index = 0; index < 1_000; index++) flood.send("typing", { on: true });
    expect(await flood.closed).toBe(4429);
    await say(hello(randomUUID()));
  });

  test("unusable frames get an error, and the connection stays open", async () => {
    const visitor = hello(randomUUID());
    await visitor.next("ready");
    const deep = JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`) as unknown;
    const useless: [string, unknown][] = [
      ["message", { text: "" }],
      ["message", { text: "\u200b\u3164" }],
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

  test("before its hello, a connection can do nothing", async () => {
    const nobody = plain();
    nobody.send("message", { text: QUESTION, clientMessageId: randomUUID() });
    expect((await nobody.next("error")).data).toMatchObject({ code: "invalid_request" });
    expect(nobody.frames.map(({ type }) => type)).toEqual(["error"]);
  });

  test("sites that are not on the list: at the handshake, and on open connections when the list changes", async () => {
    const stays = hello(randomUUID(), 0, { origin: SITE });
    const goes = hello(randomUUID(), 0, { origin: "https://evil.example" });
    for (const visitor of [stays, goes]) await visitor.next("ready");
    await widget.configure({ allowedOrigins: [SITE] });
    expect(await goes.closed).toBe(4403);
    expect(await plain({ origin: "https://evil.example" }).closed).toBe(4403);
    for (const transports of [["websocket"], ["polling"]] as const) {
      const visitor = socketIo({ origin: "https://evil.example", transports: [...transports] });
      await visitor.fault;
      expect(visitor.isOpen()).toBe(false);
    }
    const query = `EIO=4&transport=polling&apiKey=${WIDGET_KEY}`;
    const polled = await fetch(`${urlOf()}/api/widget/ws?${query}`, { headers: { Origin: "https://evil.example" } });
    expect(polled.status).toBe(403);
    await say(stays);
    await widget.configure({ allowedOrigins: [] });
  });

  test("a changed key: open connections are closed, and new ones need the new key", async () => {
    const lines = [hello(randomUUID()), openers["socket.io by WebSocket"](randomUUID())];
    for (const line of lines) await line.next("ready");
    await widget.configure({ apiKey: "wk_changed-0123456789" });
    expect(await lines[0]?.closed).toBe(4401);
    await lines[1]?.closed;
    expect(lines[1]?.frames.at(-1)).toMatchObject({ type: "error", data: { code: "invalid_key" } });
    await hello(randomUUID(), 0, { apiKey: "wk_changed-0123456789" }).next("ready");
    await widget.configure({ apiKey: WIDGET_KEY });
  });

  test("too many new connections from one address: 4429", async () => {
    const apiKey = `wk_limited-${randomUUID()}`;
    await widget.configure({ apiKey, socketsPerMinute: 2 });
    for (let index = 0; index < 2; index++) await hello(randomUUID(), 0, { apiKey }).next("ready");
    expect(await plain({ apiKey, replica: OTHER }).closed).toBe(4429);
    await widget.configure({ apiKey: WIDGET_KEY, socketsPerMinute: 100_000 });
  });

  test("users without the right hash, if the site requires it; the connection stays open for a hello that has it", async () => {
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

describe("frames over socket.io", () => {
  const connect = () => openers["socket.io by WebSocket"](randomUUID());

  test("bytes are not a frame: the connection is closed with an error", async () => {
    const visitor = connect();
    await visitor.next("ready");
    visitor.sendRaw("message", Buffer.from("a frame"));
    await visitor.closed;
    expect(errorsOf(visitor)).toEqual(["invalid_request"]);
  });

  test("events that are not frames get an error, and the connection stays open", async () => {
    const visitor = connect();
    await visitor.next("ready");
    const events: [string, ...unknown[]][] = [
      ["message"],
      ["message", null],
      ["message", "text"],
      ["message", [1, 2]],
      ["message", { type: "hello", data: { visitorId: randomUUID() } }],
      ["message", { data: { text: Buffer.from("x"), clientMessageId: "bytes" } }],
      ["error", { data: {} }],
      ["__proto__", { data: {} }],
      ["rate", { v: 2, data: { score: 5 } }],
    ];
    for (const [event, ...values] of events) visitor.sendRaw(event, ...values);
    await waitFor(() => errorsOf(visitor).length === events.length, { what: "an error for each" });
    expect(new Set(errorsOf(visitor))).toEqual(new Set(["invalid_request"]));
    await say(visitor);
  });

  test("a flood closes the connection, with an error that names the reason", async () => {
    const visitor = connect();
    await visitor.next("ready");
    for (let index = 0; index < 1_000; index++) visitor.send("typing", { on: true });
    await visitor.closed;
    expect(errorsOf(visitor).at(-1)).toBe("rate_limited");
    expect(visitor.isOpen()).toBe(false);
  });

  test("one transport connection is one connection, however often it reconnects its namespace", async () => {
    const query = `EIO=4&transport=websocket&apiKey=${WIDGET_KEY}`;
    const socket = new WebSocket(`${urlOf().replace("http", "ws")}/api/widget/ws?${query}`);
    const closed = closeOf(socket);
    const packets: string[] = [];
    socket.on("message", (data: Buffer) => packets.push(data.toString("utf8")));
    // Raw packets of engine.io and socket.io: 40 connects, 41 disconnects.
    await waitFor(() => packets.some((packet) => packet.startsWith("0")), { what: "the handshake" });
    socket.send("40");
    await waitFor(() => packets.some((packet) => packet.startsWith("40")), { what: "the line" });
    socket.send("41");
    socket.send("40");
    await closed;
  });
});

describe("invalid visitors", () => {
  test("a guessable id opens nothing, in the URL, the auth payload or hello", async () => {
    for (const weak of ["1", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "00000000-0000-0000-0000-000000000000"]) {
      const lines = [
        plain({ visitorId: weak }),
        hello(weak),
        socketIo({ visitorId: weak }),
        openers["socket.io as it is"](weak),
      ];
      for (const line of lines) {
        expect((await line.next("error")).data.detail).toContain("/data/visitorId");
        line.send("message", { text: QUESTION, clientMessageId: randomUUID() });
        await waitFor(() => errorsOf(line).length === 2, { what: "nobody to be refused" });
        expect(lastOf(line, "ready")).toBeUndefined();
      }
    }
  });

  test("another visitor's id in a frame returns nothing of that visitor and writes nothing", async () => {
    const [victimId, visitorId] = [randomUUID(), randomUUID()];
    const victim = hello(victimId);
    await say(victim, "a secret of the victim");
    await victim.next("reply");
    const visitor = hello(visitorId);
    await visitor.next("ready");
    visitor.send("hello", { visitorId: victimId, sinceSeq: 0 });
    await visitor.next("error");
    await say(visitor, "from the visitor", {
      visitorId: victimId,
      chatId: visitorChatId(victimId),
      ticketId: ticketOf(victimId),
    });
    await visitor.next("reply");
    expect(JSON.stringify(visitor.frames)).not.toContain("a secret of the victim");
    const again = hello(victimId);
    await again.next("reply");
    expect(JSON.stringify(again.frames)).not.toContain("from the visitor");
  });
});

describe("endless frames", () => {
  test("protocol pings, whose responses would accumulate, close the connection too", async () => {
    const socket = openWebSocket();
    const closed = closeOf(socket);
    socket.once("open", () => {
      for (let index = 0; index < 1_000; index++) socket.ping();
    });
    await closed;
    await say(hello(randomUUID()));
  });

  test("protocol violations: 4400", async () => {
    const socket = openWebSocket();
    const closed = closeOf(socket);
    // A masked final text frame with invalid UTF-8.
    socket.once("open", () => socket.send(Buffer.from([0xc3, 0x28]), { binary: false }));
    expect(await closed).toBe(4400);
  });

  test("more messages than a visitor may send: an error that names the message, and when to send it again", async () => {
    const apiKey = `wk_limited-${randomUUID()}`;
    await widget.configure({ apiKey, messagesPerMinute: 2 });
    const visitor = hello(randomUUID(), 0, { apiKey });
    for (const text of ["one", "two"]) await say(visitor, text);
    const clientMessageId = randomUUID();
    visitor.send("message", { text: "three", clientMessageId });
    const { data } = await visitor.next("error");
    expect(data).toMatchObject({ code: "rate_limited", clientMessageId });
    expect(data.retryAfterSeconds).toBeGreaterThan(0);
    await widget.configure({ messagesPerMinute: 100_000 });
    visitor.send("message", { text: "three", clientMessageId });
    await visitor.next("ack", (ack) => ack.data.clientMessageId === clientMessageId);
    await widget.configure({ apiKey: WIDGET_KEY });
  });

  test("ratings count as messages, because each one adds an event", async () => {
    const apiKey = `wk_limited-${randomUUID()}`;
    await widget.configure({ apiKey, messagesPerMinute: 3 });
    const visitorId = randomUUID();
    const visitor = hello(visitorId, 0, { apiKey });
    await say(visitor);
    await visitor.next("reply");
    for (let index = 0; index < 10; index++) visitor.send("rate", { score: 1 + (index % 2) });
    await waitFor(() => errorsOf(visitor).length === 8, { what: "what is too much to be refused" });
    expect(new Set(errorsOf(visitor))).toEqual(new Set(["rate_limited"]));
    const [row] = await queryDatabase<{ count: string }>(
      widget.databaseUrl,
      "SELECT count(*) FROM ticket_events WHERE ticket_id = $1 AND actor = 'visitor'",
      [ticketOf(visitorId)],
    );
    expect(Number(row?.count)).toBe(2);
    await widget.configure({ apiKey: WIDGET_KEY, messagesPerMinute: 100_000 });
  });
});

describe("a repeated poll", () => {
  const ask = (query: object, body?: string) =>
    fetch(`${urlOf()}/api/widget/ws?${new URLSearchParams({ EIO: "4", transport: "polling", ...query })}`, {
      method: body === undefined ? "GET" : "POST",
      ...(body !== undefined && { body }),
    });

  test("is from a browser that has lost the response to the first one: the connection closes, and lost replies are sent again", async () => {
    const visitorId = randomUUID();
    const first = hello(visitorId);
    await say(first);
    await first.next("reply");
    const { sid } = JSON.parse((await (await ask({ apiKey: WIDGET_KEY, t: "a" })).text()).slice(1)) as { sid: string };
    expect((await ask({ sid, t: "b" }, `40${JSON.stringify({ visitorId, sinceSeq: 0 })}`)).status).toBe(200);
    let heard = "";
    let polls = 0;
    await waitFor(
      async () => {
        heard += await (await ask({ sid, t: `c${polls++}` })).text();
        return heard.includes('"reply"');
      },
      { what: "the reply" },
    );
    // With the name of the last poll, like Chromium's automatic retry after a dropped connection.
    for (const t of [`c${polls - 1}`, "d"]) {
      const again = await ask({ sid, t });
      expect({ status: again.status, text: await again.text() }).toEqual({
        status: 400,
        text: expect.stringContaining("Session ID unknown"),
      });
    }
    const next = openers["socket.io by HTTP alone"](visitorId, 0);
    await next.next("reply");
    expect(positionsOf(next)).toEqual([1, 2]);
  });
});

describe("a client that does not read", () => {
  const REPLIES = 200;
  const LAST = REPLIES + 2;

  test("is disconnected before much is buffered for it, and gets what it missed when it reconnects; another tab gets everything", async () => {
    const visitorId = randomUUID();
    const first = hello(visitorId);
    await say(first);
    await first.next("reply");
    first.close();
    // More than all buffers in between can hold.
    await queryDatabase(
      widget.databaseUrl,
      `INSERT INTO replies (id, project_id, ticket_id, seq, author, type, text, markdown)
       SELECT gen_random_uuid(), $1, $2, 2 + place, 'agent', 'message', repeat('x', 100000) || place, false
       FROM generate_series(1, $3::integer) AS place`,
      [project, ticketOf(visitorId), REPLIES],
    );
    await queryDatabase(widget.databaseUrl, "UPDATE chats SET last_seq = $2 WHERE ticket_id = $1", [
      ticketOf(visitorId),
      LAST,
    ]);
    const socket = openWebSocket();
    const seen: number[] = [];
    let isClosed = false;
    socket.on("message", (data: Buffer) => {
      const { type, seq } = JSON.parse(data.toString("utf8")) as ServerFrame;
      if (type === "reply") seen.push(seq);
      if (seen.length === 1) socket.pause();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      isClosed = true;
    });
    socket.once("open", () => socket.send(JSON.stringify({ type: "hello", data: { visitorId } })));
    await waitFor(() => seen.length === 1, { what: "the first reply" });
    const other = openers["socket.io by WebSocket"](visitorId, 0, { replica: 0 });
    await waitFor(() => positionsOf(other).at(-1) === LAST, { what: "all of it in the other tab", timeoutMs: 60_000 });
    expect(positionsOf(other)).toEqual(Array.from({ length: LAST }, (_, index) => index + 1));
    // A client that does not read notices the closed connection when it writes.
    let pingedAt = 0;
    await waitFor(
      () => {
        if (!isClosed && performance.now() - pingedAt > 500) {
          pingedAt = performance.now();
          socket.ping(() => undefined);
        }
        return isClosed;
      },
      { what: "the line to be cut", timeoutMs: 60_000 },
    );
    expect(seen.length).toBeLessThan(REPLIES);

    const again = hello(visitorId, seen.at(-1));
    await waitFor(() => positionsOf(again).at(-1) === LAST, { what: "the rest" });
    expect([...seen, ...positionsOf(again)]).toEqual(Array.from({ length: LAST - 1 }, (_, index) => index + 2));
  });
});

describe("while connections are open", () => {
  test("a site that now requires signed users: unsigned ones are disconnected", async () => {
    const visitorId = randomUUID();
    const visitor = hello(visitorId);
    await visitor.next("ready");
    await widget.configure({ identitySecret: widget.store.sealer.seal(SECRET), requireIdentity: true });
    // The reconnection is rejected with the reason.
    expect(await visitor.closed).toBe(1012);
    expect((await hello(visitorId).next("error")).data.code).toBe("invalid_identity");

    // A hash in another encoding is rejected like any other invalid one.
    const userHash = createHmac("sha256", SECRET).update("u-1").digest("hex");
    for (const wrong of ["00", Buffer.from(userHash, "hex").toString("base64")]) {
      const forged = plain();
      forged.send("hello", { visitorId, sinceSeq: 0, userId: "u-1", userHash: wrong });
      expect((await forged.next("error")).data.code).toBe("invalid_identity");
    }

    const signed = plain();
    signed.send("hello", { visitorId, sinceSeq: 0, userId: "u-1", userHash });
    await signed.next("ready");
    await widget.configure({ identitySecret: widget.store.sealer.seal(`${SECRET} that is new`) });
    expect(await signed.closed).toBe(1012);
    await widget.configure({ identitySecret: null, requireIdentity: false });
  });

  test("an internal error: a visitor whose hello failed is disconnected, and reconnects", async () => {
    const config = () => widget.call(`/api/widget/config/${WIDGET_KEY}`);
    const rename = (from: string, to: string) =>
      queryDatabase(widget.databaseUrl, `ALTER TABLE ${from} RENAME TO ${to}`);
    const visitor = plain();
    await waitFor(() => visitor.isOpen(), { what: "the line" });
    await rename("channels_config", "channels_config_away");
    try {
      await waitFor(async () => (await config()).status === 500, { what: "the settings to be away" });
      visitor.send("hello", { visitorId: randomUUID(), sinceSeq: 0 });
      expect((await visitor.next("error")).data.code).toBe("internal");
      expect(await visitor.closed).toBe(1012);
    } finally {
      await rename("channels_config_away", "channels_config");
    }
    await waitFor(async () => (await config()).ok, { what: "the settings to be back" });
    await say(hello(randomUUID()));
  });

  test("a channel that is disabled closes all connections and accepts nothing; when enabled, conversations continue", async () => {
    const visitorId = randomUUID();
    const lines = [hello(visitorId), openers["socket.io as it is"](visitorId, 0, { replica: OTHER })] as const;
    await say(lines[0]);
    for (const line of lines) await line.next("reply");
    const json = { text: QUESTION, clientMessageId: randomUUID() };

    await widget.store.channelsConfig.update("widget", {}, { enabled: false });
    expect(await lines[0].closed).toBe(1012);
    await lines[1].closed;
    for (const replica of widget.urls.keys()) {
      await waitFor(
        () =>
          widget.call("/api/widget/message", { visitorId, json, replica }).then(
            () => false,
            () => true,
          ),
        { what: "the port to be free" },
      );
    }

    await widget.store.channelsConfig.update("widget", {}, { enabled: true });
    for (const replica of widget.urls.keys()) {
      await waitFor(async () => (await widget.call("/readyz", { replica })).ok, { what: "the widget to be back" });
    }
    const again = hello(visitorId, 2, { replica: OTHER });
    const { seq } = await say(again);
    await again.next("reply", (reply) => reply.seq > seq);
    expect(positionsOf(again)).toEqual([seq + 1]);
  });
});
