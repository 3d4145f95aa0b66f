import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { AcceptedMessage, Channel, ChannelId, IncomingHandler, IncomingMessage } from "@svc/contracts";
import { QueueDownError, announceReply, openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { newId, openStore, ticketIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { collectLog, createTestDatabase, createTestQueueBackend, freePort, testLog, waitFor } from "@svc/testing";
import type { TestDatabase, TestQueueBackend } from "@svc/testing";
import { acceptMessage, createChannelManager } from "./channel-manager.ts";
import type { ChannelManager } from "./channel-manager.ts";

describe("acceptMessage", () => {
  let database: TestDatabase;
  let store: Store;
  /** Another process that reads committed rows. */
  let observer: Store;
  let project: ProjectId;
  /** Published jobs, and the response of the queue. */
  let published: { name: string; jobs: { id: string; data: unknown }[] }[];
  let publish: () => Promise<void>;
  let log: ReturnType<typeof collectLog>;
  /** Where typing was shown. */
  let typing: unknown[];
  let markTyping: () => Promise<void>;

  beforeAll(async () => {
    database = await createTestDatabase();
    [store, observer] = [1, 2].map(() =>
      openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() }),
    ) as [Store, Store];
    project = (await store.projects.ensure("default")).project.id;
  });

  beforeEach(() => {
    published = [];
    publish = () => Promise.resolve();
    log = collectLog();
    typing = [];
    markTyping = () => Promise.resolve();
  });

  afterAll(async () => {
    await store.close();
    await observer.close();
    await database.drop();
  });

  /** Queues that record published jobs and respond as the test defines. */
  const queues = {
    publish(name: string, jobs: { id: string; data: unknown }[]) {
      published.push({ name, jobs });
      return publish();
    },
  } as unknown as Queues;

  const channel: Channel = {
    id: "widget",
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    onMessage: () => undefined,
    sendMessage: () => Promise.resolve(),
    markTyping(chatId, context) {
      typing.push({ chatId, context });
      return markTyping();
    },
  };

  const newMessage = (change: Partial<IncomingMessage> = {}): IncomingMessage => ({
    channelId: "widget",
    chatId: newId(),
    text: "hello",
    timestamp: 1_700_000_000_000,
    channelMeta: {},
    ...change,
  });

  function accept(message: IncomingMessage, on: Partial<{ store: Store; queues: Queues; channel: Channel }> = {}) {
    return acceptMessage({ store, queues, log: log.log, ...on }, on.channel ?? channel, message, { project });
  }

  const isCommitted = async ({ messageId }: AcceptedMessage) =>
    (await observer.messages.findState(project, messageId)) === "received";

  /** Never resolves. */
  const hang = () => new Promise<void>(() => undefined);

  describe("a message that is accepted", () => {
    test("is committed with all that it came with, and its ids are known before the pipeline has run", async () => {
      const message = newMessage({
        chatId: "visitor/1",
        userId: "u",
        attachments: [{ type: "image/png", url: "https://example.com/a.png" }],
        channelMeta: JSON.parse('{"__proto__":{"a":1},"page":"/"}') as Record<string, unknown>,
      });
      const accepted = await accept(message);
      expect(accepted).toEqual({
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        ticketId: ticketIdOf(project, "widget", "visitor/1"),
        seq: 1,
      });
      expect(await isCommitted(accepted)).toBe(true);
      const claimed = await observer.messages.claim(project, accepted.ticketId);
      expect(claimed).toMatchObject({ channelId: "widget", chatId: "visitor/1", userId: "u", text: "hello" });
      // Keys may be returned in another order.
      const kept = Object.entries(claimed?.channelMeta ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect(kept).toEqual([
        ["__proto__", { a: 1 }],
        ["page", "/"],
      ]);
    });

    test("has the next place of its chat", async () => {
      const chatId = newId();
      const positions = [];
      for (let round = 0; round < 3; round++) positions.push((await accept(newMessage({ chatId }))).seq);
      expect(positions).toEqual([1, 2, 3]);
    });

    test("is announced to the pipeline once, by ids only", async () => {
      const { messageId, ticketId } = await accept(newMessage({ text: "not in the queue" }));
      expect(published).toEqual([
        {
          name: "incoming-messages",
          jobs: [{ id: `${messageId}-0`, data: { project, messageId, ticketId }, mayShare: true, mayWait: true }],
        },
      ]);
    });

    test("is announced on the real queue", async () => {
      const backend = await createTestQueueBackend();
      const { redisUrl, prefix } = backend;
      const real = openQueues({ databaseUrl: database.url, redisUrl, prefix, log: testLog() });
      await waitFor(() => real.isUp(), { what: "the queues to be up" });
      const accepted = await accept(newMessage(), { queues: real });
      const taken: unknown[] = [];
      const consumer = real.consume("incoming-messages", (job) => {
        taken.push(job);
        return Promise.resolve();
      });
      await waitFor(() => taken.length > 0, { what: "the job" });
      expect(taken).toEqual([{ project, messageId: accepted.messageId, ticketId: accepted.ticketId }]);
      await consumer.close(1_000);
      await real.close();
      await backend.stop();
    });

    test("shows in its chat that a reply is pending", async () => {
      const { ticketId } = await accept(newMessage({ chatId: "visitor/2" }));
      expect(typing).toEqual([{ chatId: "visitor/2", context: { project, ticketId } }]);
    });
  });

  describe("acceptance does not depend on", () => {
    test("the queue being there: the message is committed, and the sweeper will announce it", async () => {
      publish = () => Promise.reject(new QueueDownError());
      const accepted = await accept(newMessage());
      expect(await isCommitted(accepted)).toBe(true);
      expect(log.lines().map(({ level }) => level)).toEqual(["debug"]);
    });

    test("the queue answering", async () => {
      publish = hang;
      expect(await isCommitted(await accept(newMessage()))).toBe(true);
    });

    test("the queue working: another fault of it is in the log as a warning", async () => {
      publish = () => Promise.reject(new Error("out of memory"));
      const accepted = await accept(newMessage());
      expect(await isCommitted(accepted)).toBe(true);
      expect(log.lines()).toEqual([expect.objectContaining({ level: "warn", messageId: accepted.messageId })]);
    });

    test.each([
      ["fails", () => Promise.reject(new Error("no such chat"))],
      ["hangs", hang],
    ])("typing being shown: it %s", async (_what, show) => {
      markTyping = show;
      expect(await isCommitted(await accept(newMessage()))).toBe(true);
    });

    test("a channel that can show typing", async () => {
      const { markTyping: _none, ...bare } = channel;
      expect(await isCommitted(await accept(newMessage(), { channel: bare }))).toBe(true);
    });
  });

  describe("a message that is not accepted", () => {
    test("while the store is away is told unavailable, is announced to nobody, and shows no typing", async () => {
      const url = `postgres://svc@127.0.0.1:${await freePort()}/svc`;
      const away = openStore({ url, secretKey: "x".repeat(32), log: testLog() });
      await expect(accept(newMessage(), { store: away })).rejects.toMatchObject({ code: "unavailable" });
      await away.close();
      expect([published, typing]).toEqual([[], []]);
    });

    test.each<[string, object]>([
      ["a channel that nobody knows", { channelId: "email" }],
      ["no text", { text: undefined }],
      ["a time that is no number", { timestamp: "now" }],
      ["no channelMeta", { channelMeta: null }],
    ])("for %s is stored nowhere", async (_what, change) => {
      const chatId = newId();
      await expect(accept({ ...newMessage({ chatId }), ...change })).rejects.toThrow();
      expect(published).toEqual([]);
      expect((await accept(newMessage({ chatId }))).seq).toBe(1);
    });
  });
});

describe("the channel manager", () => {
  let database: TestDatabase;
  let backend: TestQueueBackend;
  let store: Store;
  let queues: Queues;
  let project: ProjectId;
  let manager: ChannelManager;

  beforeAll(async () => {
    database = await createTestDatabase();
    backend = await createTestQueueBackend();
    const log = testLog();
    store = openStore({ url: database.url, secretKey: "x".repeat(32), log });
    queues = openQueues({ databaseUrl: database.url, redisUrl: backend.redisUrl, prefix: backend.prefix, log });
    await waitFor(() => queues.isUp(), { what: "the queues to be up" });
    project = (await store.projects.ensure("default")).project.id;
  });

  beforeEach(() => {
    manager = createChannelManager({ store, queues, log: testLog() });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await manager.reconcile([]);
    for (const id of ["api", "widget", "messenger"] as const) await store.channelsConfig.setEnabled(id, false);
  });

  afterAll(async () => {
    await queues.close();
    await store.close();
    await backend.stop();
    await database.drop();
  });

  /** A channel that pushes, and records its calls. */
  interface RecordingChannel extends Channel {
    calls: string[];
    texts: string[];
    handler: IncomingHandler | null;
  }

  /** Creates one; `change` replaces parts of it. */
  function recording(id: ChannelId, change: Partial<Channel> = {}): RecordingChannel {
    const calls: string[] = [];
    const texts: string[] = [];
    const channel: RecordingChannel = {
      id,
      calls,
      texts,
      handler: null,
      start() {
        calls.push("start");
        return change.start?.() ?? Promise.resolve();
      },
      stop() {
        calls.push("stop");
        return change.stop?.() ?? Promise.resolve();
      },
      onMessage(handler) {
        channel.handler = handler;
      },
      sendMessage(_chatId, text) {
        texts.push(text);
        return Promise.resolve();
      },
      isActive: () => change.isActive?.() ?? true,
      findProblem: () => change.findProblem?.() ?? null,
    };
    return channel;
  }

  function register(id: ChannelId, change: Partial<Channel> = {}): RecordingChannel {
    const channel = recording(id, change);
    manager.register(channel);
    return channel;
  }

  /** Each channel with its state and error. */
  const states = () => Object.fromEntries(manager.states().map(({ id, state, error }) => [id, error ?? state]));

  /** Waits for the effect of the settings. */
  function waitForPolls(check: () => boolean, what: string): Promise<boolean> {
    return waitFor(check, { what });
  }

  /** An event that the test triggers. */
  function gate(): { opened: Promise<void>; open: () => void } {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  }

  describe("a channel", () => {
    test("is registered once: a second one of its id is refused, and the first one stays", async () => {
      const first = register("widget");
      const second = recording("widget");
      expect(() => manager.register(second)).toThrow(/widget is already registered/);
      await manager.reconcile(["widget"]);
      expect([first.calls, second.calls, second.handler]).toEqual([["start"], [], null]);
    });

    test("is stopped until it is enabled, and says since when it is what it is", async () => {
      register("widget");
      const [before] = manager.states();
      expect(before).toEqual({ id: "widget", state: "stopped", since: expect.any(Date), error: null });
      await manager.reconcile(["widget"]);
      const [after] = manager.states();
      expect(after).toMatchObject({ state: "running", error: null });
      await manager.reconcile(["widget"]);
      expect(manager.states()[0]?.since).toBe(after?.since);
    });

    test("that has started is failing as long as it says what keeps it from its work, and is not started again", async () => {
      let error: string | null = "unauthorized: the bot token is not valid";
      const channel = register("messenger", { findProblem: () => error });
      await manager.reconcile(["messenger"]);
      const [before] = manager.states();
      expect(before).toMatchObject({ state: "failing", error: error });
      await manager.reconcile(["messenger"]);
      expect(manager.states()[0]?.since).toBe(before?.since);
      error = null;
      await manager.reconcile(["messenger"]);
      expect(states()).toEqual({ messenger: "running" });
      await manager.reconcile([]);
      expect(channel.calls).toEqual(["start", "stop"]);
    });

    test("hands over messages that are committed in its name", async () => {
      const channel = register("widget");
      await manager.reconcile(["widget"]);
      const accepted = await channel.handler?.(
        { channelId: "widget", chatId: newId(), text: "hello", timestamp: Date.now(), channelMeta: {} },
        { project },
      );
      expect(accepted).toEqual({ messageId: expect.any(String), ticketId: expect.any(String), seq: 1 });
      expect(await store.messages.findState(project, accepted?.messageId ?? "")).toBe("received");
    });
  });

  describe("reconciling", () => {
    test("starts the channels of the list and stops all others, each once", async () => {
      const [api, widget, messenger] = [register("api"), register("widget"), register("messenger")];
      await manager.reconcile(["api", "widget"]);
      expect(states()).toEqual({ api: "running", widget: "running", messenger: "stopped" });
      await manager.reconcile(["messenger", "widget"]);
      await manager.reconcile(["widget", "messenger"]);
      expect(states()).toEqual({ api: "stopped", widget: "running", messenger: "running" });
      await manager.reconcile(["api"]);
      expect(api.calls).toEqual(["start", "stop", "start"]);
      expect(widget.calls).toEqual(["start", "stop"]);
      expect(messenger.calls).toEqual(["start", "stop"]);
    });

    test("does nothing about channels that are in another process", async () => {
      register("api");
      await manager.reconcile(["api", "widget", "messenger"]);
      expect(states()).toEqual({ api: "running" });
    });

    test("waits for the one before: a channel is never stopped while it starts", async () => {
      const starting = gate();
      const channel = register("widget", { start: () => starting.opened });
      const [on, off] = [manager.reconcile(["widget"]), manager.reconcile([])];
      await waitFor(() => channel.calls.length > 0, { what: "the channel to start" });
      expect(channel.calls).toEqual(["start"]);
      starting.open();
      await Promise.all([on, off]);
      expect(channel.calls).toEqual(["start", "stop"]);
      expect(states()).toEqual({ widget: "stopped" });
    });
  });

  describe("a channel that does not start", () => {
    test("is failing, in words for its callers, and keeps no other channel from starting", async () => {
      register("messenger", {
        start: () => Promise.reject(new ServiceError("unavailable", "the bot token is not valid")),
      });
      register("widget");
      await manager.reconcile(["messenger", "widget"]);
      expect(manager.states()).toEqual([
        { id: "messenger", state: "failing", since: expect.any(Date), error: "the bot token is not valid" },
        { id: "widget", state: "running", since: expect.any(Date), error: null },
      ]);
    });

    test("shows no text of a library, which may hold a token; that is in the log, once", async () => {
      const { log, lines } = collectLog();
      manager = createChannelManager({ store, queues, log });
      const cause = "GET https://api.example.com/bot123:planted/getMe failed";
      register("messenger", { start: () => Promise.reject(new Error(cause)) });
      const now = jest.spyOn(Date, "now");
      for (const time of [1_000_000, 2_000_000]) {
        now.mockReturnValue(time);
        await manager.reconcile(["messenger"]);
      }
      expect(states()).toEqual({ messenger: "The channel could not be started. See the log." });
      expect(lines().filter(({ level }) => level === "warn")).toHaveLength(1);
    });

    test("shows a port that is taken, without a stack in the log", async () => {
      const { log, lines } = collectLog();
      manager = createChannelManager({ store, queues, log });
      const taken = Object.assign(new Error("Port 31415 is taken."), { name: "PortTakenError" });
      register("messenger", { start: () => Promise.reject(taken) });
      await manager.reconcile(["messenger"]);
      expect(states()).toEqual({ messenger: "Port 31415 is taken." });
      const warnings = lines().filter(({ level }) => level === "warn");
      expect(warnings).toEqual([expect.objectContaining({ reason: "Port 31415 is taken." })]);
      expect(JSON.stringify(warnings)).not.toContain("stack");
    });

    test("is not tried at once but some seconds later, again and again, until it runs", async () => {
      let isBroken = true;
      const channel = register("messenger", {
        start: () => (isBroken ? Promise.reject(new Error("not reachable")) : Promise.resolve()),
      });
      const starts = () => channel.calls.filter((call) => call === "start").length;
      const now = jest.spyOn(Date, "now");
      let time = 1_000_000;
      now.mockImplementation(() => time);
      for (let round = 1; round <= 3; round++) {
        await manager.reconcile(["messenger"]);
        await manager.reconcile(["messenger"]);
        expect(starts()).toBe(round);
        time += 10_000;
      }
      isBroken = false;
      await manager.reconcile(["messenger"]);
      expect(states()).toEqual({ messenger: "running" });
      expect(manager.states()[0]?.error).toBeNull();
    });

    test("is given up when it is switched off", async () => {
      const channel = register("messenger", { start: () => Promise.reject(new Error("not reachable")) });
      await manager.reconcile(["messenger"]);
      await manager.reconcile([]);
      expect(states()).toEqual({ messenger: "stopped" });
      expect(channel.calls.at(-1)).toBe("stop");
    });
  });

  describe("a channel that does not stop", () => {
    test("is failing, is tried again, and keeps no other channel from stopping", async () => {
      let isBroken = true;
      register("messenger", {
        stop: () => (isBroken ? Promise.reject(new Error("a send hangs")) : Promise.resolve()),
      });
      register("widget");
      await manager.reconcile(["messenger", "widget"]);
      await manager.reconcile([]);
      expect(states()).toEqual({
        messenger: "The channel could not be stopped. See the log.",
        widget: "stopped",
      });
      isBroken = false;
      await manager.reconcile([]);
      expect(states()).toEqual({ messenger: "stopped", widget: "stopped" });
    });
  });

  describe("following the settings", () => {
    test("starts what is enabled before it resolves, and stops everything at its end", async () => {
      await store.channelsConfig.setEnabled("widget", true);
      register("widget");
      register("messenger");
      const unfollow = await manager.follow();
      expect(states()).toEqual({ widget: "running", messenger: "stopped" });
      await unfollow();
      expect(states()).toEqual({ widget: "stopped", messenger: "stopped" });
    });

    test("switches channels on and off as they change, told or not", async () => {
      register("widget");
      register("messenger");
      const unfollow = await manager.follow();
      await store.channelsConfig.setEnabled("widget", true);
      await waitFor(() => states()["widget"] === "running", { what: "the widget to run, though nobody was told" });
      await store.channelsConfig.setEnabled("messenger", true);
      await store.channelsConfig.setEnabled("widget", false);
      await waitForPolls(
        () => states()["widget"] === "stopped" && states()["messenger"] === "running",
        "the widget to stop and the messenger to run",
      );
      await unfollow();
    });

    test("leaves the channels as they are while the store is away, and goes on when it is back", async () => {
      await store.channelsConfig.setEnabled("widget", true);
      const channel = register("widget");
      const unfollow = await manager.follow();
      const report = jest.spyOn(store.channelStates, "report");
      report.mockRejectedValue(new ServiceError("unavailable", "away"));
      await waitForPolls(() => report.mock.calls.length >= 2, "the settings to be looked for in vain");
      expect(states()).toEqual({ widget: "running" });
      report.mockRestore();
      await store.channelsConfig.setEnabled("widget", false);
      await waitForPolls(() => states()["widget"] === "stopped", "the widget to stop");
      expect(channel.calls).toEqual(["start", "stop"]);
      await unfollow();
    });

    test("fails when the settings cannot be read at its beginning", async () => {
      register("widget");
      jest.spyOn(store.channelsConfig, "read").mockRejectedValueOnce(new ServiceError("unavailable", "away"));
      await expect(manager.follow()).rejects.toMatchObject({ code: "unavailable" });
      expect(states()).toEqual({ widget: "stopped" });
    });

    test("starts nothing after its end, not even by a look that was under way", async () => {
      await store.channelsConfig.setEnabled("widget", true);
      const channel = register("widget");
      const unfollow = await manager.follow();
      const settings = await store.channelsConfig.read();
      const reading = gate();
      const report = jest.spyOn(store.channelStates, "report").mockImplementation(async () => {
        await reading.opened;
        return settings;
      });
      await waitForPolls(() => report.mock.calls.length > 0, "a look to be under way");
      await unfollow();
      reading.open();
      // Once another reconciliation has ended, so have all earlier ones.
      await Promise.all(report.mock.results.map(({ value }) => value as Promise<unknown>));
      await manager.reconcile([]);
      expect(channel.calls).toEqual(["start", "stop"]);
    });
  });

  describe("replies", () => {
    /** Accepts and answers a message; announces the reply, unless the queue is supposed to lose it. */
    async function answer(text: string, { isAnnounced = true } = {}): Promise<void> {
      const message = await store.messages.accept(project, {
        channelId: "messenger",
        chatId: newId(),
        userId: null,
        text: "hello",
        timestampMs: Date.now(),
        attachments: null,
        channelMeta: {},
        mode: null,
        callInstance: null,
        callback: null,
      });
      const claimed = await store.messages.claim(project, message.ticketId);
      if (claimed === null) throw new Error("the message could not be claimed");
      await store.tickets.open(project, claimed);
      const finished = await store.tickets.finish(project, {
        message: claimed,
        state: "answered",
        failure: null,
        stage: "done",
        status: "pending",
        agentId: null,
        confidence: null,
        language: null,
        moves: [],
        trace: {},
        replies: [{ item: { type: "message", text, markdown: false }, author: "agent" }],
        draft: null,
      });
      if (finished?.replies == null) throw new Error("there is no reply");
      const { ticketId, messageId } = message;
      if (!isAnnounced) return;
      await announceReply(queues, "messenger", { project, ticketId, messageId, mode: null, ...finished.replies });
    }

    test("reach the channel that they belong to, and wait while it is stopped", async () => {
      const [widget, messenger] = [register("widget"), register("messenger")];
      await manager.reconcile(["widget", "messenger"]);
      await answer("first");
      await waitFor(() => messenger.texts.length === 1, { what: "the first reply" });
      await manager.reconcile(["widget"]);
      await answer("second");
      await manager.reconcile(["messenger", "widget"]);
      await waitFor(() => messenger.texts.length === 2, { what: "the second reply" });
      expect(messenger.texts).toEqual(["first", "second"]);
      expect(widget.texts).toEqual([]);
    });

    test("that the queue has lost are found and sent", async () => {
      const messenger = register("messenger");
      await manager.reconcile(["messenger"]);
      await answer("lost", { isAnnounced: false });
      await waitFor(() => messenger.texts.length === 1, { what: "the reply that nobody announced" });
      expect(messenger.texts).toEqual(["lost"]);
    });

    test("are sent by the replica that works, whoever is told of them", async () => {
      const idle = register("messenger", { isActive: () => false });
      await manager.reconcile(["messenger"]);
      const other = createChannelManager({ store, queues, log: testLog() });
      const active = recording("messenger");
      other.register(active);
      await other.reconcile(["messenger"]);
      for (const text of ["one", "two", "three"]) await answer(text);
      await waitFor(() => active.texts.length === 3, { what: "the replies" });
      expect(active.texts.toSorted()).toEqual(["one", "three", "two"]);
      expect(idle.texts).toEqual([]);
      await other.reconcile([]);
    });
  });
});
