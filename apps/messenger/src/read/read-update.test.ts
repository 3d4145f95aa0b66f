import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readOrigin, readUpdate } from "./read-update.ts";
import type { Reading } from "./read-update.ts";

const BOT = { id: 42, username: "HelpBot" };
const RECEIVED_AT = new Date("2026-01-02T03:04:05Z");
const ALICE = { id: 7, is_bot: false, first_name: "Alice", last_name: "Ng", username: "alice", language_code: "de" };
const PRIVATE = { id: 7, type: "private" };
const GROUP = { id: -100, type: "supergroup", title: "Team" };

const message = (more: object) => ({ message_id: 9, date: 1_700_000_000, chat: PRIVATE, from: ALICE, ...more });
const read = (...messages: object[]) =>
  readUpdate(
    messages.map((each, index) => ({ update_id: index, message: message(each) })),
    { bot: BOT, receivedAt: RECEIVED_AT },
  );
const readEdit = (more: object) =>
  readUpdate([{ update_id: 1, edited_message: message(more) }], { bot: BOT, receivedAt: RECEIVED_AT });
const inGroup = (more: object) => read({ chat: GROUP, ...more });

/** The text of a message, or the kind of any other reading. */
const textOf = (reading: Reading) => (reading.kind === "message" ? reading.text : reading.kind);
const filesOf = (reading: Reading) =>
  reading.kind === "message" ? reading.files.map(({ fileId, name }) => `${fileId} ${name}`) : [];
const mention = (text: string, name = "@HelpBot") => ({
  text,
  entities: [{ type: "mention", offset: text.indexOf(name), length: name.length }],
});
const command = (text: string) => ({
  text,
  entities: [{ type: "bot_command", offset: 0, length: text.split(" ")[0]?.length }],
});

test("a text becomes a message of its sender, with Telegram's metadata", () => {
  expect(read({ text: "Hello?" })).toEqual({
    kind: "message",
    userId: "7",
    text: "Hello?",
    timestampMs: 1_700_000_000_000,
    telegram: {
      messageId: 9,
      chatType: "private",
      from: { name: "Alice Ng", username: "alice", languageCode: "de" },
    },
    files: [],
    correction: null,
  });
});

test.each<[string, object, string]>([
  ["a text", { text: "  Hi \u0000there\ud800 " }, "Hi there\ufffd"],
  ["a caption", { caption: "Look", photo: [{ file_id: "p" }] }, "Look"],
  ["a location", { location: { latitude: 48.1, longitude: 11.5 } }, "[Location: 48.1 11.5]"],
  [
    "a place",
    {
      location: { latitude: 1, longitude: 2 },
      venue: { location: { latitude: 1, longitude: 2 }, title: "Café", address: "Main\nSt 1" },
    },
    "[Place: Café, Main St 1, 1 2]",
  ],
  ["a contact", { contact: { phone_number: "+49 1", first_name: "Bo" } }, "[Contact: Bo, +49 1]"],
  ["a sticker", { sticker: { emoji: "😀" } }, "[Sticker: 😀]"],
  ["a poll", { poll: { question: "Tea?", options: [{ text: "Yes" }, { text: "No" }] } }, "[Poll: Tea?, Yes, No]"],
  ["a dice", { dice: { emoji: "🎲", value: 3 } }, "[Dice: 🎲, 3]"],
  ["a story", { story: { id: 1 } }, "[Story]"],
  [
    "a link behind words",
    { text: "see here now", entities: [{ type: "text_link", offset: 4, length: 4, url: "https://a.example/x" }] },
    "see here (https://a.example/x) now",
  ],
  [
    "entities out of range",
    {
      text: "abc",
      entities: [
        { type: "text_link", offset: 2, length: 9, url: "https://a.example" },
        { type: "mention", offset: -4, length: 2 },
        { type: "mention", offset: 1e15, length: 1e15 },
        { type: "text_link", offset: 1, length: 0, url: "https://a.example" },
        "nonsense",
        null,
        { type: 5 },
      ],
    },
    "abc",
  ],
  ["4,096 characters of emoji", { text: "😀".repeat(2_048) }, "😀".repeat(2_048)],
  ["a command that is none of the bot's", command("/order 12"), "/order 12"],
  ["a command of another bot", command("/start@OtherBot"), "/start@OtherBot"],
])("%s is read as text", (_what, more, text) => {
  expect(textOf(read(more))).toBe(text);
});

