import { describe, expect, test } from "@jest/globals";
import type { ReplayInput, ReplayItem, ReplayResult } from "@svc/contracts";
import { replayInParts } from "./replay-in-parts.ts";
import type { ReplayProgress } from "./replay-in-parts.ts";

const side = { inputTokens: 1, outputTokens: 2 };

/** A server with these replies, each of another ticket, that compares `perCall` of them in a call. */
function serverOf(ids: readonly string[], perCall: number) {
  const asked: ReplayInput[] = [];
  async function ask(input: ReplayInput): Promise<ReplayResult> {
    asked.push(input);
    const found = ids.filter((id) => input.ticketIds?.includes(id) ?? true).slice(0, input.limit);
    const left = found.slice(perCall);
    const items = found.slice(0, perCall).map((id) => ({ ticketId: id, messageId: id, decidedAt: id }) as ReplayItem);
    const summary = { usage: { before: side, after: side } } as ReplayResult["summary"];
    return { items, summary, notCompared: left.length, notComparedTicketIds: left } as ReplayResult;
  }
  return { ask, asked };
}

async function readAll(replays: AsyncIterable<ReplayProgress>): Promise<ReplayProgress[]> {
  const all: ReplayProgress[] = [];
  for await (const replay of replays) all.push(replay);
  return all;
}

describe("a replay in parts", () => {
  test("asks for what is left until all is compared, and tells it the newest first with all its tokens", async () => {
    const { ask } = serverOf(["c", "b", "a"], 1);
    const all = await readAll(replayInParts(ask, { against: { autoThreshold: 0.5 }, limit: 3 }, () => 12_000));
    expect(all.map(({ left }) => left.length)).toEqual([2, 1, 0]);
    expect(all.at(-1)).toMatchObject({
      items: [{ ticketId: "c" }, { ticketId: "b" }, { ticketId: "a" }],
      usage: { before: { inputTokens: 3, outputTokens: 6 } },
    });
  });

  test("ends where not even one ticket by itself is compared in time", async () => {
    const { ask, asked } = serverOf(["b", "a"], 0);
    const all = await readAll(
      replayInParts(ask, { against: { autoThreshold: 0.5 } }, (isAlone) => (isAlone ? undefined : 12_000)),
    );
    expect(all.at(-1)).toMatchObject({ items: [], left: ["b", "a"] });
    expect(asked.at(-1)?.ticketIds).toEqual(["b"]);
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([12_000, undefined]);
  });
});
