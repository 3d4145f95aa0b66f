import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { channelConformance, createTestDatabase, startFakeBotApi, testLog, waitFor } from "@svc/testing";
import type { ChannelUnderTest, FakeBot, FakeBotApi, SentItem, TestDatabase } from "@svc/testing";
import { createMessengerChannel, followBot } from "./service.ts";

let database: TestDatabase;
let store: Store;
let api: FakeBotApi;
let project: ProjectId;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  project = (await store.projects.ensure("default")).project.id;
  api = await startFakeBotApi();
});

afterAll(async () => {
  await api.close();
  await store.close();
  await database.drop();
});

const setToken = (token: string | null) =>
  store.channelsConfig.update("messenger", { botToken: token === null ? null : store.sealer.seal(token) });
const makeChannel = () =>
  createMessengerChannel((receive) => followBot({ store, log: testLog(), apiRoot: api.url, receive }));

/** Telegram finds the type of a file itself. */
const ANY_TYPE = "application/octet-stream";

/** Returns the items that a bot sent to its chats. */
function sentBy(bot: FakeBot): SentItem[] {
  const messages = bot.sent.map(({ chatId, text, file }): SentItem =>
    file === null
      ? { kind: "message", chatId, text }
      : { kind: "attachment", chatId, filename: file.name, mime: ANY_TYPE, content: file.bytes },
  );
  return [...messages, ...bot.actions.map(({ chatId }): SentItem => ({ kind: "typing", chatId }))];
}

describe("the messenger is a channel:", () => {
  let lastChat = 9_000;

  /** Makes a channel with a bot of its own. */
  async function make(): Promise<ChannelUnderTest> {
    const bot = api.addBot();
    await setToken(bot.token);
    const chats = new Map<string, number>();
    const chatOf = (sender: string) => {
      const chat = chats.get(sender) ?? ++lastChat;
      chats.set(sender, chat);
      return chat;
    };
    const channel = makeChannel();
    return {
      channel,
      receive({ sender, text }) {
        bot.write({ chatId: chatOf(sender), text });
        return Promise.resolve();
      },
      sent: () => sentBy(bot),
      close: () => channel.stop(),
      chatIdOf: (sender) => String(chatOf(sender)),
      // Short enough for one message of Telegram.
      textMaxChars: 2_000,
      accept: ({ attachments = null, userId = null, timestamp, ...message }, { messageId }) =>
        store.messages.accept(
          project,
          { ...message, userId, timestampMs: timestamp, attachments, mode: null, callInstance: null, callback: null },
          messageId,
        ),
    };
  }

  channelConformance(make, { test, expect });
});

describe("the bot of the settings", () => {
  test("is replaced while the channel runs: without a token, with a new one, an invalid one, and one that cannot be decrypted", async () => {
    const [one, other] = [api.addBot(), api.addBot()];
    const texts: string[] = [];
    await setToken(null);
    const channel = makeChannel();
    channel.onMessage(({ text }) => {
      texts.push(text);
      return Promise.resolve({ messageId: "m", ticketId: "t", seq: 1 });
    });
    const says = (words: RegExp) =>
      waitFor(() => words.test(channel.findProblem?.() ?? "nothing"), { what: `the channel to say ${words.source}` });
    await channel.start();
    try {
      await says(/^No bot token is set/);
      expect(channel.isActive?.()).toBe(false);
      await expect(channel.sendMessage("1", "x")).rejects.toMatchObject({ fault: "later" });
      await setToken(one.token);
      one.write({ text: "to one" });
      await waitFor(() => texts.includes("to one"), { what: "a message to the first bot" });
      expect(channel.findProblem?.()).toBeNull();
      await setToken(other.token);
      await waitFor(() => other.isPolled() && !one.isPolled(), { what: "the other bot to be followed" });
      one.write({ text: "too late" });
      other.write({ text: "to the other" });
      await waitFor(() => texts.includes("to the other"), { what: "a message to the other bot" });
      await setToken("no token");
      await says(/is not valid/);
      expect(other.isPolled()).toBe(false);
      await store.channelsConfig.update("messenger", { botToken: { sealed: "v1.AAAA" } });
      await says(/cannot be decrypted/);
      expect(texts).toEqual(["to one", "to the other"]);
    } finally {
      await channel.stop();
    }
  });
});
