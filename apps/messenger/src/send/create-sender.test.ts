import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { DeliveryError } from "@svc/contracts";
import { collectLog, startFakeBotApi, testLog, waitFor } from "@svc/testing";
import type { BotApiFailure, FakeBot, FakeBotApi } from "@svc/testing";
import { BotApiError, createBotApi } from "../telegram/bot-api.ts";
import type { BotApi, BotApiErrorKind } from "../telegram/bot-api.ts";
import { createSender, createTyping } from "./create-sender.ts";
import type { Sender, Typing } from "./create-sender.ts";
import { createThrottle } from "./create-throttle.ts";

describe("typing in a chat", () => {
  let typing: Typing;

  afterEach(() => typing.stop());

  let clock = 0;

  function start({ failure }: { failure?: BotApiErrorKind } = {}) {
    const shown: string[] = [];
    const call: BotApi["call"] = <Result>(_: string, payload: object) => {
      shown.push(String(Reflect.get(payload, "chat_id")));
      if (failure !== undefined) return Promise.reject(new BotApiError({ kind: failure, code: 0, description: "x" }));
      return Promise.resolve(true as Result);
    };
    const api: BotApi = { call, download: () => Promise.reject(new Error("not asked for")) };
    const throttle = { isPaused: () => false, pause: () => {} };
    typing = createTyping({
      api,
      throttle,
      log: testLog(),
      times: { againMs: 10, longestMs: 60_000 },
      now: () => clock,
    });
    return shown;
  }

  /** Waits until another chat's typing was shown several times, to see that the ended one was not. */
  async function expectEnded(shown: string[], chatId: string): Promise<void> {
    typing.begin("witness", null);
    const before = shown.filter((id) => id === chatId).length;
    await waitFor(() => shown.filter((id) => id === "witness").length > 3, { what: "typing elsewhere" });
    typing.end("witness", null);
    expect(shown.filter((id) => id === chatId)).toHaveLength(before);
  }

  test("typing is repeated until the reply is sent", async () => {
    const shown = start();
    typing.begin("1", null);
    await waitFor(() => shown.length > 2, { what: "typing" });
    typing.end("1", "m1");
    await expectEnded(shown, "1");
  });

  test("continues while another message waits, and counts several replies to one message once", async () => {
    const shown = start();
    typing.begin("1", null);
    typing.begin("1", null);
    typing.end("1", "m1");
    typing.end("1", "m1");
    const before = shown.length;
    await waitFor(() => shown.length > before + 1, { what: "typing goes on" });
    typing.end("1", "m2");
    await expectEnded(shown, "1");
  });

  test("a person's reply ends it", async () => {
    const shown = start();
    typing.begin("1", null);
    typing.begin("1", null);
    typing.end("1", null);
    await expectEnded(shown, "1");
  });

  test("ends after a minute", async () => {
    const shown = start();
    typing.begin("1", null);
    await waitFor(() => shown.length > 1, { what: "typing" });
    clock += 60_001;
    await expectEnded(shown, "1");
  });

  test.each<BotApiErrorKind>(["forbidden", "unauthorized", "bad_request"])(
    "it ends when Telegram says %s",
    async (failure) => {
      const shown = start({ failure });
      typing.begin("1", null);
      await waitFor(() => shown.length === 1, { what: "the call" });
      typing.begin("2", null);
      await waitFor(() => shown.includes("2"), { what: "the other call" });
      expect(shown.filter((id) => id === "1")).toHaveLength(1);
    },
  );

  test("continues after an error of the Bot API", async () => {
    const shown = start({ failure: "unreachable" });
    typing.begin("1", null);
    await waitFor(() => shown.length > 2, { what: "typing" });
  });
});

const CHAT = 4_001;
const GROUP = -100_200;
const IDS = { project: "p", ticketId: "t", replyId: "r", seq: 1 };
const NO_GAPS = { chatGapMs: 0, gapMs: 0, exclusiveMs: 1_000, waitMaxMs: 3_000 };

