import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readTestSettings, repositoryPath, waitFor, queryDatabase } from "@svc/testing";
import type { BotApiFailure, FakeBot } from "@svc/testing";
import { callApi } from "./support/call-api.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import type { ReviewClient } from "./support/create-review-client.ts";
import { plantMessagePoison } from "./support/plant-poison.ts";
import { SECRET_KEY } from "./support/start-product.ts";
import { startMessenger } from "./support/start-messenger.ts";
import type { MessengerProduct } from "./support/start-messenger.ts";
import { startPrivateGround } from "./support/start-private-ground.ts";
import type { PrivateGround } from "./support/start-private-ground.ts";
import { svcWithin } from "./support/svc-within.ts";

const FIXED = "This is **always** the answer.";
const SHOWN = "This is always the answer.";
const HANDOFF = "Somebody of our team will answer you here.";
const ASKED = "the question that nobody else asks 4711";
const isSoak = process.env["SVC_SOAK"] === "1";
const isSeparate = readTestSettings().composition === "separate";

let ground: PrivateGround;
let messenger: MessengerProduct;
let bot: FakeBot;
let reviews: ReviewClient;

beforeAll(async () => {
  ground = await startPrivateGround();
  messenger = await startMessenger({ ground, agent: { reviewPolicy: "auto", fixedReply: FIXED } });
  bot = messenger.bot;
  reviews = createReviewClient(messenger.product, "default");
});

afterAll(() => messenger.stop());

/** Runs `svc` with the data of the product. */
const svc = (input: string, ...args: string[]) =>
  svcWithin({ DATABASE_URL: messenger.product.databaseUrl, SVC_SECRET_KEY: SECRET_KEY }, input, ...args);

