import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createAuthenticator, issueKey } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { AcceptedMessage, IncomingContext, IncomingMessage } from "@svc/contracts";
import { authenticated, createApp, createOpenLimit, listen } from "@svc/http";
import { createAddressGuard } from "@svc/outbound";
import { openQueues } from "@svc/queue";
import { asProjectId, newId, openStore } from "@svc/store";
import type { CallbackRef, Project, Store } from "@svc/store";
import { channelConformance, collectLog, createTestDatabase, testLog } from "@svc/testing";
import type { ChannelUnderTest, ItemToSend, SentItem, TestDatabase } from "@svc/testing";
import { createApiChannel, createPersister, createSecretsReader, createSettingsReader } from "./api-context.ts";
import { deliverCallbacks } from "./callbacks/deliver-callbacks.ts";
import { drainMessages } from "./messages/drain-messages.ts";
import { postMessage } from "./messages/post-message.ts";
import { openReplyBoard, startHeartbeat } from "./messages/waiting-calls.ts";

describe("apiChannel", () => {
  const log = testLog();

  let database: TestDatabase;
  let store: Store;
  let project: Project;
  let key: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    store = openStore({ url: database.url, secretKey: "conformance-secret-of-32-characters", log });
    project = (await store.projects.ensure("conformance")).project;
    ({ key } = await issueKey(store, {
      name: "conformance",
      scopes: ["messages:*"],
      project: project.id,
      createdBy: "test",
    }));
  });

  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  /** Starts the channel behind its real routes on its own port, over a real store; the test acts as the pipeline. */
  async function startChannel(): Promise<ChannelUnderTest> {
    const queues = openQueues({ databaseUrl: database.url, redisUrl: undefined, log });
    const board = openReplyBoard(queues);
    const persister = createPersister(log);
    const heartbeat = await startHeartbeat(store, log);
    const guard = createAddressGuard({ allow: [], allowLoopback: true, ownPorts: [] });
    const readSettings = createSettingsReader(store);
    const readSecrets = createSecretsReader(store);
    const notifyWaiters = (ticketId: string) => board.notify(ticketId);
    const callbacks = deliverCallbacks({ store, queues, log, guard, readSecrets, notifyWaiters });
    const channel = createApiChannel({ board, callbacks, findProblem: () => null });
    const limits = { limitPolls: createOpenLimit(100, "polls"), limitHeldCalls: createOpenLimit(100, "calls") };
    const settings = { guard, readSettings, readSecrets };
    const context = { store, queues, log, channel, board, persister, heartbeat, ...settings, ...limits };
    const app = createApp(log, (routes) => {
      routes.use("/api/v1", authenticated(createAuthenticator({ store, log })));
      routes.post("/api/v1/messages", postMessage(context));
      routes.get("/api/v1/messages/:chatId", drainMessages(context));
    });
    const listening = await listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_API_PORT" });
    const url = `http://127.0.0.1:${listening.port}/api/v1/messages`;
    const headers = { "X-Api-Key": key, "Content-Type": "application/json" };
    // Makes chat ids unique to each test.
    const chatIdOf = (sender: string) => `${sender} ${listening.port}/${heartbeat.instance}`;
    const chatIds = new Set<string>();
    const collected: SentItem[] = [];

    return {
      channel,
      chatIdOf,
      async receive({ sender, text }) {
        const chatId = chatIdOf(sender);
        const response = await fetch(url, {
          method: "POST",
          headers,
          body: JSON.stringify({ text, chatId, mode: "async" }),
        });
        await response.arrayBuffer();
        if (response.status !== 202) throw new Error(`the message was rejected with ${response.status}`);
        chatIds.add(chatId);
      },
      accept: (message, incoming) => commit(message, incoming),
      prepareReply: (accepted, item) => commitReply(accepted, item),
      async sent() {
        for (const chatId of chatIds) {
          const response = await fetch(`${url}/${encodeURIComponent(chatId)}`, { headers });
          const { replies } = (await response.json()) as { replies: ReplyBody[] };
          collected.push(...replies.map((reply) => sentItem(chatId, reply)));
        }
        return collected;
      },
      async close() {
        await channel.stop();
        board.close();
        await listening.close(1_000);
        await persister.close();
        await heartbeat.stop();
        await queues.close();
      },
    };
  }

  /** Commits a message as the channel manager does, without an announcement. */
  function commit(message: IncomingMessage, context: IncomingContext): Promise<AcceptedMessage> {
    return store.messages.accept(asProjectId(context.project), {
      channelId: message.channelId,
      chatId: message.chatId,
      userId: message.userId ?? null,
      text: message.text,
      timestampMs: message.timestamp,
      attachments: message.attachments ?? null,
      channelMeta: message.channelMeta,
      mode: context.mode ?? null,
      callInstance: context.callInstance ?? null,
      callback: null,
    });
  }

  /** Commits a reply as a run of the pipeline does: to the oldest open message of the chat, or to a new one. */
  async function commitReply({ ticketId }: AcceptedMessage, item: ItemToSend) {
    const claimed = await store.messages.claim(project.id, ticketId);
    const message = claimed ?? (await claimFurther(ticketId));
    await store.tickets.open(project.id, message);
    const finished = await store.tickets.finish(project.id, {
      message,
      state: "answered",
      failure: null,
      stage: "done",
      status: "pending",
      agentId: null,
      confidence: null,
      language: null,
      moves: [],
      trace: {},
      replies: [
        {
          author: "agent",
          item:
            item.kind === "message"
              ? { type: "message", text: item.text, markdown: false }
              : { type: "attachment", filename: item.filename, mime: item.mime, content: item.content },
        },
      ],
      draft: null,
    });
    const seq = finished?.replies?.toSeq;
    if (seq === undefined) throw new Error("the reply was not committed");
    return { project: project.id, ticketId, replyId: finished?.stored?.[0]?.id ?? "", seq };
  }

  /** Claims another message of the chat, since each one can be answered only once. */
  async function claimFurther(ticketId: string) {
    const ticket = await store.tickets.find(project.id, ticketId);
    if (ticket === null) throw new Error("the chat has no ticket");
    const { channelId, chatId } = ticket;
    const further = { channelId, chatId, text: "and another one", timestamp: Date.now(), channelMeta: {} };
    await commit(further, { project: project.id, mode: "async" });
    const claimed = await store.messages.claim(project.id, ticketId);
    if (claimed === null) throw new Error("the further message is being worked on");
    return claimed;
  }

  type ReplyBody = { id: string; seq: number } & (
    | { type: "message"; text: string }
    | { type: "attachment"; filename: string; mime: string; base64: string }
  );

  function sentItem(chatId: string, reply: ReplyBody): SentItem {
    const context = { replyId: reply.id, seq: reply.seq };
    if (reply.type === "message") return { kind: "message", chatId, text: reply.text, context };
    const { filename, mime, base64 } = reply;
    return { kind: "attachment", chatId, filename, mime, content: Buffer.from(base64, "base64"), context };
  }

  describe("the api channel meets the contract of every channel:", () => {
    channelConformance(startChannel, { test, expect });
  });

  describe("the api channel notifies waiting callers", () => {
    const context = { project: "project-1", ticketId: "ticket-1", replyId: "reply-1", seq: 7 };
    const start = () => {
      const notified: [ticketId: string, messageId?: string][] = [];
      const board = { notify: (...args: [string, string?]) => void notified.push(args) };
      const created: CallbackRef[] = [];
      const callbacks = { create: async (refs: CallbackRef[]) => void created.push(...refs) };
      return { notified, created, channel: createApiChannel({ board, callbacks, findProblem: () => null }) };
    };

    test("of a reply, with the message that it answers, of an unprompted reply, and of an attachment", async () => {
      const { notified, channel } = start();
      await channel.sendMessage("chat", "hello", { ...context, inReplyTo: "message-1" });
      await channel.sendMessage("chat", "hello", context);
      await channel.sendAttachment?.("chat", { filename: "a", mime: "b/c", content: Buffer.from("d") }, context);
      expect(notified).toEqual([
        ["ticket-1", "message-1"],
        ["ticket-1", undefined],
        ["ticket-1", undefined],
      ]);
    });

    test("of announced replies in every mode but webhook, which creates callbacks", async () => {
      const { notified, created, channel } = start();
      const announcement = { project: project.id, ticketId: newId() };
      await channel.announce?.(
        ([null, "sync", "async", "webhook"] as const).map((mode) => ({ ...announcement, messageId: mode, mode })),
      );
      const { ticketId } = announcement;
      expect(notified).toEqual([
        [ticketId, undefined],
        [ticketId, "sync"],
        [ticketId, "async"],
      ]);
      expect(created).toEqual([announcement]);
    });
  });
});

