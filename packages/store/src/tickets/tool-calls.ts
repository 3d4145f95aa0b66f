import { TOOL_RESULT_SHOWN_MAX_CHARS } from "@svc/contracts";
import type { ToolAccess, ToolCallState } from "@svc/contracts";
import type { Db, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** The agent's run that makes a call: its message, and its lease on the chat. */
export interface ToolCaller {
  /** The project where the ticket came in, which owns its chat and messages. */
  home: ProjectId;
  ticketId: string;
  messageId: string;
  leaseId: string;
  agentId: string;
}

/** A call that an agent wants to make. */
export interface WantedCall {
  tool: string;
  mark: string;
  access: ToolAccess;
  /** Hash of the tool and the arguments. */
  key: string;
  /** Number of earlier identical calls in this run. */
  occurrence: number;
  arguments: Record<string, unknown>;
}

/** A stored call. */
export interface ToolCallRecord {
  id: string;
  project: ProjectId;
  ticketId: string;
  messageId: string;
  agentId: string;
  tool: string;
  mark: string;
  access: ToolAccess;
  arguments: Record<string, unknown>;
  state: ToolCallState;
  result: string | null;
  durationMs: number | null;
  createdAt: Date;
  finishedAt: Date | null;
  decidedBy: string | null;
  decidedAt: Date | null;
}

/** Result of a call: `unknown` if it may or may not have been made. */
export interface ToolCallEnd {
  state: "done" | "failed" | "unknown";
  result: string;
  durationMs: number | null;
}

/** Maximum of calls that a ticket shows, the newest. */
const SHOWN_MAX_COUNT = 100;

const columns = (
  state: string,
  result: string,
) => `c.id, c.project_id AS project, c.ticket_id, c.message_id, c.agent_id, c.tool,
  c.mark, c.access, c.arguments, ${state} AS state, ${result} AS result, c.duration_ms, c.created_at, c.finished_at,
  c.decided_by, c.decided_at`;

/** Columns of a row for programs. */
const COLUMNS = columns("c.state", "c.result");

/** SQL that is true for an unanswered message `m`. */
const IS_OPEN = "m.state IN ('received', 'held') AND m.covered_by IS NULL";

// A call waits as long as its message does. A call whose message has ended is never made.
const SHOWN_STATE = `CASE WHEN c.state = 'waiting' AND NOT EXISTS (
    SELECT FROM messages m WHERE m.id = c.message_id AND ${IS_OPEN}
  ) THEN 'rejected' ELSE c.state END`;

/** Columns of a row for display. */
const SHOWN = columns(SHOWN_STATE, `left(c.result, ${TOOL_RESULT_SHOWN_MAX_CHARS})`);

const sql = statements("tickets/tool-calls", {
  columns: COLUMNS,
  shown: SHOWN,
  shownMaxCount: SHOWN_MAX_COUNT,
});

/**
 * Records a call in this state, unless it exists; returns the row and whether this call created it. A call with side
 * effects also exists if another unanswered message of the ticket requested it; while it waits, it belongs to the
 * newest message that requests it. Null if the lease on the chat is lost: then nothing may be called. Holds the chat's
 * row against an erasure until the commit, so that no row of an erased conversation remains.
 */
export async function begin(
  context: Context,
  project: ProjectId,
  { home, ticketId, messageId, leaseId, agentId }: ToolCaller,
  { state, ...call }: WantedCall & { state: "running" | "waiting" },
): Promise<{ call: ToolCallRecord; isNew: boolean } | null> {
  return context.hot.transaction(async (tx) => {
    const chat = await sql.begin.one(tx, { home, ticketId, leaseId });
    if (chat === null) return null;
    const known = await sql.findSame.one<ToolCallRecord>(tx, { ...call, project, ticketId, messageId });
    if (known !== null) {
      // Ids of messages increase with time.
      const moves = known.state === "waiting" && known.messageId < messageId;
      if (moves) {
        await sql.moveCall.run(tx, { project, id: known.id, messageId });
      }
      return { call: moves ? { ...known, messageId } : known, isNew: false };
    }
    const made = await sql.insertCall.one<ToolCallRecord>(tx, {
      ...call,
      arguments: JSON.stringify(call.arguments),
      state,
      id: newId(),
      project,
      ticketId,
      messageId,
      agentId,
    });
    // Another worker has inserted it in the meantime, and has the lease now.
    return made === null ? null : { call: made, isNew: true };
  });
}

/** Allows a read-only call to be repeated, since its result is outdated or its worker crashed. */
export const beginAgain = (context: Context, project: ProjectId, id: string) =>
  sql.beginAgain.exec(context.hot, { project, id });

/** Claims an approved call for execution: returns true for exactly one worker, even if it crashes afterwards. */
export const claimApproved = (context: Context, project: ProjectId, id: string) =>
  sql.claimApproved.any(context.hot, { project, id });

/** Records the result of a call. The process that made the call overrides one that found it unfinished. */
export const finish = (context: Context, project: ProjectId, id: string, { state, result, durationMs }: ToolCallEnd) =>
  sql.finish.exec(context.hot, { project, id, state, result, durationMs });

/** Marks a running call whose worker no longer exists as unknown: it may or may not have been made. */
export const giveUp = (context: Context, project: ProjectId, id: string, result: string) =>
  sql.giveUp.exec(context.hot, { project, id, result });

/** Fails an approved call that is not made because the circumstances of its approval have changed. */
export const drop = (context: Context, project: ProjectId, id: string, result: string) =>
  sql.drop.exec(context.hot, { project, id, result });

/** Returns calls of a ticket that operators have approved and that have not finished, oldest first. */
export const listApproved = (context: Context, project: ProjectId, ticketId: string) =>
  sql.listApproved.all<ToolCallRecord>(context.hot, { project, ticketId });

/**
 * Returns calls for unanswered messages of a ticket that the next run needs, oldest first, with full results: those
 * that operators have decided on, and those with side effects that were started, whatever the result of their run; the
 * newest twenty.
 */
export async function listKnown(context: Context, project: ProjectId, ticketId: string): Promise<ToolCallRecord[]> {
  const rows = await sql.listKnown.all<ToolCallRecord>(context.hot, { project, ticketId });
  return rows.toReversed();
}

/** Returns the call with this id for display, or null. */
export const find = (context: Context, project: ProjectId, id: string) =>
  sql.find.one<ToolCallRecord>(context.db, { project, id });

/** Returns calls of a project for display, newest first: those before the one with id `before`. */
export async function listPage(
  context: Context,
  project: ProjectId,
  { limit, before, state }: PageQuery & { state?: ToolCallState | undefined },
): Promise<ToolCallRecord[]> {
  // A caller that requests waiting calls reads no others; some calls that are stored as waiting count as rejected.
  return context.db.query<ToolCallRecord>(
    `SELECT ${SHOWN} FROM tool_calls c
     WHERE c.project_id = $1 AND ($3::uuid IS NULL OR c.id < $3)
       ${state === "waiting" ? "AND c.state = 'waiting'" : ""}
       AND ($4::text IS NULL OR ${SHOWN_STATE} = $4)
     ORDER BY c.id DESC LIMIT $2`,
    [project, limit, before ?? null, state ?? null],
  );
}

/** Returns the newest calls for a ticket for display, oldest first; of this project's agents. */
export async function listOfTicket(context: Context, project: ProjectId, ticketId: string): Promise<ToolCallRecord[]> {
  const rows = await sql.listOfTicket.all<ToolCallRecord>(context.db, { project, ticketId });
  return rows.toReversed();
}

/** Decides on a waiting call, in the transaction of the decision on its ticket. False if it no longer waits. */
export const decideToolCall = (
  tx: Db,
  project: ProjectId,
  { id, state, actor }: { id: string; state: "approved" | "rejected"; actor: string },
) => sql.decideToolCall.any(tx, { project, id, state, actor });
