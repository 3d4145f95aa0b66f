import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { applyDecision } from "./apply-decision.ts";
import { lockReviewState } from "./review-state.ts";

const sql = statements("tickets/assign-in-turn");

/** Number of the advisory lock of the replica that assigns. */
const ASSIGNMENT_LOCK = 7_305_422;

/**
 * Assigns one ticket that waits for a person and has no assignee, if its agent's setting is `round-robin`, to the
 * operator on duty whose last turn is longest ago; returns whether there may be another one. It has all effects of the
 * decision `assign`. Safe with any number of replicas and after any crash: the turn and the assignment are committed
 * together, and a ticket with an assignee is not assigned again.
 */
export const assignNext = (db: Db): Promise<boolean> =>
  db.transaction(async (tx) => {
    const lock = await sql.hold.one(tx, { assignmentLock: ASSIGNMENT_LOCK });
    if (lock?.isHeld !== true) return false;
    const due = await sql.findDue.one<{ ticketId: string; project: ProjectId }>(tx);
    if (due === null) return false;
    const state = await lockReviewState(tx, due.project, due.ticketId);
    // An operator may have decided on it before its rows were locked.
    if (state === null || state.ticket.assignee !== null || state.ticket.stage !== "review") return true;
    const operator = await sql.takeTurn.one(tx, { project: due.project });
    if (operator === null) return false;
    const { project, status, stage, agentId } = state.ticket;
    const assignee = `operator:${operator.id}`;
    await applyDecision(tx, state, {
      action: "assign",
      actor: "service",
      ticket: { project, status, stage, assignee, agentId },
      why: "",
      data: { assignee, rule: "round-robin" },
      waiting: "stay",
      dropsDraft: false,
      interrupts: true,
      work: null,
      lessons: [],
    });
    return true;
  });