const unavailable = () => Promise.reject(new ServiceError("unavailable", "service unavailable"));

describe("work to persist", () => {
  test("is retried until the store accepts it", async () => {
    const persister = createPersister(testLog());
    let attempts = 0;
    await persister.persist("a note", () => (++attempts < 3 ? unavailable() : Promise.resolve()));
    expect(attempts).toBe(3);
  });

  test("is completed before close resolves", async () => {
    const persister = createPersister(testLog());
    let write: () => void = () => undefined;
    let isWritten = false;
    void persister.persist("a note", async () => {
      await new Promise<void>((resolve) => {
        write = resolve;
      });
      isWritten = true;
    });
    const closed = persister.close();
    write();
    await closed;
    expect(isWritten).toBe(true);
  });

  test("is attempted only once after close while the store is unavailable, with a log entry", async () => {
    const { log, lines } = collectLog();
    const persister = createPersister(log);
    await persister.close();
    let attempts = 0;
    await persister.persist("a note", () => {
      attempts++;
      return unavailable();
    });
    expect(attempts).toBe(1);
    expect(lines()).toEqual([expect.objectContaining({ level: "warn", msg: "a note abandoned" })]);
  });

  test("is retried after another error, such as a deadlock", async () => {
    const persister = createPersister(testLog(), { retryMs: 0 });
    let attempts = 0;
    await persister.persist("a note", () =>
      ++attempts < 5 ? Promise.reject(new Error("deadlock detected")) : Promise.resolve(),
    );
    expect(attempts).toBe(5);
  });

  test("is given up after ten other errors, with a log entry", async () => {
    const { log, lines } = collectLog();
    const persister = createPersister(log, { retryMs: 0 });
    await persister.persist("a note", () => Promise.reject(new Error("no such table")));
    expect(lines()).toEqual([expect.objectContaining({ level: "error", msg: "a note failed" })]);
    await persister.close();
  });
});
