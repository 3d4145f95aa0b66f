import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { visitorChatId } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { startSilencingProxy, waitFor, queryDatabase } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { OTHER, QUESTION, createVisitorLines, lastOf, positionsOf, say } from "./support/create-visitor-lines.ts";
import { holdChat } from "./support/hold-chat.ts";
import { startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

let widget: WidgetProduct;
let project: ProjectId;
const { plain, socketIo, hello, openers, closeAll } = createVisitorLines(() => widget.urls);

beforeAll(async () => {
  widget = await startWidget();
  const found = await widget.store.projects.findByName("default");
  if (found === null) throw new Error("no project is named default");
  project = found.id;
});

afterEach(closeAll);

afterAll(() => widget?.stop());

const ticketOf = (visitorId: string) => ticketIdOf(project, "widget", visitorChatId(visitorId));

describe.each(Object.entries(openers))("%s", (_name, connect) => {
  test("has a whole conversation: ready, acknowledged, typing, answered once, and continued after a dropped connection", async () => {
    const visitorId = randomUUID();
    const visitor = connect(visitorId);
    expect((await visitor.next("ready")).data).toEqual({ chatId: visitorChatId(visitorId), lastSeq: 0 });
    const ack = await say(visitor);
    expect(ack).toEqual({ clientMessageId: expect.any(String), messageId: expect.any(String), seq: 1 });
    expect(await visitor.next("reply")).toMatchObject({ seq: 2, data: { inReplyTo: ack.messageId } });
    await waitFor(() => JSON.stringify(lastOf(visitor, "typing")) === '{"on":false}', { what: "typing to end" });
    await waitFor(() => lastOf(visitor, "status"), { what: "the status" });
    expect(positionsOf(visitor)).toEqual([2]);
    visitor.cut();

    const again = connect(visitorId, 2, { replica: OTHER });
    expect((await again.next("ready")).data.lastSeq).toBe(2);
    const next = await say(again);
    await again.next("reply", ({ data }) => data.inReplyTo === next.messageId);
    expect(positionsOf(again)).toEqual([next.seq + 1]);
  });

  test("has a reply recorded as delivered once the client has confirmed it, not while the connection is half-open", async () => {
    const proxy = await startSilencingProxy(widget.urls[0] ?? "");
    const [visitorId, otherId] = [randomUUID(), randomUUID()];
    const visitor = connect(visitorId, 0, { url: proxy.url.replace(/\/$/, "") });
    const other = connect(otherId);
    const deliveredOf = async (id: string) =>
      (
        await queryDatabase<{ delivered: boolean }>(
          widget.databaseUrl,
          "SELECT delivered_at IS NOT NULL AS delivered FROM replies WHERE ticket_id = $1",
          [ticketOf(id)],
        )
      ).map(({ delivered }) => delivered);
    await visitor.next("ready");
    await other.next("ready");
    await say(visitor);
    proxy.silence();
    await waitFor(async () => (await deliveredOf(visitorId)).length > 0, { what: "the reply" });
    // The replies of a process are recorded in order.
    await say(other);
    await waitFor(async () => (await deliveredOf(otherId))[0], { what: "the later reply to be delivered" });
    expect(await deliveredOf(visitorId)).toEqual([false]);
    await proxy.close();
    const again = connect(visitorId, 1);
    await again.next("reply");
    await waitFor(async () => (await deliveredOf(visitorId))[0], { what: "the reply to be delivered" });
    expect(positionsOf(again)).toEqual([2]);
  });

  test("gets its history, once and in order, from the given sequence number", async () => {
    const visitorId = randomUUID();
    const first = connect(visitorId);
    for (const text of ["one", "two", "three"]) {
      const { messageId } = await say(first, text);
      await first.next("reply", ({ data }) => data.inReplyTo === messageId);
    }
    const { lastSeq } = await waitForQuiet(visitorId);
    const all = connect(visitorId, 0, { replica: OTHER });
    await waitFor(() => positionsOf(all).length === lastSeq, { what: "the whole history" });
    expect(positionsOf(all)).toEqual(Array.from({ length: lastSeq }, (_, index) => index + 1));
    expect(
      all.frames.filter(({ type }) => type === "message").map(({ data }) => (data as { text: string }).text),
    ).toEqual(["one", "two", "three"]);
    const rest = connect(visitorId, 3);
    await waitFor(() => positionsOf(rest).length === lastSeq - 3, { what: "the rest" });
    expect(positionsOf(rest)[0]).toBe(4);
  });

  test("sends the same message again and it remains one: both get the same acknowledgement", async () => {
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
    expect(positionsOf(visitor)).toEqual([2]);
  });
});

/** Waits until all sent messages are answered; returns the last sequence number of the chat. */
async function waitForQuiet(visitorId: string): Promise<{ lastSeq: number }> {
  return waitFor(
    async () => {
      const [view] = await widget.store.visitors.readChatViews([{ project, ticketId: ticketOf(visitorId) }]);
      return view !== undefined && view.pending === null && view.lastSeq > 0 ? view : null;
    },
    { what: "everything to be answered" },
  );
}

describe("the documented URL", () => {
  test("with a visitorId is all that a socket needs to get new replies", async () => {
    const visitorId = randomUUID();
    const visitors = [plain({ visitorId }), socketIo({ visitorId, replica: OTHER })];
    for (const visitor of visitors) await visitor.next("ready");
    const letGo = await holdChat(widget.store, { id: project }, visitorChatId(visitorId), "widget");
    const response = await widget.call("/api/widget/message", {
      visitorId,
      json: { text: QUESTION, clientMessageId: randomUUID() },
    });
    expect(response.status).toBe(202);
    for (const visitor of visitors) await visitor.next("typing", ({ data }) => data.on);
    await letGo();
    for (const visitor of visitors) {
      await visitor.next("reply");
      await waitFor(() => JSON.stringify(lastOf(visitor, "typing")) === '{"on":false}', { what: "typing to end" });
    }
  });
});

describe("a conversation in two tabs, on two replicas", () => {
  test("is consistent: messages and replies appear in both, once and in order", async () => {
    const visitorId = randomUUID();
    const tabs = [hello(visitorId), openers["socket.io by WebSocket"](visitorId, 0, { replica: OTHER })] as const;
    for (const tab of tabs) await tab.next("ready");
    const sent = await Promise.all([say(tabs[0], "from the first"), say(tabs[1], "from the second")]);
    const { lastSeq } = await waitForQuiet(visitorId);
    for (const [index, tab] of tabs.entries()) {
      const seen = () => [...new Set([...positionsOf(tab), sent[index]?.seq ?? 0])].toSorted((a, b) => a - b);
      await waitFor(() => seen().length === lastSeq, { what: "all of it in each tab" });
      expect(seen()).toEqual(Array.from({ length: lastSeq }, (_, position) => position + 1));
      const positions = positionsOf(tab);
      expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b));
    }
  });
});

