import { describe, expect, test } from "@jest/globals";
import { QueryClient } from "@tanstack/react-query";
import type { TicketDetail, TicketItem } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { reopenAfterReply, showTicket } from "./tickets.ts";

const TIME = "2026-11-22T18:00:00.000Z";
const KEY = ["ticket", "shop", "t1"];

const item = (version: number, stage: TicketItem["stage"]): TicketItem => ({
  id: "t1",
  homeProject: "shop",
  project: "shop",
  channelId: "api",
  chatId: "c1",
  userId: null,
  customer: null,
  origin: null,
  subject: "A parcel",
  status: "open",
  stage,
  priority: "normal",
  assignee: null,
  snooze: null,
  agentId: null,
  confidence: null,
  language: null,
  tags: [],
  channel_meta: {},
  version,
  createdAt: TIME,
  updatedAt: TIME,
  firstReplyAt: null,
  resolvedAt: null,
  deadline: null,
});
const detail: TicketDetail = {
  ...item(5, "review"),
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

/**
 * Returns the cached ticket of a page at version 5, after the operator's own decision has changed the ticket to
 * `decided`.
 */
function shownAfter(decided: TicketItem) {
  const queryClient = new QueryClient();
  queryClient.setQueryData<TicketDetail>(KEY, detail);
  showTicket(queryClient, "shop", decided);
  const { version, stage } = queryClient.getQueryData<TicketDetail>(KEY) ?? detail;
  return { version, stage, isRefetched: queryClient.getQueryState(KEY)?.isInvalidated };
}

describe("the page of a ticket", () => {
  test("gets the version of the operator's own decision if nothing else has happened since", () => {
    expect(shownAfter(item(6, "done"))).toEqual({ version: 6, stage: "done", isRefetched: true });
  });

  test("keeps its version, and is refetched, if there was another change in between", () => {
    expect(shownAfter(item(7, "done"))).toEqual({ version: 5, stage: "review", isRefetched: true });
    expect(shownAfter(item(4, "done"))).toEqual({ version: 5, stage: "review", isRefetched: true });
  });
});

test("a ticket that a reply resolves is reopened as soon as the reply is carried out", async () => {
  const states = [item(6, "delivering"), { ...item(7, "done"), status: "resolved" as const }];
  const calls: unknown[] = [];
  const connection = {
    call: () => Promise.resolve({ item: states.shift() }),
    send: (...call: unknown[]) => Promise.resolve({ item: calls.push(call) }),
  } as unknown as Connection;
  await reopenAfterReply(connection, item(6, "delivering"), () => Promise.resolve());
  expect(calls).toEqual([["POST", "/api/v1/admin/tickets/t1/reopen", { project: "shop", body: {}, ifMatch: 7 }]]);
});
