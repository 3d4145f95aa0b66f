import { TOOL_RESULT_SHOWN_MAX_CHARS } from "@svc/contracts";
import type { ToolAccess, ToolCallState } from "@svc/contracts";
import type { Db, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** Who answers which message, by which lease on its chat. */
export interface ToolCaller {
  /** Where the ticket came in: its chat and its messages belong to it. */
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
  /** Of the tool and the arguments. */
  key: string;
  /** How many such calls came before it in this run. */
  occurrence: number;
  arguments: Record<string, unknown>;
}

/** A call as it is kept. */
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

/** What came of a call: `unknown` when nobody can tell whether it was made. */
export interface ToolCallEnd {
  state: "done" | "failed" | "unknown";
  result: string;
  durationMs: number | null;
}

/** Calls that one ticket shows, the newest. */
const SHOWN_MAX_COUNT = 100;

const columns = (
  state: string,
  result: string,
) => `c.id, c.project_id AS project, c.ticket_id, c.message_id, c.agent_id, c.tool,
  c.mark, c.access, c.arguments, ${state} AS state, ${result} AS result, c.duration_ms, c.created_at, c.finished_at,
  c.decided_by, c.decided_at`;

/** A row as it is, for a caller that works with it. */
const COLUMNS = columns("c.state", "c.result");

/** SQL that is true for a message `m` that is not answered yet. */
const IS_OPEN = "m.state IN ('received', 'held') AND m.covered_by IS NULL";

// A call waits as long as its message does. What has ended without it is never made.
const SHOWN_STATE = `CASE WHEN c.state = 'waiting' AND NOT EXISTS (
    SELECT FROM messages m WHERE m.id = c.message_id AND ${IS_OPEN}
  ) THEN 'rejected' ELSE c.state END`;

/** A row as people see it. */
const SHOWN = columns(SHOWN_STATE, `left(c.result, ${TOOL_RESULT_SHOWN_MAX_CHARS})`);

const sql = statements("tickets/tool-calls", {
  columns: COLUMNS,
  shown: SHOWN,
  shownMaxCount: SHOWN_MAX_COUNT,
});

/**
 * Writes down a call in this state, unless it is there already; returns the row and whether this has made it. What
 * writes is there, too, when it was asked for by another message of the ticket that is not answered yet; one that
 * still waits belongs to the newest message that asks for it. Null when the lease on the chat is lost: then nothing
 * may be called. The chat's row is held against an erasure until the commit, so that no row of an erased
 * conversation is left behind.
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
    const known = await sql.findSame.one<ToolCallRecord>(tx, {
      project,
      ticketId,
      messageId,
      key: call.key,
      occurrence: call.occurrence,
    });
    if (known !== null) {
      // Ids of messages grow with time.
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
    // One that came in between was written down by another worker: it has the lease by now.
    return made === null ? null : { call: made, isNew: true };
  });
}

/** Lets a call that only reads be made again: what it found is old, or its worker died. */
export const beginAgain = (context: Context, project: ProjectId, id: string) =>
  sql.beginAgain.exec(context.hot, { project, id });

/**
 * Takes a call that was approved, to make it: true for one worker alone, whatever happens to that one afterwards.
 */
export const takeApproved = (context: Context, project: ProjectId, id: string) =>
  sql.takeApproved.any(context.hot, { project, id });

/** Writes down what came of a call. The process that made the call knows better than one that found it unfinished. */
export const finish = (context: Context, project: ProjectId, id: string, { state, result, durationMs }: ToolCallEnd) =>
  sql.finish.exec(context.hot, { project, id, state, result, durationMs });

/** A call that is running although nobody makes it any more: whether it was made, nobody can tell. */
export const giveUp = (context: Context, project: ProjectId, id: string, result: string) =>
  sql.giveUp.exec(context.hot, { project, id, result });

/** An approved call that is not made after all, since what it was approved for has changed. */
export const drop = (context: Context, project: ProjectId, id: string, result: string) =>
  sql.drop.exec(context.hot, { project, id, result });

/** Calls of a ticket that operators have approved and that are not over, oldest first. */
export const listApproved = (context: Context, project: ProjectId, ticketId: string) =>
  sql.listApproved.all<ToolCallRecord>(context.hot, { project, ticketId });

/**
 * Calls for the messages of a ticket that are not answered yet that the next run has to know of, oldest
 * first, with the whole result of each: those that operators have decided about, and those that write and were
 * begun, whatever the result of the run that has made them; the newest twenty.
 */
export async function listKnown(context: Context, project: ProjectId, ticketId: string): Promise<ToolCallRecord[]> {
  const rows = await sql.listKnown.all<ToolCallRecord>(context.hot, { project, ticketId });
  return rows.toReversed();
}

/** The call with this id as people see it, or null. */
export const find = (context: Context, project: ProjectId, id: string) =>
  sql.find.one<ToolCallRecord>(context.db, { project, id });

/** Calls of a project as people see them, newest first: those before the one with the id `before`. */
export async function listPage(
  context: Context,
  project: ProjectId,
  { limit, before, state }: PageQuery & { state?: ToolCallState | undefined },
): Promise<ToolCallRecord[]> {
  // A caller that asks for those that wait looks through no others; rejected are also some that are kept as waiting.
  const rows = await context.db.query<ToolCallRecord>(
    `SELECT ${SHOWN} FROM tool_calls c
     WHERE c.project_id = $1 AND ($3::uuid IS NULL OR c.id < $3)
       ${state === "waiting" ? "AND c.state = 'waiting'" : ""}
       AND ($4::text IS NULL OR ${SHOWN_STATE} = $4)
     ORDER BY c.id DESC LIMIT $2`,
    [project, limit, before ?? null, state ?? null],
  );
  return rows;
}

/** The newest calls for a ticket as people see them, oldest first; of this project's agents. */
export async function listOfTicket(context: Context, project: ProjectId, ticketId: string): Promise<ToolCallRecord[]> {
  const rows = await sql.listOfTicket.all<ToolCallRecord>(context.db, { project, ticketId });
  return rows.toReversed();
}

/**
 * Decides about a call that waits, in the transaction of the decision about its ticket. False when it does not wait any
 * more.
 */
export const decideToolCall = (
  tx: Db,
  project: ProjectId,
  { id, state, actor }: { id: string; state: "approved" | "rejected"; actor: string },
) => sql.decideToolCall.any(tx, { project, id, state, actor });