test.each<[string, object, string[]]>([
  [
    "the largest size of a photo",
    {
      photo: [
        { file_id: "s", width: 9, height: 9 },
        { file_id: "l", width: 90, height: 90 },
      ],
    },
    ["l photo.jpg"],
  ],
  ["a document by its name", { document: { file_id: "d", file_name: "a/b.pdf" } }, ["d a/b.pdf"]],
  ["an animation once", { animation: { file_id: "a" }, document: { file_id: "a" } }, ["a animation.mp4"]],
  ["a voice message", { voice: { file_id: "v" } }, ["v voice.ogg"]],
  ["music by its title", { audio: { file_id: "m", performer: "X", title: "Y" } }, ["m X - Y.mp3"]],
  ["a video", { video: { file_id: "w" } }, ["w video.mp4"]],
  ["no file without an id", { text: "x", document: { file_name: "a" }, photo: "no" }, []],
])("the files of a message are %s", (_what, more, files) => {
  expect(filesOf(read(more))).toEqual(files);
});

test.each<[string, object]>([
  ["nothing in it", {}],
  ["a new member", { new_chat_members: [ALICE] }],
  ["a chat of another type", { chat: { id: 1, type: "channel" }, text: "x" }],
  ["no chat", { chat: undefined, text: "x" }],
  ["a text that is none", { text: 5 }],
  ["another bot", { from: { ...ALICE, is_bot: true }, text: "x" }],
  [
    "what a channel posts into its group",
    { chat: GROUP, sender_chat: { id: -5 }, is_automatic_forward: true, ...mention("@HelpBot x") },
  ],
  ["invisible characters only", { text: "\u3164\u2800" }],
])("a message of %s is ignored", (_what, more) => {
  expect(read(more)).toEqual({ kind: "ignored" });
});

test.each([null, 5, "x", [], {}, { update_id: 1, channel_post: message({ text: "x" }) }, { message: [] }])(
  "%j is ignored",
  (update) => {
    expect(readUpdate([update], { bot: BOT, receivedAt: RECEIVED_AT })).toEqual({ kind: "ignored" });
    expect(readOrigin(update)).toBeNull();
  },
);

describe("the bot's own commands", () => {
  test.each<[object, string]>([
    [command("/start"), "start"],
    [command("/start a-campaign"), "start"],
    [command("/help"), "help"],
    [command("/HELP@helpbot"), "help"],
  ])("%j", (more, own) => {
    expect(read(more)).toEqual({
      kind: "command",
      command: own,
      target: { chatId: "7", threadId: null, replyToMessageId: null },
      languageCode: "de",
    });
  });

  test("count in a group only if they name the bot, and the bot's name alone requests help", () => {
    const target = { chatId: "-100", threadId: null, replyToMessageId: 9 };
    expect(inGroup(command("/help"))).toEqual({ kind: "ignored" });
    expect(inGroup(command("/help@OtherBot"))).toEqual({ kind: "ignored" });
    expect(inGroup(command("/help@HelpBot"))).toMatchObject({ command: "help", target });
    expect(inGroup(mention("@helpbot", "@helpbot"))).toMatchObject({ command: "help", target });
  });

  test("are not corrections", () => {
    expect(readEdit(command("/start"))).toMatchObject({ kind: "message" });
  });
});

describe("in a group", () => {
  test.each<[string, object, string]>([
    ["what does not speak to the bot", { text: "hi all" }, "ignored"],
    ["who speaks to another one", mention("@OtherBot hi", "@OtherBot"), "ignored"],
    ["a name that only begins alike", mention("@HelpBots hi", "@HelpBots"), "ignored"],
    ["a name that is not marked", { text: "mail@HelpBot" }, "ignored"],
    ["a mention, which is left out", mention("@HelpBot what is this?"), "what is this?"],
    ["a mention at the end", mention("what is this, @helpbot", "@helpbot"), "what is this,"],
    [
      "a mention in a caption",
      {
        caption: "@HelpBot look",
        photo: [{ file_id: "p" }],
        caption_entities: [{ type: "mention", offset: 0, length: 8 }],
      },
      "look",
    ],
    [
      "a mention of the account",
      { text: "Help, how?", entities: [{ type: "text_mention", offset: 0, length: 4, user: { id: 42 } }] },
      ", how?",
    ],
    ["a command with the bot's name", command("/order@HelpBot 5"), "/order@HelpBot 5"],
    ["a reply to the bot", { text: "and then?", reply_to_message: { message_id: 1, from: { id: 42 } } }, "and then?"],
    [
      "a reply to somebody else without the bot's name",
      { text: "yes", reply_to_message: { message_id: 1, from: ALICE, text: "no" } },
      "ignored",
    ],
    [
      "the bot is asked about somebody else's message",
      { ...mention("@HelpBot is that so?"), reply_to_message: { message_id: 1, from: ALICE, text: "It is\nfree." } },
      "> It is\n> free.\n\nis that so?",
    ],
    [
      "its name alone in reply to a question",
      { ...mention("@HelpBot"), reply_to_message: { message_id: 1, from: ALICE, text: "How much?" } },
      "> How much?",
    ],
    [
      "a topic that the bot has opened, to which every message there replies",
      { text: "hi", reply_to_message: { message_id: 1, from: { id: 42 }, forum_topic_created: {} } },
      "ignored",
    ],
  ])("%s", (_what, more, text) => {
    expect(textOf(inGroup(more))).toBe(text);
  });

  test("stores the topic, the title, the replied-to message and an anonymous administrator", () => {
    const reading = inGroup({
      ...mention("@HelpBot hi"),
      from: { id: 1_087_968_824, is_bot: true, first_name: "Group" },
      sender_chat: { id: -100, title: "Team" },
      message_thread_id: 5,
      is_topic_message: true,
      reply_to_message: { message_id: 3, from: { id: 42 }, text: "said" },
    });
    expect(reading).toMatchObject({
      userId: "-100",
      telegram: { chatTitle: "Team", threadId: 5, from: { name: "Team" }, replyTo: { messageId: 3, text: "said" } },
    });
  });
});

