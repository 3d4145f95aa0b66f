import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { IncomingContext, IncomingHandler, IncomingMessage } from "@svc/contracts";
import { openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { createTestDatabase, startFakeBotApi, testLog, waitFor } from "@svc/testing";
import type { FakeBot, FakeBotApi, TestDatabase } from "@svc/testing";
import { runBot } from "./run-bot.ts";
import type { RunningBot } from "./run-bot.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");

let database: TestDatabase;
let store: Store;
let api: FakeBotApi;
let project: ProjectId;
const running: RunningBot[] = [];

/** A received message, with its chat. A repeated message is received once more. */
interface ReceivedMessage {
  message: IncomingMessage;
  context: IncomingContext;
}

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  project = (await store.projects.ensure("default")).project.id;
  api = await startFakeBotApi();
});

afterEach(async () => {
  api.failWith(null);
  await Promise.all(running.splice(0).map((bot) => bot.stop()));
});

afterAll(async () => {
  await api.close();
  await store.close();
  await database.drop();
});

/** Commits a message, as the channel manager does. */
async function commit(message: IncomingMessage, { messageId }: IncomingContext) {
  const { attachments = null, userId = null, timestamp, ...rest } = message;
  return store.messages.accept(
    project,
    { ...rest, userId, timestampMs: timestamp, attachments, mode: null, callInstance: null, callback: null },
    messageId,
  );
}

/** Runs a bot; each call is another replica. */
function start(
  bot: FakeBot,
  { receive = commit, using = store }: { receive?: IncomingHandler; using?: Store } = {},
): { running: RunningBot; taken: ReceivedMessage[]; texts: () => string[] } {
  const taken: ReceivedMessage[] = [];
  const started = runBot(
    {
      store: using,
      log: testLog(),
      apiRoot: api.url,
      project,
      async receive(message, context) {
        const accepted = await receive(message, context);
        taken.push({ message, context });
        return accepted;
      },
    },
    { token: bot.token, botId: bot.id },
  );
  running.push(started);
  return { running: started, taken, texts: () => taken.map(({ message }) => message.text) };
}

const until = (check: () => boolean | Promise<boolean>, what: string) => waitFor(check, { what, timeoutMs: 20_000 });