/** Error texts of states in docs/messenger.md; every error must begin with one of them, so that it can be looked up. */
const QUOTED = [...readFileSync(repositoryPath("docs/messenger.md"), "utf8").matchAll(/^\| `([^`]+)`/gm)];
function expectExplained(error: string | null): void {
  const text = (error ?? "").replace(/\d{4}-\d\d-\d\dT[\d:]+Z/, "…");
  expect(QUOTED.filter(([, quoted = ""]) => text.startsWith(quoted))).toHaveLength(1);
}

/** Waits until a chat was sent this many texts, and returns them. */
const textsSent = async (chatId: number, count: number) =>
  (await messenger.untilSent(chatId, count)).map(({ text }) => text);

/** Waits until every message in a chat is processed. */
const untilDone = (chatId: number) =>
  waitFor(
    async () => {
      const rows = await queryDatabase<{ waiting: boolean }>(
        messenger.product.databaseUrl,
        "SELECT EXISTS (SELECT 1 FROM messenger_updates WHERE chat_id = $1 AND state = 'waiting') AS waiting",
        [String(chatId)],
      );
      return !(rows[0]?.waiting ?? true) && bot.pending().length === 0;
    },
    { what: `the updates of ${chatId} to be done` },
  );

const mention = { type: "mention", offset: 0, length: "@acme_support_bot".length };

describe("a question", () => {
  test("is answered from the knowledge base, with formatting, while 'typing' is shown", async () => {
    const kbs = createKbClient(messenger.product);
    const { id } = await kbs.makeKb();
    const text = "# Warranty\n\nThe warranty of the **Zephyr 9** toaster is seven years.";
    await kbs.settled(id, documentOf(await kbs.add(id, { text })).id);
    await messenger.setAgent({ kbIds: [id], fixedReply: null });
    bot.write({ chatId: 101, text: "How long is the warranty of the Zephyr 9 toaster?" });
    const [sent] = await messenger.untilSent(101, 1);
    expect(sent?.text).toContain("seven years");
    expect(sent?.text).not.toContain("**");
    expect(sent?.replyTo).toBeNull();
    expect(bot.actions).toContainEqual(expect.objectContaining({ chatId: "101", action: "typing" }));
    await messenger.setAgent({ fixedReply: FIXED });
  });

  test("has an answer with a table as a rich message with a file, and as text in columns if rich messages are unsupported", async () => {
    await messenger.setAgent({
      fixedReply: "## Prices\n\n| Size | Price |\n| --- | ---: |\n| small | 5 |\n| large | 12 |",
    });
    bot.write({ chatId: 102, text: "prices?" });
    const [rich, table] = await messenger.untilSent(102, 2);
    expect(rich).toMatchObject({ format: "rich" });
    expect(rich?.tags).toEqual(expect.arrayContaining(["h2", "table", "tr", "th", "td"]));
    expect(table).toMatchObject({ method: "sendDocument", file: { name: expect.stringMatching(/\.xlsx$/) } });
    expect(table?.file?.bytes.subarray(0, 2).toString()).toBe("PK");

    messenger.telegram.setRichMessages(false);
    bot.write({ chatId: 103, text: "prices?" });
    const [plain] = await messenger.untilSent(103, 1);
    expect(plain).toMatchObject({ format: "html" });
    expect(plain?.entities).toContainEqual(expect.objectContaining({ type: "pre" }));
    const lines = plain?.text.split("\n").filter((line) => /small|large/.test(line)) ?? [];
    expect(new Set(lines.map(({ length }) => length))).toHaveProperty("size", 1);
    messenger.telegram.setRichMessages(true);
    await messenger.setAgent({ fixedReply: FIXED });
  });

  test("is answered in order within a chat, and concurrently across chats", async () => {
    const chatIds = [104, 105, 106];
    const written = chatIds.map((chatId) =>
      [1, 2].map((position) => bot.write({ chatId, text: `question ${position}` }).messageId),
    );
    for (const chatId of chatIds) expect(await textsSent(chatId, 2)).toEqual([SHOWN, SHOWN]);
    for (const [index, chatId] of chatIds.entries()) {
      const rows = await queryDatabase<{ message: number }>(
        messenger.product.databaseUrl,
        `SELECT (m.channel_meta->'telegram'->>'messageId')::integer AS message
         FROM replies r JOIN messages m ON m.id = r.in_reply_to WHERE r.ticket_id = $1 ORDER BY r.seq`,
        [messenger.ticketIdOf(chatId)],
      );
      expect(rows.map(({ message }) => message)).toEqual(written[index]);
    }
  });
});

describe("a bot", () => {
  test("is not needed for a test message, which goes to a chat that has written to the bot and to no other", async () => {
    bot.write({ chatId: 171, text: ASKED });
    await textsSent(171, 1);
    const test = (json?: object) =>
      callApi(`${messenger.product.composition.apiUrls[0]}/api/v1/admin/channels/messenger/test`, {
        key: messenger.product.adminKey,
        method: "POST",
        ...(json === undefined ? {} : { json }),
      });
    const { body } = await test({ chatId: "171" });
    expect(body).toMatchObject({ item: { chatId: "171", state: "delivered", failure: null } });
    expect(await textsSent(171, 2)).toEqual([SHOWN, expect.stringContaining("test message")]);
    expect((await test({ chatId: "999171" })).body).toMatchObject({ code: "not_found" });
    expect((await test({ chatId: "" })).body).toMatchObject({ code: "invalid_request" });
    expect((await test()).body).toMatchObject({ item: { state: "delivered" } });
  });

  test("greets with the text of the project, or the default in the user's language, and shows help", async () => {
    bot.write({ chatId: 111, text: "/start", entities: [{ type: "bot_command", offset: 0, length: 6 }] });
    bot.write({ chatId: 112, text: "/help", entities: [{ type: "bot_command", offset: 0, length: 5 }] });
    const [greeting = ""] = await textsSent(111, 1);
    const [help = ""] = await textsSent(112, 1);
    expect(greeting).not.toBe("");
    expect(help).not.toBe(greeting);
    expect((await svc("", "projects", "change", "default", "--greeting", "Ahoy, this is Acme.")).code).toBe(0);
    bot.write({ chatId: 113, text: "/start", entities: [{ type: "bot_command", offset: 0, length: 6 }] });
    expect(await textsSent(113, 1)).toEqual(["Ahoy, this is Acme."]);
  });

  test("answers in a group if it is mentioned or replied to, quotes the message, and is silent otherwise", async () => {
    const chatId = -100_200;
    bot.write({ chatId, text: "what do you all think?" });
    const asked = bot.write({ chatId, text: `@${bot.username} what about you?`, entities: [mention] });
    const [first] = await messenger.untilSent(chatId, 1);
    expect(first).toMatchObject({ text: SHOWN, replyTo: asked.messageId });
    bot.write({ chatId, userId: 77, text: "@somebody_else you?", entities: [{ ...mention, length: 14 }] });
    const replied = bot.write({
      chatId,
      userId: 78,
      text: "and why?",
      reply_to_message: { message_id: first?.messageId, from: { id: bot.id, is_bot: true }, text: SHOWN },
    });
    const sent = await messenger.untilSent(chatId, 2);
    expect(sent.map(({ replyTo }) => replyTo)).toEqual([asked.messageId, replied.messageId]);
    await untilDone(chatId);
    expect(bot.sentTo(chatId)).toHaveLength(2);
  });

  test("answers in the forum topic of the question", async () => {
    const chatId = -100_201;
    const topic = { message_thread_id: 31, is_topic_message: true };
    bot.write({ chatId, text: `@${bot.username} here?`, entities: [mention], ...topic });
    expect(await messenger.untilSent(chatId, 1)).toMatchObject([{ threadId: 31 }]);
  });

  test("treats an edit as a correction, once, and a duplicate update once", async () => {
    const chatId = 114;
    const { message } = bot.message({ chatId, text: "one" });
    const updateId = bot.push({ message });
    bot.push({ message }, { updateId });
    bot.push({ message }, { updateId });
    await messenger.untilSent(chatId, 1);
    bot.push({ edited_message: { ...message, text: "two", edit_date: Math.floor(Date.now() / 1_000) } });
    bot.push({ edited_message: { ...message, text: "two", edit_date: Math.floor(Date.now() / 1_000) } });
    await messenger.untilSent(chatId, 2);
    await untilDone(chatId);
    const { messages } = await reviews.read(messenger.ticketIdOf(chatId));
    expect(messages.map(({ text }) => text)).toEqual(["one", "Correction: two"]);
    expect(bot.sentTo(chatId)).toHaveLength(2);
  });
});

describe("a file", () => {
  const call = (path: string) =>
    fetch(`${messenger.product.composition.apiUrls[0]}${path}`, {
      headers: { "X-Api-Key": messenger.product.adminKey },
    });

  test("with a caption is stored, and an operator downloads it", async () => {
    const bytes = Buffer.from("%PDF-1.4 a broken toaster");
    const document = bot.offerFile({ bytes, name: "toaster ☃.pdf", type: "application/pdf" });
    bot.write({ chatId: 121, document, caption: "this is broken" });
    expect(await textsSent(121, 1)).toEqual([SHOWN]);
    const { messages } = await reviews.read(messenger.ticketIdOf(121));
    expect(messages).toMatchObject([
      {
        text: expect.stringContaining("this is broken"),
        attachments: [{ name: "toaster ☃.pdf", type: "application/pdf" }],
      },
    ]);
    const url = messages[0]?.attachments?.[0]?.url ?? "";
    expect(url).not.toContain(bot.token);
    const answer = await call(url);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(answer.headers.get("content-disposition")).toContain("attachment");
  });

  test.each([
    ["too large for the Bot API", { sizeBytes: 20_000_001 + 1_048_576 }],
    ["larger than it says", { bytes: Buffer.alloc(20 * 1_048_576 + 1), sizeBytes: 10 }],
  ])("that is %s is named in the message, which is answered anyway", async (what, offered) => {
    const chatId = 122 + what.length;
    const document = bot.offerFile({ bytes: Buffer.from("x"), name: "film.mov", ...offered });
    bot.write({ chatId, document, caption: "look" });
    await messenger.untilSent(chatId, 1);
    const { messages } = await reviews.read(messenger.ticketIdOf(chatId));
    expect(messages).toMatchObject([{ text: expect.stringMatching(/look[\s\S]*film\.mov/) }]);
    expect(messages[0]?.attachments ?? []).toEqual([]);
  });
});

describe("operators", () => {
  test("are announced by the handoff text; their approved and own replies arrive", async () => {
    await messenger.product.store.projects.update(messenger.project.id, { handoffText: HANDOFF });
    await messenger.setAgent({ reviewPolicy: "review" });
    bot.write({ chatId: 131, text: "may I speak to somebody?" });
    expect(await textsSent(131, 1)).toEqual([HANDOFF]);
    const ticketId = messenger.ticketIdOf(131);
    const { version } = await reviews.untilHeld(ticketId, 1);
    expect((await reviews.decide(ticketId, "approve", { ifMatch: version })).status).toBe(200);
    expect(await textsSent(131, 2)).toEqual([HANDOFF, SHOWN]);
    const json = { text: "I am *Ada* & here <to> help.", markdown: false };
    expect((await reviews.decide(ticketId, "reply", { json })).status).toBe(200);
    expect(await textsSent(131, 3)).toEqual([HANDOFF, SHOWN, json.text]);
    await messenger.setAgent({ reviewPolicy: "auto" });
  });
});

test("a blocked customer is not answered, and operators see the message as spam, until the block ends", async () => {
  bot.write({ chatId: 133, text: "are you there?" });
  expect(await textsSent(133, 1)).toEqual([SHOWN]);
  const ticketId = messenger.ticketIdOf(133);
  await reviews.setBlocked(ticketId, true);
  bot.write({ chatId: 133, text: "buy this" });
  const seen = await reviews.untilRejected(ticketId, 1);
  expect(seen.status).toBe("spam");
  expect(seen.replies).toHaveLength(1);
  await reviews.setBlocked(ticketId, false);
  bot.write({ chatId: 133, text: "thank you" });
  // Replies of a chat are sent in order: nothing was sent for the second message.
  expect(await textsSent(133, 2)).toEqual([SHOWN, SHOWN]);
  expect((await reviews.read(ticketId)).replies).toHaveLength(2);
});

describe("an invalid update", () => {
  const EMOJI = "👩‍👩‍👧‍👦".repeat(372).slice(0, 4_096);
  const from = { id: 5, is_bot: false, first_name: "\u202e\u0000", language_code: "x".repeat(500) };
  const broken: readonly [string, object][] = [
    ["of an unknown kind", { quantum_message: { text: "x" } }],
    ["without anything", {}],
    ["with a message of null", { message: null }],
    ["with a message that is a text", { message: "hello" }],
    ["with a message without a chat", { message: { message_id: 1, text: "x" } }],
    ["with a chat without an id", { message: { message_id: 1, date: 1, chat: { type: "private" }, text: "x" } }],
    ["of a channel", { channel_post: { message_id: 1, date: 1, chat: { id: -1, type: "channel" }, text: "x" } }],
    [
      "of another bot",
      {
        message: {
          message_id: 1,
          date: 1,
          chat: { id: 5, type: "private" },
          from: { ...from, is_bot: true },
          text: "x",
        },
      },
    ],
    [
      "with a number for a text",
      { message: { message_id: 1, date: 1, chat: { id: 5, type: "private" }, from, text: 5 } },
    ],
    [
      "with ids that are no numbers",
      { message: { message_id: "1", date: "x", chat: { id: "5", type: "private" }, from, text: "x" } },
    ],
  ];

  test.each([...broken])("%s affects nothing else", async (_, update) => {
    bot.push(update, { isUnasked: true });
    await waitFor(() => bot.pending().length === 0, { what: "the update to be confirmed" });
  });

  test("does not prevent the other updates of its batch from being answered", async () => {
    const chatId = 141;
    const entities = [
      { type: "mention", offset: 9_999, length: 5 },
      { type: "bold", offset: -3, length: 1e9 },
      { type: "text_link", offset: 0, length: 1, url: "javascript:alert(1)" },
      { type: "unheard_of", offset: 0, length: 1 },
    ];
    bot.pushAll([
      ...broken.map(([, update]) => update),
      bot.message({ chatId, text: EMOJI, entities }),
      bot.message({ chatId: chatId + 1, text: "a\u0000b\u202e\ud800", from }),
      bot.message({ chatId: chatId + 2, location: { latitude: 52.5, longitude: 13.4 } }),
      bot.message({ chatId: chatId + 3, contact: { phone_number: "+49 30 1", first_name: "Ada" } }),
    ]);
    for (const offset of [0, 1, 2, 3]) expect(await textsSent(chatId + offset, 1)).toEqual([SHOWN]);
    expect(await messenger.readChannel()).toMatchObject({ state: "running", error: null });
  });

  test("that cannot be stored is a dead letter after five attempts, which an operator retries", async () => {
    const { databaseUrl } = messenger.product;
    const poison = await plantMessagePoison(databaseUrl, ASKED);
    const listed = async () => {
      const { stdout } = await svc("", "dead-letters", "list", "--json");
      return (JSON.parse(stdout) as { items: { messageId: string; chatId: string; kind: string }[] }).items;
    };
    bot.pushAll([
      bot.message({ chatId: 151, text: "before" }),
      bot.message({ chatId: 152, text: ASKED }),
      bot.message({ chatId: 152, text: "after it" }),
      bot.message({ chatId: 153, text: "beside it" }),
    ]);
    // The chat of the poison message continues as well.
    for (const chatId of [151, 152, 153]) expect(await textsSent(chatId, 1)).toEqual([SHOWN]);
    const [letter] = await waitFor(
      async () => {
        const items = await listed();
        return items.length > 0 ? items : null;
      },
      { what: "the dead letter" },
    );
    expect(letter).toMatchObject({ chatId: "152", kind: "update" });
    // Messages that arrive together are committed in one statement, and individually if that fails.
    expect(await poison.countTries()).toBeGreaterThanOrEqual(5);
    await poison.cure();
    expect((await svc("", "dead-letters", "retry", letter?.messageId ?? "")).code).toBe(0);
    expect(await textsSent(152, 2)).toEqual([SHOWN, SHOWN]);
    expect(await listed()).toEqual([]);
  });
});

describe("the Bot API", () => {
  const garbage = { kind: "garbage" } as const;
  const gateway = { kind: "error", code: 502, description: "Bad Gateway" } as const;
  const busy = { kind: "error", code: 429, description: "Too Many Requests: retry after 2", retryAfterS: 2 } as const;
  const refusal = { kind: "error", code: 400, description: "Bad Request: can't parse entities: whatever" } as const;

  const ERRORS: readonly { what: string; chatId: number; failures: readonly BotApiFailure[]; copies: number }[] = [
    { what: "answers 502 to what is sent", chatId: 201, failures: [gateway, gateway], copies: 1 },
    { what: "answers garbage", chatId: 202, failures: [garbage, { ...garbage, status: 500 }], copies: 1 },
    { what: "rate limit", chatId: 203, failures: [busy, busy], copies: 1 },
    { what: "is slow", chatId: 204, failures: [{ kind: "slow", delayMs: 2_000 }], copies: 1 },
    { what: "cuts the line before it has sent", chatId: 205, failures: [{ kind: "cut" }], copies: 1 },
    // The service cannot know that it arrived: it is sent twice rather than not at all.
    {
      what: "cuts the line after it has sent",
      chatId: 206,
      failures: [{ kind: "cut", hasEffect: true }],
      copies: 2,
    },
    { what: "takes no markup", chatId: 207, failures: [refusal], copies: 1 },
    // A call is aborted after 15 seconds.
    ...(isSoak
      ? [{ what: "does not answer at all", chatId: 208, failures: [{ kind: "silent" } as const], copies: 1 }]
      : []),
  ];

  describe("fails in many ways concurrently: it", () => {
    beforeAll(() => {
      const left = new Map(ERRORS.map(({ chatId, failures: errors }) => [String(chatId), [...errors]]));
      messenger.telegram.failWith(({ method, chatId }) => {
        const isSend = method !== "sendChatAction" && chatId !== null;
        return isSend ? (left.get(chatId)?.shift() ?? null) : null;
      });
      bot.pushAll(ERRORS.map(({ chatId }) => bot.message({ chatId, text: "hello" })));
    });

    afterAll(() => messenger.telegram.failWith(null));

    test.each(ERRORS)("$what, and the answer arrives", async ({ chatId, copies }) => {
      expect(await textsSent(chatId, copies)).toEqual(Array.from({ length: copies }, () => SHOWN));
      await untilSettled(chatId);
      expect(bot.sentTo(chatId)).toHaveLength(copies);
    });
  });

  test.each(["blocked", "deactivated", "kicked"] as const)(
    "reports that a chat has %s the bot, which affects nothing else",
    async (error) => {
      const chatId = 211 + error.length;
      bot.setChatFailure(chatId, error);
      bot.write({ chatId, text: "hello" });
      await untilSettled(chatId);
      expect(bot.sentTo(chatId)).toEqual([]);
      expect(await messenger.readChannel()).toMatchObject({ state: "running" });
      bot.setChatFailure(chatId, null);
      bot.write({ chatId, text: "I am back" });
      expect(await textsSent(chatId, 1)).toEqual([SHOWN]);
    },
  );

  test("reports that a group has become a supergroup, and the answer arrives there", async () => {
    bot.setChatFailure(-231, { migratedTo: -100_231 });
    bot.write({ chatId: -231, text: `@${bot.username} hello`, entities: [mention] });
    expect(await textsSent(-100_231, 1)).toEqual([SHOWN]);
  });

  test.each<[string, BotApiFailure, RegExp]>([
    [
      "answers 500 to the poll",
      { kind: "error", code: 500, description: "Internal Server Error" },
      /has been unreachable since/,
    ],
    ["answers garbage to the poll", { kind: "garbage" }, /has been unreachable since/],
    ["cuts the poll off", { kind: "cut" }, /has been unreachable since/],
    [
      "is polled by another program",
      { kind: "error", code: 409, description: "Conflict: terminated by other getUpdates request" },
      /conflict since/,
    ],
  ])("%s, which the channel reports; afterwards all messages are answered", async (what, error, said) => {
    const chatId = 240 + what.length;
    messenger.telegram.failWith(({ method }) => (method === "getUpdates" ? error : null));
    // The pending poll still succeeds.
    bot.write({ chatId, text: "first" });
    bot.write({ chatId, text: "second" });
    const channel = await messenger.untilChannel(({ state }) => state === "failing", "say what is wrong");
    expect(channel.error).toMatch(said);
    expectExplained(channel.error);
    messenger.telegram.failWith(null);
    expect(await textsSent(chatId, 2)).toEqual([SHOWN, SHOWN]);
    await messenger.untilChannel(({ state }) => state === "running", "work again");
  });

  test("has a foreign webhook, which is removed, and nothing is lost", async () => {
    bot.setWebhook("https://example.com/telegram");
    bot.write({ chatId: 291, text: "hello" });
    expect(await textsSent(291, 1)).toEqual([SHOWN]);
  });
});

describe("the settings", () => {
  test("with a wrong token report that, since when and what to do; with the right one again, the bot works", async () => {
    await messenger.configure({ config: { botToken: `${bot.id}:${"x".repeat(35)}` } });
    const failing = await messenger.untilChannel(({ state }) => state === "failing", "refuse the token");
    expect(failing.error).toMatch(/unauthorized since \d{4}-\d\d-\d\dT/);
    expectExplained(failing.error);
    expect(JSON.stringify(failing)).not.toContain("xxxxx");
    bot.write({ chatId: 301, text: "hello" });
    await messenger.configure({ config: { botToken: bot.token } });
    expect(await textsSent(301, 1)).toEqual([SHOWN]);
    await messenger.untilChannel(({ state, error }) => state === "running" && error === null, "work again");
  });

  test("without a token report that, and the bot is not called; with another token, another bot works", async () => {
    await messenger.configure({ config: { botToken: null } });
    const failing = await messenger.untilChannel(({ state }) => state === "failing", "miss its token");
    expect(failing.error).toMatch(/No bot token is set/);
    expectExplained(failing.error);
    await waitFor(() => !bot.isPolled(), { what: "the bot to be left alone" });
    const other = messenger.telegram.addBot();
    other.write({ chatId: 302, text: "hello" });
    const set = await svc(`botToken=${other.token}\n`, "channels", "set", "messenger", "--file", "-");
    expect(set.code).toBe(0);
    expect(set.stdout).not.toContain(other.token);
    expect(await messenger.untilSent(302, 1, other)).toMatchObject([{ text: SHOWN }]);
    await messenger.configure({ config: { botToken: bot.token } });
    await waitFor(() => bot.isPolled() && !other.isPolled(), { what: "the first bot to work again" });
  });

  test("while disabled leave updates at Telegram, and accept them when enabled", async () => {
    await messenger.configure({ enabled: false });
    await messenger.untilChannel(({ state }) => state === "stopped", "be switched off");
    await waitFor(() => !bot.isPolled(), { what: "the bot to be left alone" });
    bot.write({ chatId: 303, text: "hello" });
    await messenger.configure({ enabled: true });
    expect(await textsSent(303, 1)).toEqual([SHOWN]);
  });
});

describe("during failures", () => {
  test("of the store: no update is confirmed before it is stored, and each is answered once", async () => {
    const chatIds = [401, 402, 403];
    await waitFor(() => bot.isPolled(), { what: "the poll" });
    await ground.postgres.kill("SIGKILL");
    bot.pushAll(chatIds.map((chatId) => bot.message({ chatId, text: "hello" })));
    await waitFor(() => messenger.telegram.outcomes.at(-1)?.call.method === "getUpdates", {
      what: "them to be fetched",
    });
    expect(bot.pending()).toHaveLength(chatIds.length);
    await ground.postgres.start();
    for (const chatId of chatIds) {
      expect(await textsSent(chatId, 1)).toEqual([SHOWN]);
      await untilSettled(chatId);
      expect(bot.sentTo(chatId)).toHaveLength(1);
    }
  });

  test("of the process serving the bot, with SIGKILL: another one, or the restarted one, continues", async () => {
    const active = messenger.findActive();
    if (active === null) throw new Error("no process works for the bot");
    await active.kill("SIGKILL");
    bot.write({ chatId: 411, text: "hello" });
    // If the apps run separately there is a standby.
    if (!isSeparate) await active.start();
    expect(await textsSent(411, 1)).toEqual([SHOWN]);
    if (isSeparate) {
      expect(messenger.findActive()?.name).not.toBe(active.name);
      await active.start();
    }
  });
});

// Must be last: it checks everything that the other tests have sent.
describe("in all of the tests", () => {
  test("no chat was sent more than a message per second, and all together not more than 30", () => {
    expect(messenger.telegram.rateViolations()).toEqual([]);
  });

  test("no log contains a token or message text, and health passes", async () => {
    const logs = messenger.product.composition.processes.map((process) => process.output()).join("\n");
    expect(logs).not.toContain(bot.token.split(":")[1]);
    expect(logs).not.toContain(ASKED);
    for (const url of messenger.product.composition.apiUrls) {
      expect((await callApi(`${url}/api/v1/health`)).body.status).toBe("pass");
    }
  });
});

/** Waits until every reply of a chat is sent or has failed permanently. */
async function untilSettled(chatId: number): Promise<void> {
  await waitFor(
    async () => {
      const rows = await queryDatabase<{ isSettled: boolean }>(
        messenger.product.databaseUrl,
        `SELECT settled_seq >= wanted_seq AS "isSettled" FROM outboxes WHERE ticket_id = $1`,
        [messenger.ticketIdOf(chatId)],
      );
      return rows[0]?.isSettled ?? false;
    },
    { what: `the replies of ${chatId} to be settled`, timeoutMs: 60_000 },
  );
}
