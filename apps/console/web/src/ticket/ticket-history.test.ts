import { describe, expect, test } from "@jest/globals";
import type { TicketDetail, TicketEvent, TicketMessage, TicketReply } from "@svc/contracts";
import { buildTimeline, changedTags, changeOf, mergeHistory, replacedTag, replyActionsOf } from "./read-ticket.ts";
import { describeChanges, mustBeSeen, seenOf } from "./own-drafts.ts";

const at = (minute: number) => `2026-11-22T10:${String(minute).padStart(2, "0")}:00.000Z`;
const message = (id: string, minute: number): TicketMessage => ({
  id,
  seq: minute,
  userId: null,
  text: `text of ${id}`,
  timestamp: at(minute),
  attachments: [],
  meta: {},
  mode: "async",
  state: "held",
  attempts: 1,
  failure: null,
  createdAt: at(minute),
  finishedAt: null,
});
const reply = (id: string, minute: number): TicketReply => ({
  id,
  seq: minute,
  inReplyTo: null,
  author: "operator",
  authorId: null,
  createdAt: at(minute),
  deliveredAt: null,
  type: "message",
  text: `text of ${id}`,
  markdown: false,
  sources: [],
});
const event = (id: number, minute: number, actor: string, data: Record<string, unknown>): TicketEvent => ({
  id,
  at: at(minute),
  actor,
  messageId: null,
  moves: [],
  data,
});
const ticket = (change: Partial<TicketDetail>): TicketDetail => ({
  id: "t",
  homeProject: "default",
  project: "default",
  channelId: "api",
  chatId: "c",
  userId: null,
  customer: null,
  origin: null,
  subject: "s",
  status: "open",
  stage: "review",
  priority: "normal",
  assignee: null,
  snooze: null,
  agentId: null,
  confidence: null,
  language: null,
  tags: [],
  channel_meta: {},
  version: 1,
  createdAt: at(0),
  updatedAt: at(0),
  firstReplyAt: null,
  resolvedAt: null,
  deadline: null,
  messages: [],
  replies: [],
  events: [],
  draft: null,
  modelUsage: { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: null },
  modelCalls: [],
  possibleDuplicates: [],
  toolCalls: [],
  more: { messages: false, replies: false, events: false },
  ...change,
});

describe("the conversation of a ticket", () => {
  test("is in the order of time, with each day once", () => {
    const entries = buildTimeline(
      {
        messages: [message("m1", 1), message("m2", 5)],
        replies: [reply("r1", 2)],
        events: [event(1, 3, "operator:a", { note: "Look", decision: "note" }), event(2, 4, "operator:a", {})],
      },
      (time) => time.slice(0, 10),
    );
    expect(entries.map(({ kind }) => kind)).toEqual(["day", "message", "reply", "note", "event", "message"]);
  });

  test("includes that a reply has resolved the ticket", () => {
    const resolved = event(1, 1, "pipeline", { resolves: true });
    const entries = buildTimeline({ messages: [], replies: [], events: [resolved] }, () => "");
    expect(entries.map(({ key }) => key)).toEqual(["event-1"]);
  });

  test("excludes successful events of the pipeline", () => {
    const entries = buildTimeline({ messages: [], replies: [], events: [event(1, 1, "pipeline", {})] }, () => "");
    expect(entries).toEqual([]);
  });
});

test("the tags of a change are those that it has set", () => {
  expect(changedTags({ decision: "change", change: { tags: ["damage", "refund"] } })).toEqual(["damage", "refund"]);
  expect(changedTags({ decision: "change", change: { tags: [] } })).toEqual([]);
  expect(changedTags({ decision: "change", change: { priority: "high" } })).toBeNull();
  expect(changedTags({ decision: "note" })).toBeNull();
});

test("fields that were set, and the changes with a reply, are told apart from other events", () => {
  expect(changeOf({ decision: "change", change: { priority: "high" } })).toEqual({ priority: "high" });
  expect(changeOf({ decision: "note" })).toEqual({});
  expect(replyActionsOf({ decision: "reply", actions: { addTags: ["refund"] } })).toEqual({ addTags: ["refund"] });
  expect(replyActionsOf({ decision: "reply" })).toBeNull();
});

test("a change of a tag itself has its former and its new name", () => {
  const change = { decision: "change", change: { tags: ["refunds"] } };
  expect(replacedTag({ ...change, tag: { from: "refund", to: "refunds" } })).toEqual({ from: "refund", to: "refunds" });
  expect(replacedTag({ ...change, tag: { from: "refund", to: null } })).toEqual({ from: "refund", to: null });
  expect(replacedTag(change)).toBeNull();
});

describe("unseen changes of a ticket", () => {
  const seen = seenOf(ticket({ messages: [message("m1", 1)] }));

  test("are empty if only the version differs", () => {
    expect(describeChanges(seen, ticket({ version: 7, messages: [message("m1", 1)] }), "operator:a")).toEqual([]);
  });

  test("include new messages and replies, which must be seen before a reply is sent", () => {
    const changes = describeChanges(
      seen,
      ticket({
        messages: [message("m1", 1), message("m2", 2)],
        replies: [reply("r1", 3)],
        events: [event(1, 3, "operator:b", { decision: "reply" })],
      }),
      "operator:a",
    );
    expect(changes).toEqual([
      { kind: "message", text: "text of m2" },
      { kind: "reply", author: "operator", text: "text of r1" },
    ]);
    expect(mustBeSeen(changes)).toBe(true);
  });

  test("exclude the operator's own decisions and notes of colleagues", () => {
    const now = ticket({
      messages: [message("m1", 1)],
      replies: [reply("r1", 3)],
      assignee: "operator:a",
      status: "pending",
      events: [
        event(1, 2, "operator:b", { note: "Look" }),
        event(2, 3, "operator:a", { decision: "reply" }),
        event(3, 3, "pipeline", {}),
      ],
    });
    expect(describeChanges(seen, now, "operator:a")).toEqual([]);
  });

  test("include assignee and status, which do not have to be seen before a reply", () => {
    const changes = describeChanges(
      seen,
      ticket({
        messages: [message("m1", 1)],
        assignee: "operator:b",
        status: "resolved",
        events: [event(1, 3, "operator:b", { decision: "resolve" })],
      }),
      "operator:a",
    );
    expect(changes).toEqual([
      { kind: "status", status: "resolved" },
      { kind: "assignee", assignee: "operator:b" },
    ]);
    expect(mustBeSeen(changes)).toBe(false);
  });
});

test("older entries stay when the newest 200 change, and what was fetched last wins", () => {
  const older = { messages: [message("m1", 1), message("m2", 2)], replies: [], events: [event(1, 1, "a", {})] };
  const changed = { ...message("m2", 2), text: "changed" };
  const merged = mergeHistory(older, { messages: [changed, message("m3", 3)], replies: [reply("r", 4)], events: [] });
  expect(merged.messages.map(({ id, text }) => [id, text])).toEqual([
    ["m1", "text of m1"],
    ["m2", "changed"],
    ["m3", "text of m3"],
  ]);
  expect([merged.replies.length, merged.events.length]).toEqual([1, 1]);
});
