import { describe, expect, test } from "@jest/globals";
import type { TicketItem } from "@svc/contracts";
import en from "../i18n/en.json" with { type: "json" };
import { createTexts } from "../i18n/texts.ts";
import {
  customerName,
  isOverdue,
  otherMeta,
  snippetOf,
  taskDue,
  taskPerson,
  taskText,
  waitingSince,
} from "./describe-ticket.ts";

const { t } = createTexts("en", en.first);
const ME = "operator:1";
const people = { me: ME, nameOf: (actor: string) => (actor === "operator:2" ? "Ada" : "Former colleague"), t };
const ticket = {
  id: "7ffada9a-ded5-5d8c-b511-3a6b33f11143",
  channelId: "widget",
  chatId: "019ad1f0-0000-7000-8000-000000000000",
  customer: null,
  origin: null,
  userId: null,
  channel_meta: {},
} as const satisfies Partial<TicketItem>;

describe("waitingSince", () => {
  const at = "2026-11-29T10:00:00Z";
  const waiting = { deadline: null, origin: null, snooze: null, stage: "review", waitingSince: at } as const;

  test("is the time of the oldest message that waits for an operator", () => {
    expect(waitingSince(waiting)).toBe(at);
    expect(waitingSince({ ...waiting, stage: "failed" })).toBe(at);
  });

  test.each([
    { stage: "done" },
    { waitingSince: null },
    { snooze: { until: null } },
    { deadline: { kind: "firstReply", dueAt: at } },
    { origin: "tool-server" },
  ] as const)("is null for %j", (part) => {
    expect(waitingSince({ ...waiting, ...part } as unknown as typeof waiting)).toBeNull();
  });
});

describe("a customer's display name", () => {
  test("is the name, otherwise the address, otherwise the user id, otherwise a friendly name", () => {
    const customer = { id: null, name: "Jonas Weber", email: "jonas@weber.example", alias: "Quiet Otter" };
    const unknown = { ...customer, name: null, email: null };
    expect(customerName({ ...ticket, customer: unknown, userId: "u1" }, t)).toBe("u1");
    expect(customerName({ ...ticket, customer: unknown }, t)).toBe("Quiet Otter");
    expect(customerName({ ...ticket, customer, userId: "u1" }, t)).toBe("Jonas Weber");
    expect(customerName({ ...ticket, customer: { ...customer, name: null }, userId: "u1" }, t)).toBe(customer.email);
    expect(customerName({ ...ticket, userId: "u1" }, t)).toBe("u1");
  });

  test("is a label of the conversation if nothing is known: the chat ID, if the caller chose it", () => {
    expect(customerName(ticket, t)).toBe("Visitor 1143");
    const call = { ...ticket, channelId: "api" } as const;
    expect(customerName(call, t)).toBe("Unknown customer");
    expect(customerName({ ...call, chatId: "order 4711" }, t)).toBe("order 4711");
    const test = { chatId: `test:${ticket.chatId}`, channel_meta: { origin: "test" } };
    expect(customerName({ ...call, ...test }, t)).toBe("Test message");
  });

  test("is the source of a task", () => {
    const task = { ...ticket, channelId: "api", origin: "tool-server" } as const;
    expect(customerName({ ...task, channel_meta: { source: "Standup 23 Nov" } }, t)).toBe("Standup 23 Nov");
    expect(customerName(task, t)).toBe("Task");
  });
});

describe("the last message in a list", () => {
  const last = (author: "customer" | "agent" | "operator", text: string, actor: string | null = null) =>
    snippetOf(
      { subject: "My invoice is wrong", lastMessage: { author, text, actor, at: "2026-11-23T10:00:00Z" } },
      people,
    );

  test("includes its author, unless that is the customer", () => {
    expect(last("customer", "It is number 2231.")).toBe("It is number 2231.");
    expect(last("agent", "We ship to Iceland.")).toBe("Agent: We ship to Iceland.");
    expect(last("operator", "Which invoice?", ME)).toBe("You: Which invoice?");
    expect(last("operator", "Which invoice?", "operator:2")).toBe("Ada: Which invoice?");
    expect(last("operator", "Which invoice?")).toBe("Operator: Which invoice?");
  });

  test("does not repeat the subject", () => {
    expect(last("customer", "My invoice is wrong")).toBeNull();
    expect(last("customer", "My invoice is wrong I paid twice.")).toBe("I paid twice.");
    expect(last("customer", "My invoice is wrong My invoice is wrong")).toBeNull();
    expect(snippetOf({ subject: "A subject that goes on", lastMessage: null }, people)).toBeNull();
  });
});

test("a task's message shows its description only once", () => {
  expect(taskText("Export fails\n\nExport fails", "Export fails")).toBe("Export fails");
  expect(taskText("Export fails\n\nWith more than 100 rows.\n\nSee log.", "Export fails")).toBe(
    "With more than 100 rows.\n\nSee log.",
  );
  expect(taskText("Another title\n\nMore.", "Export fails")).toBe("Another title\n\nMore.");
});

describe("a task", () => {
  const task = (meta: Record<string, unknown>) => ({ channel_meta: meta, status: "open" }) as const;

  test("has its assignee and its due date, which is the same day in every time zone", () => {
    const { day } = createTexts("en", en.first);
    expect(taskPerson(task({ person: "Aoife" }))).toBe("Aoife");
    expect(day(taskDue(task({ dueDate: "2026-11-26" })) ?? "")).toBe("Thu, Nov 26");
    for (const meta of [{}, { person: 5, dueDate: 5 }, { dueDate: "tomorrow" }, { dueDate: "2026-13-45" }]) {
      expect([taskPerson(task(meta)), taskDue(task(meta))]).toEqual([null, null]);
    }
  });

  test("is overdue from the next day on, until it is closed", () => {
    const due = task({ dueDate: "2026-11-26" });
    const at = (day: number) => new Date(2026, 10, day, 1).getTime();
    expect([at(25), at(26), at(27)].map((now) => isOverdue(due, now))).toEqual([false, false, true]);
    expect(isOverdue({ ...due, status: "resolved" }, at(27))).toBe(false);
    expect(isOverdue(task({}), at(27))).toBe(false);
  });
});

test("details include the metadata of a message, except what is shown as customer or task", () => {
  const contact = { name: "Jonas Weber", email: "jonas@weber.example" };
  const customer = { ...contact, id: null, alias: null };
  const page = { url: "https://shop.example" };
  expect(otherMeta({ ...ticket, customer, channel_meta: { contact, page } })).toEqual([["page", page]]);
  const changed = { contact: { name: "Jonas\u202e Weber" } };
  expect(otherMeta({ ...ticket, customer, channel_meta: changed })).toEqual(Object.entries(changed));
  expect(
    otherMeta({ ...ticket, customer, userId: "u1", channel_meta: { ...contact, userId: "u1", plan: "pro" } }),
  ).toEqual([["plan", "pro"]]);
  const facts = { source: "Standup", severity: "high", person: "Aoife", dueDate: "2026-11-26" };
  const meta = { origin: "tool-server", ...facts, clientIssueId: "7" };
  expect(otherMeta({ ...ticket, origin: "tool-server", channel_meta: meta })).toEqual([["clientIssueId", "7"]]);
});