describe("a bot", () => {
  test("receives each message once, those of a chat in order, and confirms them", async () => {
    const bot = api.addBot();
    const chats = [501, 502, 503];
    bot.pushAll(
      Array.from({ length: 30 }, (_, index) => bot.message({ chatId: chats[index % 3] ?? 0, text: `text ${index}` })),
    );
    const { taken } = start(bot);
    await until(() => taken.length === 30, "all messages");
    for (const [chat, chatId] of chats.entries()) {
      const ofChat = taken.filter(({ message }) => message.chatId === String(chatId));
      expect(ofChat.map(({ message }) => message.text)).toEqual(
        Array.from({ length: 10 }, (_, index) => `text ${index * 3 + chat}`),
      );
    }
    expect(new Set(taken.map(({ context }) => context.messageId)).size).toBe(30);
    await until(() => bot.pending().length === 0 && bot.isPolled(), "the updates to be confirmed");
  });

  test("replies to /start with the project's greeting or the default one, and to /help, without the pipeline", async () => {
    const bot = api.addBot();
    const { taken } = start(bot);
    bot.write({ chatId: 511, text: "/start", entities: [{ type: "bot_command", offset: 0, length: 6 }] });
    await until(() => bot.sentTo(511).length === 1, "the greeting");
    expect(bot.sentTo(511)[0]?.text).toMatch(/^Hello!/);
    await store.projects.update(project, { greeting: "Welcome at *Acme* <b>" });
    bot.write({ chatId: 512, text: "/start", entities: [{ type: "bot_command", offset: 0, length: 6 }] });
    bot.write({ chatId: 513, text: "/help", entities: [{ type: "bot_command", offset: 0, length: 5 }] });
    await until(() => bot.sentTo(512).length === 1 && bot.sentTo(513).length === 1, "both answers");
    await store.projects.update(project, { greeting: "" });
    expect(bot.sentTo(512)[0]).toMatchObject({ text: "Welcome at *Acme* <b>", format: "plain" });
    expect(bot.sentTo(513)[0]?.text).toMatch(/own words/);
    expect(taken).toEqual([]);
    await until(() => bot.pending().length === 0, "the updates to be confirmed");
  });

  test("stores files under their detected types, and lists those that it cannot download", async () => {
    const bot = api.addBot();
    const { taken } = start(bot);
    const photo = bot.offerFile({ bytes: PNG });
    const page = bot.offerFile({ bytes: Buffer.from("<script>"), name: "../evil\u202e.html", type: "text/html" });
    const large = bot.offerFile({ bytes: PNG, name: "film.mp4", sizeBytes: 30_000_000 });
    bot.write({ chatId: 521, caption: "See", photo: [{ ...photo, width: 5, height: 5 }] });
    bot.write({ chatId: 521, document: page });
    bot.write({ chatId: 521, text: "and", document: large });
    bot.write({ chatId: 521, voice: { file_id: "unknown" } });
    await until(() => taken.length === 4, "all messages");
    expect(taken.map(({ message }) => message.text)).toEqual([
      "See",
      "",
      "and\n[File not stored: film.mp4, larger than 20 MB]",
      "[File not stored: voice.ogg, not available from Telegram]",
    ]);
    const [first, second] = taken.map(({ message }) => message);
    expect(first).toMatchObject({
      attachments: [{ type: "image/png", name: "photo.jpg", url: expect.stringContaining("/files/") }],
      channelMeta: { telegram: { files: [{ name: "photo.jpg", type: "image/png", sizeBytes: PNG.length }] } },
    });
    expect(second?.attachments).toMatchObject([{ type: "text/plain", name: "evil.html" }]);
    expect(JSON.stringify(taken)).not.toContain(bot.token);
    const [, ticketId = "", fileId = ""] = /tickets\/(.+)\/files\/(.+)$/.exec(first?.attachments?.[0]?.url ?? "") ?? [];
    expect((await store.widgetFiles.find(project, ticketId, fileId))?.content).toEqual(PNG);
  });

  test("makes an album one message, and an edit that changes something a correction", async () => {
    const bot = api.addBot();
    const { taken, texts } = start(bot);
    const part = (more: object = {}) =>
      bot.message({ chatId: 531, media_group_id: "a", document: bot.offerFile({ bytes: PNG }), ...more });
    bot.pushAll([part({ caption: "Both" }), part()]);
    await until(() => taken.length === 1, "the album");
    expect(taken[0]?.message.attachments).toHaveLength(2);
    const { message } = bot.message({ chatId: 531, text: "At 4 pm" });
    bot.push({ message });
    bot.push({ edited_message: { ...message, edit_date: 1 } });
    bot.push({ edited_message: { ...message, edit_date: 2, text: "At 5 pm" } });
    bot.write({ chatId: 531, text: "Thanks" });
    await until(() => texts().includes("Thanks"), "what was written last");
    expect(texts()).toEqual(["Both", "At 4 pm", "Correction: At 5 pm", "Thanks"]);
    expect(taken[2]?.message.channelMeta).toMatchObject({ telegram: { edits: message["message_id"] } });
  });

  test("makes an update that fails five times a dead letter, continues with its chat, and processes it again when an operator retries it", async () => {
    const bot = api.addBot();
    let isPoisonous = true;
    const { texts } = start(bot, {
      receive: (message, context) =>
        message.text === "poison" && isPoisonous ? Promise.reject(new Error("it is broken")) : commit(message, context),
    });
    for (const text of ["one", "poison", "two"]) bot.write({ chatId: 541, text });
    bot.write({ chatId: 542, text: "elsewhere" });
    await until(() => texts().length === 3, "the others");
    expect(texts().toSorted()).toEqual(["elsewhere", "one", "two"]);
    expect(texts().indexOf("two")).toBe(2);
    const [letter] = await store.channelUpdates.listDead(project, 1);
    expect(letter).toMatchObject({ chatId: "541", text: "poison", failure: "it is broken" });
    isPoisonous = false;
    await store.channelUpdates.retryDead(project, letter?.messageId ?? "");
    await until(() => texts().includes("poison"), "the dead letter to be taken again");
  });

  test("confirms nothing while the store is unavailable, and loses nothing", async () => {
    const bot = api.addBot();
    let isAway = true;
    let asked = 0;
    const using: Store = {
      ...store,
      channelUpdates: {
        ...store.channelUpdates,
        insertMany(...args) {
          asked++;
          return isAway
            ? Promise.reject(new ServiceError("unavailable", "unavailable"))
            : store.channelUpdates.insertMany(...args);
        },
      },
    };
    const { texts } = start(bot, { using });
    bot.write({ chatId: 551, text: "kept" });
    await until(() => asked >= 3, "several tries");
    expect(bot.pending()).toHaveLength(1);
    isAway = false;
    await until(() => texts().length === 1 && bot.pending().length === 0, "the message");
  });

  test("processes a batch with malformed and unknown updates", async () => {
    const bot = api.addBot();
    const { texts } = start(bot);
    bot.pushAll([
      { message: { message_id: "x", chat: null } },
      { unheard_of: { of: [1, 2] } },
      bot.message({ chatId: 561, text: "\u0000\ud800".repeat(10), entities: [{ offset: 99 }] }),
      bot.message({ chatId: 561, text: 5 }),
      { message: { chat: { id: 561, type: "private" }, message_id: 77_000, text: "plain" } },
    ]);
    await until(() => texts().includes("plain"), "the last message");
    expect(texts()).toEqual(["\ufffd".repeat(10), "plain"]);
    await until(() => bot.pending().length === 0, "all to be confirmed");
  });

  test("deletes a webhook that prevents long polling", async () => {
    const bot = api.addBot();
    bot.setWebhook("https://elsewhere.example");
    const { texts } = start(bot);
    bot.write({ chatId: 571, text: "hello" });
    await until(() => texts().length === 1, "the message");
  });

  test("reports since when its token is rejected, and is not active then", async () => {
    const bot = api.addBot();
    bot.setRevoked(true);
    const { running: started } = start(bot);
    await until(() => started.findProblem() !== null, "the fault");
    expect(started.findProblem()).toMatch(/rejects the bot token \(unauthorized since 20.+Z\)/);
    expect(started.isActive()).toBe(false);
    expect(started.findProblem()).not.toContain(bot.token);
  });

  test.each([
    ["answers errors", { kind: "error", code: 502, description: "Bad Gateway" }],
    ["answers garbage", { kind: "garbage" }],
    ["cuts connections", { kind: "cut" }],
    ["answers that it holds no updates", { kind: "garbage", body: '{"ok":true,"result":[{}]}' }],
  ] as const)("says so when the Bot API %s, and goes on when it does no more", async (_what, error) => {
    const bot = api.addBot();
    const { running: started, texts } = start(bot);
    await until(() => bot.isPolled(), "the poll");
    api.failWith((call) => (call.method === "getUpdates" ? error : null));
    bot.write({ chatId: 581, text: "before" });
    await until(() => started.findProblem() !== null, "the fault");
    expect(started.findProblem()).toMatch(/has been unreachable since/);
    api.failWith(null);
    bot.write({ chatId: 581, text: "after" });
    await until(() => texts().length === 2 && started.findProblem() === null, "the messages");
  });

  test("reports another program that fetches its updates", async () => {
    const bot = api.addBot();
    const conflict =
      "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    api.failWith(({ method }) =>
      method === "getUpdates" ? { kind: "error", code: 409, description: conflict } : null,
    );
    const { running: started } = start(bot);
    await until(() => started.findProblem() !== null, "the fault");
    expect(started.findProblem()).toMatch(/Another program also receives/);
  });
});

