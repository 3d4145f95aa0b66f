import { describe, expect, test } from "@jest/globals";
import type { ReplayInput, ReplayItem, ReplayResult, ReplaySide } from "@svc/contracts";
import { summarizeReplay } from "@svc/operations";
import { isWorse, renderChange, renderReplay, replayWithin } from "./replay.ts";
import { createTerminal } from "../terminal.ts";

const terminalOf = (isTTY: boolean) => {
  const stream = { write: () => true, isTTY };
  return createTerminal({ stdout: stream, stderr: stream, isJson: false, env: {} });
};
const plain = terminalOf(false);

const sideOf = (text: string | null, more: Partial<ReplaySide> = {}): ReplaySide => ({
  text,
  markdown: false,
  sources: [],
  confidence: 0.5,
  why: "",
  sends: false,
  sendsWhy: "only 50 % sure",
  tokenF1: 0.25,
  rougeL: 0.2,
  model: null,
  ...more,
});
const usage = { inputTokens: 10, outputTokens: 5 };

const resultOf = (items: ReplayResult["items"], more: Partial<ReplayResult> = {}): ReplayResult => ({
  agent: { id: "a", name: "billing", version: 1 },
  against: { id: "a", name: "billing", changed: ["model"] },
  knowledge: "now",
  summary: {
    replies: items.length,
    better: 0,
    worse: items.length,
    same: 0,
    sends: { before: 0, after: 1 },
    tokenF1: { before: 0.5, after: null },
    rougeL: { before: 0.5, after: null },
    usage: { before: usage, after: usage },
  },
  items,
  isComplete: true,
  notCompared: 0,
  notComparedTicketIds: [],
  ...more,
});

const item: ReplayResult["items"][number] = {
  ticketId: "t-1",
  messageId: "m-1",
  decidedAt: "2026-11-21T10:00:00.000Z",
  decision: "edit",
  question: "Where is it?\u001b[2J",
  sent: { text: "Under Account.", author: "operator" },
  before: sideOf("It is under Settings."),
  after: sideOf("It is under Account.", { sends: true, tokenF1: 0.8 }),
  verdict: "better",
};

describe("what changes", () => {
  test("is in brackets without colors", () => {
    expect(renderChange("It is there.", "It is here.", plain.paint)).toBe("It is [-there-]{+here+}.");
  });

  test("is red and green on a terminal, and no text can imitate that", () => {
    const shown = renderChange("a \u001b[32mb", "a c", terminalOf(true).paint);
    expect(shown).toBe("a \u001b[31mb\u001b[39m\u001b[32mc\u001b[39m");
  });

  test("of texts with nothing in common is shown one after the other", () => {
    const [one, other] = ["x", "y"].map((letter) =>
      Array.from({ length: 500 }, (_, index) => `${letter}${index}`).join(" "),
    );
    expect(renderChange(one ?? "", other ?? "", plain.paint)).toBe(`[-${one}-]\n{+${other}+}`);
  });
});

test("shows a replay side by side, with the sent reply and the summary", () => {
  const shown = renderReplay(resultOf([item]), plain);
  expect(shown).toContain("better  Where is it?  ticket t-1");
  expect(shown).toContain("\n1 reply: 0 better, 1 worse, 0 the same\n");
  expect(shown).toContain("sent    edited, 2026-11-21T10:00:00.000Z\n  Under Account.");
  expect(shown).toContain("before  F1 0.250  L 0.200  confidence 50 %  held: only 50 % sure\n  It is under Settings.");
  expect(shown).toContain("after   F1 0.800  L 0.200  confidence 50 %  sent\n  It is under [-Settings-]{+Account+}.");
  expect(shown).toMatch(/Sent without approval +0 +1\n/);
  expect(shown).not.toContain("\u001b");
});

test("notes a replay without replies, and an incomplete one", () => {
  expect(renderReplay(resultOf([]), plain)).toContain("nothing to compare");
  const cut = resultOf([item], { isComplete: false, notCompared: 7 });
  expect(renderReplay(cut, plain)).toContain("7 replies were not compared");
});

const side = { sends: false, tokenF1: 1, rougeL: 1 } as ReplaySide;

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

/** Returns a service with these tickets, newest first; each call compares this many of the requested ones. */
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

test("repeats calls until everything is compared, and merges their results", async () => {
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

test("requests single tickets after a call that compares nothing", async () => {
  const { ask, asked } = serviceWith(["2", "1"], [0, 1, 1]);
  expect(await replayWithin(ask, input, options)).toMatchObject({ isComplete: true, summary: { replies: 2 } });
  expect(asked.map(({ ticketIds }) => ticketIds)).toEqual([undefined, ["2"], ["1"]]);
});

test("stops if the service compares nothing of a single ticket", async () => {
  const { ask, asked } = serviceWith(["2", "1"], []);
  expect(await replayWithin(ask, input, options)).toMatchObject({ isComplete: false, notCompared: 2 });
  expect(asked).toHaveLength(2);
});

test("stops at the time limit", async () => {
  const { ask, asked } = serviceWith(["2", "1"], [1]);
  expect(await replayWithin(ask, input, { ...options, timeoutMs: 0 })).toMatchObject({ notCompared: 1 });
  expect(asked).toHaveLength(1);
});

test("a change is worse if more answers got worse than better, or if not all were compared", () => {
  const summary = summarizeReplay([], { before: usage, after: usage });
  expect(isWorse({ summary: { ...summary, worse: 1 }, isComplete: true })).toBe(true);
  expect(isWorse({ summary: { ...summary, worse: 2, better: 2 }, isComplete: true })).toBe(false);
  expect(isWorse({ summary: { ...summary, worse: 2, better: 2 }, isComplete: false })).toBe(true);
});
