import { describe, expect, test } from "@jest/globals";
import type { DeadlineFacts } from "@svc/store";
import { wordsOfTicket, deadlinesOf } from "./index-tickets.ts";

const at = (time: string) => new Date(`2026-11-30T${time}:00Z`);
const TICKET: DeadlineFacts = {
  ticketId: "01a20276-0000-7000-8000-000000000000",
  priority: "normal",
  channelId: "api",
  status: "open",
  stage: "review",
  assignee: null,
  firstReplyAt: null,
  updatedAt: at("10:05"),
  waitingSince: at("10:00"),
  resolutionStartedAt: null,
  slaTargets: [{ firstReplyMinutes: 30, nextReplyMinutes: 60, resolutionMinutes: 120 }],
  businessHours: null,
};
const kindsOf = (change: Partial<DeadlineFacts>) => deadlinesOf({ ...TICKET, ...change }).map(({ kind }) => kind);

describe("the deadlines of a ticket", () => {
  test("count from the oldest message without a reply", () => {
    expect(deadlinesOf(TICKET)).toEqual([
      { kind: "first_reply", startedAt: at("10:00"), dueAt: at("10:30") },
      { kind: "resolution", startedAt: at("10:00"), dueAt: at("12:00") },
    ]);
    expect(kindsOf({ firstReplyAt: at("09:00") })).toEqual(["next_reply", "resolution"]);
  });

  test("are in business time", () => {
    const businessHours = { timeZone: "UTC", week: { monday: [["10:30", "24:00"]] }, holidays: [] } satisfies object;
    expect(
      deadlinesOf({ ...TICKET, businessHours: { ...businessHours, week: { monday: [["10:30", "24:00"]] } } })[0]?.dueAt,
    ).toEqual(at("11:00"));
  });

  test("are those of the first target that matches the priority and the channel", () => {
    const slaTargets: DeadlineFacts["slaTargets"] = [
      { priority: "urgent", channelId: "widget", firstReplyMinutes: 1 },
      { priority: "urgent", firstReplyMinutes: 2 },
      { channelId: "api", firstReplyMinutes: 3 },
    ];
    const minuteOf = (change: Partial<DeadlineFacts>) =>
      deadlinesOf({ ...TICKET, slaTargets, ...change })[0]?.dueAt.getUTCMinutes();
    expect(minuteOf({ priority: "urgent", channelId: "widget" })).toBe(1);
    expect(minuteOf({ priority: "urgent" })).toBe(2);
    expect(minuteOf({})).toBe(3);
    expect(minuteOf({ channelId: "messenger" })).toBeUndefined();
  });

  test("keep the start of the resolution; a ticket that only an agent has answered has none", () => {
    expect(kindsOf({ stage: "done", waitingSince: null })).toEqual([]);
    expect(deadlinesOf({ ...TICKET, stage: "done", status: "pending", resolutionStartedAt: at("08:00") })).toEqual([
      { kind: "resolution", startedAt: at("08:00"), dueAt: at("10:00") },
    ]);
    expect(kindsOf({ stage: "done", assignee: "operator:1" })).toEqual(["resolution"]);
  });

  test.each(["resolved", "spam"] as const)("end once the ticket is %s", (status) => {
    expect(kindsOf({ status, resolutionStartedAt: at("08:00") })).toEqual([]);
  });
});

describe("the words of a ticket", () => {
  test("are those of its subject and of all its messages, and apart from them those of its customer", () => {
    const texts = ["Wo ist meine Größe?", "Die Grösse ist unterwegs."];
    expect(wordsOfTicket({ indexed: null, subject: "Größe", customer: "Ada Größe", texts })).toEqual({
      ofText: ["grosse", "wo", "ist", "meine", "die", "unterwegs"],
      ofCustomer: ["ada", "grosse"],
    });
  });

  test("include those of later messages", () => {
    const text = { indexed: ["a", "b"], subject: "ignored", customer: "", texts: ["b c"] };
    expect(wordsOfTicket(text)).toEqual({ ofText: ["a", "b", "c"], ofCustomer: [] });
  });

  test("stay within PostgreSQL's limit, however long the conversation is", () => {
    const texts = Array.from({ length: 10 }, (_, text) =>
      Array.from({ length: 1_000 }, (__, word) => `wort${text}x${word}x${"y".repeat(50)}`).join(" "),
    );
    const { ofText: words } = wordsOfTicket({ indexed: null, subject: "", customer: "", texts });
    expect(words[0]).toMatch(/^wort0x0x/);
    expect(Buffer.byteLength(words.join(""))).toBeLessThan(400_000);
    const more = wordsOfTicket({ indexed: words, subject: "", customer: "", texts: ["onemore"] });
    expect(more.ofText.length).toBeLessThanOrEqual(words.length + 1);
  });
});