describe("of several replicas", () => {
  test("one is active and the others are on standby until it stops", async () => {
    const bot = api.addBot();
    const one = start(bot);
    await until(() => one.running.isActive(), "the first to work");
    const other = start(bot);
    bot.write({ chatId: 591, text: "first" });
    await until(() => one.taken.length === 1, "the first message");
    expect(other.running.isActive()).toBe(false);
    expect(other.running.findProblem()).toBeNull();
    await one.running.stop();
    bot.write({ chatId: 591, text: "second" });
    await until(() => other.texts().includes("second"), "the other to take over");
    expect(one.running.isActive()).toBe(false);
    expect(one.texts()).toEqual(["first"]);
  });

  test("one that loses its lease neither fetches nor sends until it acquires the lease again", async () => {
    const bot = api.addBot();
    let isStolen = false;
    const using: Store = {
      ...store,
      serviceLeases: {
        ...store.serviceLeases,
        claim: (...args) => (isStolen ? Promise.resolve(false) : store.serviceLeases.claim(...args)),
      },
    };
    const { running: started, texts } = start(bot, { using });
    await until(() => started.isActive() && bot.isPolled(), "it to work");
    isStolen = true;
    await until(() => !started.isActive() && !bot.isPolled(), "it to stand by");
    isStolen = false;
    bot.write({ chatId: 592, text: "again" });
    await until(() => texts().length === 1, "it to work again");
  });
});