describe("the same message over HTTP and over sockets of two replicas concurrently", () => {
  test("is stored once: each transport gets the same id and sequence number", async () => {
    const visitorId = randomUUID();
    const lines = [hello(visitorId), openers["socket.io by WebSocket"](visitorId, 0, { replica: OTHER })];
    for (const line of lines) await line.next("ready");
    const message = { text: QUESTION, clientMessageId: randomUUID() };
    const responses = [0, OTHER].map((replica) =>
      widget.call("/api/widget/message", { visitorId, json: message, replica }),
    );
    for (const line of lines) line.send("message", message);
    const positions = [
      ...(await Promise.all(responses)).map((response) => response.json() as Promise<{ messageId: string }>),
      ...lines.map(async (line) => (await line.next("ack")).data),
    ].map(async (answer) => (await answer).messageId);
    expect(new Set(await Promise.all(positions)).size).toBe(1);
    expect(await waitForQuiet(visitorId)).toMatchObject({ lastSeq: 2 });
    for (const line of lines) {
      await line.next("reply");
      // A connection may get the message from another transport before its own frame was read.
      expect(positionsOf(line).filter((position) => position > 1)).toEqual([2]);
    }
  });
});

describe("a further hello", () => {
  test("resends replies after the given sequence number, and a number beyond the end skips nothing", async () => {
    const visitorId = randomUUID();
    const visitor = hello(visitorId);
    await say(visitor);
    await visitor.next("reply");
    visitor.send("hello", { sinceSeq: 0 });
    await waitFor(() => positionsOf(visitor).length === 3, { what: "all of it again" });
    visitor.send("hello", { sinceSeq: 1_000_000, visitorId });
    await waitFor(() => visitor.frames.filter(({ type }) => type === "ready").length === 3, { what: "a third ready" });
    const { messageId } = await say(visitor);
    await visitor.next("reply", ({ data }) => data.inReplyTo === messageId);
    expect(positionsOf(visitor)).toEqual([2, 1, 2, 4]);
  });
});

describe("operators", () => {
  test("a reply reaches every tab, on every replica, and later connections", async () => {
    const visitorId = randomUUID();
    const tabs = [hello(visitorId), openers["socket.io as it is"](visitorId, 0, { replica: OTHER })] as const;
    await say(tabs[0], QUESTION, { wantsPerson: true });
    for (const tab of tabs) await tab.next("status", ({ data }) => data.state === "waiting");
    const [url = ""] = widget.composition.apiUrls;
    const answer = await callApi(`${url}/api/v1/admin/tickets/${ticketOf(visitorId)}/reply`, {
      key: widget.adminKey,
      json: { text: "I am a person." },
    });
    expect(answer.status).toBe(200);
    for (const tab of [...tabs, hello(visitorId, 1)]) {
      const { data } = await tab.next("reply", (reply) => reply.data.author === "operator");
      expect(data.items).toMatchObject([{ type: "message", text: "I am a person." }]);
    }
  });
});

describe("additional frames", () => {
  test("a rating is stored, shown in every tab, and adds an event to the ticket; the same one again changes nothing", async () => {
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

  test("read and delivered replies are recorded", async () => {
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

  test("the visitor sees that an operator has the conversation, and when it ends", async () => {
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

  test("sequence numbers continue after the conversation was erased", async () => {
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
    expect(positionsOf(again)).toEqual([3, 4]);
  });
});