describe("an edited message", () => {
  test("is a correction, in the language of its sender", () => {
    expect(readEdit({ text: "at 5 pm" })).toMatchObject({
      text: "at 5 pm",
      correction: { messageId: 9, text: "Korrektur: at 5 pm" },
    });
  });

  test("is ignored if it is a live location or has no text", () => {
    expect(readEdit({ location: { latitude: 1, longitude: 2 } })).toEqual({ kind: "ignored" });
    expect(readEdit({})).toEqual({ kind: "ignored" });
  });
});

test("an album is one message with all its texts, its files in order, addressed to the bot as a whole", () => {
  const part = (id: number, more: object = {}) => ({
    chat: GROUP,
    message_id: id,
    media_group_id: "a",
    document: { file_id: `f${id}` },
    ...more,
  });
  const marked = { caption: "@HelpBot both", caption_entities: [{ type: "mention", offset: 0, length: 8 }] };
  const reading = read(part(1), part(2, marked), part(3, { caption: "last" }));
  expect(reading).toMatchObject({ text: "both\nlast", telegram: { messageId: 1, albumMessageIds: [2, 3] } });
  expect(filesOf(reading)).toEqual(["f1 document", "f2 document", "f3 document"]);
});

test("quotes the part of a message that the sender selected", () => {
  const reading = read({
    text: "this?",
    reply_to_message: { message_id: 1, from: { id: 42 }, text: "One. Two." },
    quote: { text: "Two.", is_manual: true },
  });
  expect(textOf(reading)).toBe("> Two.\n\nthis?");
});

test("reads any input as something that can be stored", () => {
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.integer());
  const entity = fc.record({
    type: fc.constantFrom("text_link", "mention", "text_mention"),
    offset: fc.integer(),
    length: fc.integer(),
    url: fc.string(),
  });
  const near = fc.record({
    type: fc.constantFrom("text_link", "mention"),
    offset: fc.integer({ min: -2, max: 9 }),
    length: fc.integer({ min: -1, max: 9 }),
    url: fc.string(),
  });
  const fields = fc.record(
    {
      message_id: fc.integer(),
      chat: fc.oneof(fc.constantFrom(PRIVATE, GROUP), value),
      from: fc.oneof(fc.constant(ALICE), value),
      date: value,
      text: fc.oneof(fc.string({ unit: "binary" }), value),
      caption: value,
      entities: fc.oneof(fc.array(fc.oneof(entity, near, value)), value),
      photo: value,
      document: value,
      location: value,
      poll: value,
      contact: value,
      quote: value,
      reply_to_message: fc.oneof(fc.record({ message_id: fc.integer(), text: fc.string({ unit: "binary" }) }), value),
      media_group_id: value,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.constantFrom("message", "edited_message", "other"), fields, (kind, content) => {
      const update = { update_id: 1, [kind]: content };
      const origin = readOrigin(update);
      const reading = readUpdate([update], { bot: BOT, receivedAt: RECEIVED_AT });
      const all = JSON.stringify([origin, reading]);
      expect(all.includes("\\u0000") || /\\ud[89a-f]/.test(all)).toBe(false);
      if (reading.kind === "message") {
        expect(reading.text.length).toBeLessThanOrEqual(100_000);
        expect(Number.isSafeInteger(reading.timestampMs)).toBe(true);
      }
      // Every reading but an ignored one has an origin, which names the chat to store it under.
      if (reading.kind !== "ignored") expect(origin).not.toBeNull();
    }),
    { numRuns: 500 },
  );
});
