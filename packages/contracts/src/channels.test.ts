import { describe, expect, test } from "@jest/globals";
import { CHANNEL_IDS } from "./channels.ts";
import { INTEGRATION_IDS, incomingMessageSchema } from "./message-request.ts";
import { REPLY_QUEUES } from "./queues.ts";

const smallest = { channelId: "api", chatId: "c", text: "hello", timestamp: 1, channelMeta: {} };

describe("an incoming message", () => {
  test("has the fields of the document", () => {
    expect(incomingMessageSchema.parse(smallest)).toEqual(smallest);
    const full = {
      ...smallest,
      userId: "u",
      attachments: [{ type: "image/png" }, { type: "image/png", url: "https://example.com/a", name: "a" }],
      channelMeta: { a: { b: [1] } },
    };
    expect(incomingMessageSchema.parse(full)).toEqual(full);
  });

  test("keeps its channelMeta with whatever keys", () => {
    const channelMeta = '{"__proto__":{"a":1},"b":{"__proto__":2}}';
    const parsed = incomingMessageSchema.parse({ ...smallest, channelMeta: JSON.parse(channelMeta) as object });
    expect(JSON.stringify(parsed.channelMeta)).toBe(channelMeta);
  });

  test.each([
    ["channelId", "email"],
    ["channelId", undefined],
    ["chatId", undefined],
    ["userId", 1],
    ["text", null],
    ["timestamp", "2026-01-01"],
    ["timestamp", Number.NaN],
    ["attachments", [{}]],
    ["channelMeta", undefined],
    ["channelMeta", []],
    ["channelMeta", "a"],
  ])("is refused with %s %j", (field, value) => {
    const issues = incomingMessageSchema.safeParse({ ...smallest, [field]: value }).error?.issues ?? [];
    expect(issues.map(({ path }) => path[0])).toEqual([field]);
  });
});

test("every channel has a reply queue of its own, without the colon that BullMQ forbids", () => {
  expect(Object.keys(REPLY_QUEUES).toSorted()).toEqual(CHANNEL_IDS.toSorted());
  expect(new Set(Object.values(REPLY_QUEUES)).size).toBe(CHANNEL_IDS.length);
  expect(Object.values(REPLY_QUEUES).filter((name) => name.includes(":"))).toEqual([]);
});

test("lists of channels start with the API, as people read of it first", () => {
  expect(INTEGRATION_IDS).toEqual(["api", "widget", "messenger", "tool-server"]);
});
