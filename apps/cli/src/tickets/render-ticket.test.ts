import { describe, expect, test } from "@jest/globals";
import type { TicketDetail } from "@svc/contracts";
import { renderTicket, renderTickets } from "./render-ticket.ts";

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
  customer: { name: "Jonas Weber", email: "jonas@weber.example" },
  origin: null,
  subject: "Where is my parcel?",
  status: "open",
  stage: "review",
  priority: "normal",
  assignee: null,
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
  test("names the customer", () => {
    expect(renderTicket(ticket, paint)).toMatch(/customer\s+Jonas Weber <jonas@weber\.example>/);
    expect(renderTickets([ticket], terminal, Date.parse(AT))).toContain("Jonas Weber");
  });

  test("shows origin, source, severity, person and due day of a submitted issue, and of nothing else", () => {
    expect(renderTicket(task, paint)).toMatch(
      /origin\s+tool-server\s+source\s+Standup 23 Nov\s+severity\s+high\s+person\s+Aoife\s+dueDate\s+2026-11-26/,
    );
    expect(renderTickets([task], terminal, Date.parse(AT))).toContain("task");
    expect(renderTicket({ ...task, origin: null }, paint)).not.toContain("Standup");
  });
});
