import { describe, expect, test } from "@jest/globals";
import type { TicketDetail } from "@svc/contracts";
import { renderTicket, renderTickets, readTrace } from "./render-ticket.ts";

const trace = {
  triage: { agentId: "a", confidence: 1, why: "the only agent" },
  gate: { sends: true, why: "92 % sure" },
  stageMs: { triage: 1.5, answer: 900 },
  attempts: 1,
  passages: [
    { chunkId: "c", score: 3.456 },
    { chunkId: "d", score: 1 },
  ],
};

test("shows the trace of a run as facts, and keeps other data", () => {
  const usage = { model: "openai:gpt-test", inputTokens: 120, outputTokens: 30, costUsd: 0.0002 };
  const answer = { model: { usage, fallback: null } };
  expect(readTrace({ ...trace, answer, note: "hello" })).toEqual({
    facts: [
      ["triage", "the only agent"],
      ["passages", "2, best scores 3.46, 1.00"],
      ["model", "openai:gpt-test, 120 + 30 tokens, $0.0002"],
      ["decision", "sent: 92 % sure"],
      ["times", "triage 1.5 ms, answer 900 ms"],
    ],
    rest: { note: "hello" },
  });
});

test("explains a quoted answer in the words of the documentation, escaped", () => {
  const fallback = "unauthorized: the provider rejected the API key (401)\u001b[2J";
  const { facts } = readTrace({
    ...trace,
    answer: { model: { usage: null, fallback, mustReview: true } },
    attempts: 3,
  });
  expect(facts).toContainEqual([
    "quotes",
    "instead of the model: the provider rejected the API key (401) (see docs/models.md)",
  ]);
  expect(facts).toContainEqual(["review", "requires an operator, regardless of the policy"]);
  expect(facts).toContainEqual(["attempts", "3"]);
});

test("marks a held message, and one without an answer", () => {
  const decision = (gate: object) => readTrace({ gate }).facts;
  expect(decision({ sends: false, why: "only 20 % sure" })).toEqual([["decision", "held: only 20 % sure"]]);
  expect(decision({ sends: false, rejects: true, why: "spam" })).toEqual([["decision", "no answer: spam"]]);
});

test("shows a part of an unknown shape unchanged", () => {
  expect(readTrace({ gate: 7, passages: "many" })).toEqual({ facts: [], rest: { gate: 7, passages: "many" } });
});

const plain = (text: string) => text;
const paint = { bold: plain, dim: plain, green: plain, red: plain, yellow: plain };
const terminal = { paint, width: 160 } as Parameters<typeof renderTickets>[1];
const AT = "2026-11-23T10:00:00.000Z";

const ticket: TicketDetail = {
  id: "7ffada9a-ded5-5d8c-b511-3a6b33f11143",
  homeProject: "default",
  project: "default",
  channelId: "widget",
  chatId: "v_1",
  userId: null,
  customer: { id: null, name: "Jonas Weber", email: "jonas@weber.example", alias: null },
  origin: null,
  subject: "Where is my parcel?",
  status: "open",
  stage: "review",
  priority: "normal",
  assignee: null,
  snooze: null,
  agentId: null,
  confidence: null,
  language: "en",
  tags: [],
  channel_meta: {},
  version: 2,
  createdAt: AT,
  updatedAt: AT,
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
};
const task: TicketDetail = {
  ...ticket,
  channelId: "api",
  customer: null,
  origin: "tool-server",
  channel_meta: {
    origin: "tool-server",
    clientIssueId: "7",
    source: "Standup 23 Nov",
    severity: "high",
    person: "Aoife",
    dueDate: "2026-11-26",
  },
};

describe("a ticket in the terminal", () => {
  test("shows the customer", () => {
    expect(renderTicket(ticket, paint)).toMatch(/customer\s+Jonas Weber <jonas@weber\.example>/);
    expect(renderTickets([ticket], terminal, Date.parse(AT))).toContain("Jonas Weber");
  });

  test("shows origin, source, severity, person and due day only for a submitted issue", () => {
    expect(renderTicket(task, paint)).toMatch(
      /origin\s+tool-server\s+source\s+Standup 23 Nov\s+severity\s+high\s+person\s+Aoife\s+dueDate\s+2026-11-26/,
    );
    expect(renderTickets([task], terminal, Date.parse(AT))).toContain("task");
    expect(renderTicket({ ...task, origin: null }, paint)).not.toContain("Standup");
  });
});