describe("the sender", () => {
  let server: FakeBotApi;
  let bot: FakeBot;
  let sender: Sender;
  /** The `channelMeta` of the message that is answered. */
  let meta: Record<string, unknown> | null;
  let log = collectLog();

  function newSender(limits = NO_GAPS): Sender {
    const findMeta = () => Promise.resolve(meta);
    return createSender({
      api: createBotApi({ token: bot.token, apiRoot: server.url }),
      store: { messages: { findMeta, findLastMeta: findMeta } },
      log: log.log,
      throttle: createThrottle({ limits }),
    });
  }

  beforeAll(async () => {
    server = await startFakeBotApi();
  });

  beforeEach(async () => {
    await sender?.stop();
    server.failWith(null);
    server.setRichMessages(true);
    bot = server.addBot();
    meta = null;
    log = collectLog();
    sender = newSender();
  });

  afterAll(async () => {
    await sender.stop();
    await server.close();
  });

  const error = (code: number, description: string, retryAfterS?: number): BotApiFailure => ({
    kind: "error",
    code,
    description,
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  });

  async function errorOf(work: Promise<unknown>): Promise<DeliveryError> {
    const reason: unknown = await work.then(
      () => null,
      (each: unknown) => each,
    );
    if (!(reason instanceof DeliveryError)) throw new Error(`expected a DeliveryError, got ${String(reason)}`);
    return reason;
  }

  const methods = () => server.outcomes.filter(({ call }) => call.botId === bot.id).map(({ call }) => call.method);

  describe("a reply is sent", () => {
    test("with structure as a rich message", async () => {
      await sender.sendMessage(String(CHAT), "# Hours\n\n| Day | Open |\n|---|---|\n| Mon | 9 |", {
        ...IDS,
        markdown: true,
      });
      expect(bot.sentTo(CHAT)).toMatchObject([{ method: "sendRichMessage", format: "rich", replyTo: null }]);
      expect(bot.sent[0]?.tags).toEqual(["h1", "table", "tr", "th", "th", "tr", "td", "td"]);
    });

    test("from right to left if its script is", async () => {
      await sender.sendMessage(String(CHAT), "# مرحبا OK", { ...IDS, markdown: true });
      await sender.sendMessage(String(CHAT), "# OK مرحبا", { ...IDS, markdown: true });
      const calls = server.outcomes.filter(({ call }) => call.botId === bot.id);
      expect(calls.map(({ call }) => call.fields["rich_message"])).toEqual([
        { html: "<h1>مرحبا OK</h1>", is_rtl: true },
        { html: "<h1>OK مرحبا</h1>" },
      ]);
    });

    test("as HTML if it only has formats, and as plain text if it has none", async () => {
      await sender.sendMessage(String(CHAT), "**bold** a<b", { ...IDS, markdown: true });
      await sender.sendMessage(String(CHAT), "no _formats_", { ...IDS, markdown: true });
      await sender.sendMessage(String(CHAT), "**as it is**", { ...IDS, markdown: false });
      expect(bot.sent.map(({ format, text }) => [format, text])).toEqual([
        ["html", "bold a<b"],
        ["html", "no formats"],
        ["plain", "**as it is**"],
      ]);
    });

    test("as HTML if the server does not support rich messages, which is tried once", async () => {
      server.setRichMessages(false);
      await sender.sendMessage(String(CHAT), "# One", { ...IDS, markdown: true });
      await sender.sendMessage(String(CHAT), "# Two", { ...IDS, markdown: true });
      expect(bot.sent.map(({ format, text }) => [format, text])).toEqual([
        ["html", "One"],
        ["html", "Two"],
      ]);
      expect(methods()).toEqual(["sendRichMessage", "sendMessage", "sendMessage"]);
    });

    test("in the next form if one is rejected, and as plain text at last", async () => {
      server.failWith(({ method, fields }) =>
        method === "sendRichMessage" || fields["parse_mode"] === "HTML"
          ? error(400, "Bad Request: can't parse entities: whatever")
          : null,
      );
      await sender.sendMessage(String(CHAT), "# One\n\n- two", { ...IDS, markdown: true });
      expect(bot.sent).toMatchObject([{ format: "plain", text: "One\n\n• two" }]);
      expect(methods()).toEqual(["sendRichMessage", "sendMessage", "sendMessage"]);
    });

    test("not at all if it shows nothing", async () => {
      await sender.sendMessage(String(CHAT), " \n\u200B", { ...IDS, markdown: true });
      expect(methods()).toEqual([]);
    });

    test("without lone surrogates and control characters", async () => {
      await sender.sendMessage(String(CHAT), "a\uD83D\u0000\u001B[31mb", { ...IDS, markdown: true });
      expect(bot.sent).toMatchObject([{ text: "a\uFFFD[31mb" }]);
    });

    test("in parts; sent parts are recorded and not sent again", async () => {
      const text = `${"a".repeat(4_096)}\n\n${"b".repeat(4_096)}\n\nc`;
      const noted: number[] = [];
      const recordSentParts = (parts: number) => Promise.resolve(void noted.push(parts));
      await sender.sendMessage(String(CHAT), text, { ...IDS, recordSentParts });
      expect(bot.sent.map((message) => message.text[0])).toEqual(["a", "b", "c"]);
      expect(noted).toEqual([1, 2, 3]);
      await sender.sendMessage(String(CHAT), text, { ...IDS, sentParts: 2, recordSentParts });
      expect(bot.sent.map((message) => message.text[0])).toEqual(["a", "b", "c", "c"]);
    });

    test("only until a part cannot be recorded as sent", async () => {
      const text = `${"a".repeat(4_096)}\n\nb`;
      const recordSentParts = () => Promise.reject(new DeliveryError("later", "another process is sending"));
      await expect(errorOf(sender.sendMessage(String(CHAT), text, { ...IDS, recordSentParts }))).resolves.toMatchObject(
        {
          fault: "later",
        },
      );
      expect(bot.sent).toHaveLength(1);
    });

    test("entirely in ordinary messages if its first part was one", async () => {
      const text = `# One\n\n${"a ".repeat(2_500)}`;
      await sender.sendMessage(String(CHAT), text, { ...IDS, markdown: true, sentParts: 1 });
      expect(bot.sent).toMatchObject([{ method: "sendMessage" }]);
    });
  });

  describe("in a group", () => {
    test("a reply quotes the message that it answers, once, in its topic", async () => {
      const { messageId } = bot.write({ chatId: GROUP, text: "?", message_thread_id: 7, is_topic_message: true });
      meta = { telegram: { messageId, threadId: 7 } };
      await sender.sendMessage(String(GROUP), `${"a".repeat(4_096)}\n\nb`, { ...IDS, inReplyTo: "m" });
      await sender.sendAttachment(
        String(GROUP),
        { filename: "a.txt", mime: "text/plain", content: Buffer.from("x") },
        { ...IDS, inReplyTo: "m" },
      );
      await sender.sendMessage(String(GROUP), "from a person", IDS);
      expect(bot.sent.map(({ replyTo, threadId }) => [replyTo, threadId])).toEqual([
        [messageId, 7],
        [null, 7],
        [null, 7],
        [null, 7],
      ]);
    });

    test("a private chat has no quotes", async () => {
      const { messageId } = bot.write({ text: "?" });
      meta = { telegram: { messageId } };
      await sender.sendMessage(String(CHAT), "a", { ...IDS, inReplyTo: "m" });
      expect(bot.sent).toMatchObject([{ replyTo: null }]);
    });

    test("a deleted topic and a deleted message are omitted", async () => {
      meta = { telegram: { messageId: 99_999, threadId: 12 } };
      await sender.sendMessage(String(GROUP), "**a**", { ...IDS, markdown: true, inReplyTo: "m" });
      expect(bot.sent).toMatchObject([{ text: "a", format: "html", threadId: null, replyTo: null }]);
    });

    test("the stored metadata may be anything", async () => {
      meta = { telegram: { messageId: "x", threadId: {} } };
      await sender.sendMessage(String(GROUP), "a", { ...IDS, inReplyTo: "m" });
      expect(bot.sent).toHaveLength(1);
    });

    test("that has become a supergroup, replies go there", async () => {
      bot.setChatFailure(-55, { migratedTo: -100_055 });
      await sender.sendMessage("-55", "a", IDS);
      await sender.sendMessage("-55", "b", IDS);
      expect(bot.sent.map(({ chatId, text }) => [chatId, text])).toEqual([
        ["-100055", "a"],
        ["-100055", "b"],
      ]);
      expect(methods()).toHaveLength(3);
    });
  });

  describe("an error becomes", () => {
    test.each<[string, BotApiFailure, Partial<DeliveryError>]>([
      [
        "closed, when the user has blocked the bot",
        error(403, "Forbidden: bot was blocked by the user"),
        { fault: "closed" },
      ],
      [
        "closed, when the bot was kicked",
        error(403, "Forbidden: bot was kicked from the group chat"),
        { fault: "closed" },
      ],
      ["closed, when the account is gone", error(403, "Forbidden: user is deactivated"), { fault: "closed" }],
      ["closed, when there is no such chat", error(400, "Bad Request: chat not found"), { fault: "closed" }],
      ["refused, when Telegram takes no form of it", error(400, "Bad Request: MESSAGE_STRANGE"), { fault: "refused" }],
      ["later, when the token is not taken", error(401, "Unauthorized"), { fault: "later" }],
      ["later, when the Bot API fails", error(500, "Internal Server Error"), { fault: "later", retryAfterMs: null }],
      ["later, when it answers garbage", { kind: "garbage" }, { fault: "later" }],
      ["later, when it cuts the connection", { kind: "cut" }, { fault: "later" }],
      [
        "later, as Telegram says, when too much was sent",
        error(429, "Too Many Requests: retry after 3", 3),
        { fault: "later", retryAfterMs: 3_000 },
      ],
    ])("%s", async (_, problem, expected) => {
      server.failWith(problem);
      const failure = await errorOf(sender.sendMessage(String(CHAT), "# secret words", { ...IDS, markdown: true }));
      expect(failure).toMatchObject(expected);
      expect(failure.message).not.toContain(bot.token);
      const lines = JSON.stringify(log.lines());
      expect(lines).not.toContain("secret words");
      expect(lines).not.toContain(bot.token);
    });

    test("nothing is sent during a pause that Telegram requests", async () => {
      server.failWith(error(429, "Too Many Requests: retry after 60", 60));
      await errorOf(sender.sendMessage(String(CHAT), "a", IDS));
      server.failWith(null);
      const failure = await errorOf(sender.sendMessage(String(CHAT), "a", IDS));
      expect(failure.retryAfterMs).toBeGreaterThan(50_000);
      expect(methods()).toHaveLength(1);
    });
  });

  describe("a file is sent", () => {
    const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");
    const file = (filename: string, mime: string, content: Buffer) =>
      sender.sendAttachment(String(CHAT), { filename, mime, content }, IDS);

    test("as a document with its name, whatever characters it has", async () => {
      await file('Größe "1"\r\nX: y/ä.xlsx', "application/vnd.ms-excel", Buffer.from("xx"));
      expect(bot.sent).toMatchObject([
        { method: "sendDocument", file: { name: "Größe '1' X: y_ä.xlsx", bytes: Buffer.from("xx") } },
      ]);
    });

    test("as a picture if it is one, otherwise as a document", async () => {
      await file("a.png", "image/png", PNG);
      await file("b.png", "image/png", Buffer.from("no picture"));
      await file("c.svg", "image/svg+xml", Buffer.from("<svg/>"));
      expect(bot.sent.map((message) => message.method)).toEqual(["sendPhoto", "sendDocument", "sendDocument"]);
    });

    test("not if it is empty or too large: the chat gets an explanation", async () => {
      await file("empty.txt", "text/plain", Buffer.alloc(0));
      await file("large.bin", "application/octet-stream", Buffer.alloc(50_000_001));
      expect(bot.sent.map((message) => message.text)).toEqual([
        "The file “empty.txt” is empty.",
        "The file “large.bin” (50.0 MB) is too large: Telegram takes files of up to 50 MB.",
      ]);
      server.failWith(({ method }) => (method === "sendDocument" ? error(413, "Request Entity Too Large") : null));
      await file("odd.bin", "application/octet-stream", Buffer.alloc(1_500_000));
      expect(bot.sent[2]?.text).toMatch("The file “odd.bin” (1.5 MB) is too large");
    });
  });

  describe("typing", () => {
    test("is shown until the message is answered", async () => {
      await sender.markTyping(String(CHAT), IDS);
      await waitFor(() => bot.actions.length === 1, { what: "typing" });
      expect(bot.actions).toMatchObject([{ chatId: String(CHAT), action: "typing", threadId: null }]);
      await sender.sendMessage(String(CHAT), "a", { ...IDS, inReplyTo: "m" });
    });

    test("is shown in the topic of a group", async () => {
      bot.write({ chatId: GROUP, text: "?", message_thread_id: 7, is_topic_message: true });
      meta = { telegram: { messageId: 1, threadId: 7 } };
      await sender.markTyping(String(GROUP), IDS);
      await waitFor(() => bot.actions.length === 1, { what: "typing" });
      expect(bot.actions).toMatchObject([{ chatId: String(GROUP), threadId: 7 }]);
    });

    test("never causes an error", async () => {
      server.failWith(error(403, "Forbidden: bot was blocked by the user"));
      await sender.markTyping(String(CHAT), IDS);
      await waitFor(() => methods().length === 1, { what: "the call" });
    });
  });

  test("a text that is not a reply is throttled as well, and sent to its topic", async () => {
    const { messageId } = bot.write({ chatId: GROUP, text: "/start", message_thread_id: 3, is_topic_message: true });
    await sender.say(String(GROUP), "Hello *you*", { threadId: 3, replyToMessageId: messageId });
    expect(bot.sent).toMatchObject([{ text: "Hello *you*", format: "plain", threadId: 3, replyTo: messageId }]);
  });

  test("no chat gets more than Telegram allows, and a stopped sender sends nothing more", async () => {
    server.setFloodControl(true);
    const paced = createSender({
      api: createBotApi({ token: bot.token, apiRoot: server.url }),
      store: { messages: { findMeta: () => Promise.resolve(null), findLastMeta: () => Promise.resolve(null) } },
      log: log.log,
    });
    try {
      const chats = Array.from({ length: 35 }, (_, at) => String(6_000 + at));
      await Promise.all([...chats, ...chats.slice(0, 2)].map(async (chat) => await paced.sendMessage(chat, "a", IDS)));
      expect(bot.sent).toHaveLength(37);
      const isOurs = (chatId: string | null) => chatId === null || chats.includes(chatId);
      expect(server.rateViolations(0).filter(({ chatId }) => isOurs(chatId))).toEqual([]);
    } finally {
      server.setFloodControl(false);
      await paced.stop();
    }
    await expect(errorOf(paced.sendMessage(String(CHAT), "a", IDS))).resolves.toMatchObject({ fault: "later" });
    expect(bot.sent).toHaveLength(37);
  });
});
