import { expect, test } from "@jest/globals";
import type { ReplayInput, ReplayItem, ReplayResult, ReplaySide } from "@svc/contracts";
import { summarizeReplay } from "@svc/operations";
import { isWorse, replayWithin } from "./replay.ts";

const side = { sends: false, tokenF1: 1, rougeL: 1 } as ReplaySide;
const usage = { inputTokens: 10, outputTokens: 1 };

const itemOf = (ticketId: string): ReplayItem => ({
  ticketId,
  messageId: `m-${ticketId}`,
  decidedAt: `2026-11-21T10:00:0${ticketId}.000Z`,
  decision: "edit",
  question: "?",
  sent: { text: "!", author: "operator" },
  before: side,
  after: side,
  verdict: "same",
});

/** A service with these tickets, newest first, that compares so many of those that it is asked for with each call. */
function serviceWith(ticketIds: string[], paces: number[]) {
  const asked: ReplayInput[] = [];
  const ask = (input: ReplayInput): Promise<ReplayResult> => {
    const meant = ticketIds.filter((id) => input.ticketIds?.includes(id) ?? true).slice(0, input.limit);
    const pace = paces[asked.push(input) - 1] ?? 0;
    const items = meant.slice(0, pace).map(itemOf);
    const left = meant.slice(pace);
    return Promise.resolve({
      agent: { id: "a", name: "a", version: 1 },
      against: { id: "a", name: "a", changed: [] },
      knowledge: "now",
      summary: summarizeReplay(items, { before: usage, after: usage }),
      items,
      isComplete: left.length === 0,
      notCompared: left.length,
      notComparedTicketIds: left,
    });
  };
  return { asked, ask };
}

const options = { timeoutMs: 60_000, onProgress: () => undefined };
const input: ReplayInput = { against: { model: null }, limit: 5 };

test("what a call leaves is asked for again until all is compared, and comes to one result", async () => {
  const { ask, asked } = serviceWith(["5", "4", "3", "2", "1"], [2, 1, 2]);
  const progress: [number, number][] = [];
  const onProgress = (done: number, total: number) => void progress.push([done, total]);
  const result = await replayWithin(ask, input, { ...options, onProgress });
  expect(result.items.map(({ ticketId }) => ticketId)).toEqual(["5", "4", "3", "2", "1"]);
  expect(result).toMatchObject({ isComplete: true, notCompared: 0, notComparedTicketIds: [] });
  expect(result.summary).toMatchObject({ replies: 5, same: 5, usage: { before: { inputTokens: 30 } } });
  expect(asked.map(({ ticketIds }) => ticketIds)).toEqual([undefined, ["3", "2", "1"], ["2", "1"]]);
  expect(asked.every(({ timeoutMs = 0 }) => timeoutMs > 0 && timeoutMs <= 50_000)).toBe(true);
  expect(progress).toEqual([
    [2, 5],
    [3, 5],
    [5, 5],
  ]);
});

test("where a call compares nothing, single tickets are asked for", async () => {
  const { ask, asked } = serviceWith(["2", "1"], [0, 1, 1]);
  expect(await replayWithin(ask, input, options)).toMatchObject({ isComplete: true, summary: { replies: 2 } });
  expect(asked.map(({ ticketIds }) => ticketIds)).toEqual([undefined, ["2"], ["1"]]);
});

test("a service that compares nothing of a single ticket is not asked for ever", async () => {
  const { ask, asked } = serviceWith(["2", "1"], []);
  expect(await replayWithin(ask, input, options)).toMatchObject({ isComplete: false, notCompared: 2 });
  expect(asked).toHaveLength(2);
});

test("nothing is asked for again when the time is up", async () => {
  const { ask, asked } = serviceWith(["2", "1"], [1]);
  expect(await replayWithin(ask, input, { ...options, timeoutMs: 0 })).toMatchObject({ notCompared: 1 });
  expect(asked).toHaveLength(1);
});

test("a change is worse when more got worse than better, and when not all is known", () => {
  const summary = summarizeReplay([], { before: usage, after: usage });
  expect(isWorse({ summary: { ...summary, worse: 1 }, isComplete: true })).toBe(true);
  expect(isWorse({ summary: { ...summary, worse: 2, better: 2 }, isComplete: true })).toBe(false);
  expect(isWorse({ summary: { ...summary, worse: 2, better: 2 }, isComplete: false })).toBe(true);
});
