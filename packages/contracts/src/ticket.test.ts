import { describe, expect, test } from "@jest/globals";
import { STAGE_MOVES, isLegalMove, ticketStageSchema } from "./ticket.ts";
import type { TicketStage } from "./ticket.ts";

const STAGES = ticketStageSchema.options;

/** The stages that can be reached from one, by any number of moves. */
function reachableFrom(start: TicketStage): Set<TicketStage> {
  const reached = new Set<TicketStage>();
  const open: TicketStage[] = [start];
  for (let stage = open.pop(); stage !== undefined; stage = open.pop()) {
    for (const next of STAGE_MOVES[stage]) {
      if (!reached.has(next)) open.push(next);
      reached.add(next);
    }
  }
  return reached;
}

describe("the moves of a ticket", () => {
  test("are known for every stage", () => {
    expect(Object.keys(STAGE_MOVES).toSorted()).toEqual(STAGES.toSorted());
  });

  test.each(STAGES)("from %s are distinguished from illegal ones, without a move to itself or a duplicate", (from) => {
    const targets: readonly TicketStage[] = STAGE_MOVES[from];
    expect(STAGES.filter((to) => isLegalMove(from, to)).toSorted()).toEqual(targets.toSorted());
    expect(targets).not.toContain(from);
    expect(new Set(targets).size).toBe(targets.length);
  });

  test("lead a new ticket to every stage", () => {
    expect(reachableFrom("received")).toEqual(new Set(STAGES));
  });

  test.each(STAGES)("never leave a ticket in %s for good: it can be done, and can go on after that", (stage) => {
    expect(reachableFrom(stage)).toContain("done");
    expect(reachableFrom(stage)).toContain("received");
  });

  test("let every unfinished stage fail, and a closed ticket with a dead letter be reopened", () => {
    expect(STAGES.filter((stage) => isLegalMove(stage, "failed"))).toEqual(
      STAGES.filter((stage) => stage !== "failed"),
    );
  });

  test("send no agent's answer past the gate: delivering is reached from review, or from where a ticket rests", () => {
    expect(STAGES.filter((stage) => isLegalMove(stage, "delivering"))).toEqual([
      "received",
      "review",
      "done",
      "failed",
    ]);
  });
});
