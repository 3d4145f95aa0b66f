import { TOOL_RESULT_SHOWN_MAX_CHARS } from "@svc/contracts";
import type { ToolAccess, ToolCallState } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

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

interface ToolCallRow {
  id: string;
  project_id: string;
  ticket_id: string;
  message_id: string;
  agent_id: string;
  tool: string;
  mark: string;
  access: ToolAccess;
  arguments: Record<string, unknown>;
  state: ToolCallState;
  result: string | null;
  duration_ms: number | null;
  created_at: Date;
  finished_at: Date | null;
  decided_by: string | null;
  decided_at: Date | null;
}

/** Calls that one ticket shows, the newest. */
const SHOWN_MAX_COUNT = 100;

const columns = (state: string, result: string) => `c.id, c.project_id, c.ticket_id, c.message_id, c.agent_id, c.tool,
  c.mark, c.access, c.arguments, ${state} AS state, ${result} AS result, c.duration_ms, c.created_at, c.finished_at,
  c.decided_by, c.decided_at`;

/** A row as it is, for whoever works with it. */
const COLUMNS = columns("c.state", "c.result");

/** SQL that is true for a message `m` that is not answered yet. */
const IS_OPEN = "m.state IN ('received', 'held') AND m.covered_by IS NULL";

// A call waits as long as its message does. What has ended without it is never made.
const SHOWN_STATE = `CASE WHEN c.state = 'waiting' AND NOT EXISTS (
    SELECT FROM messages m WHERE m.id = c.message_id AND ${IS_OPEN}
  ) THEN 'rejected' ELSE c.state END`;

/** A row as people see it. */
const SHOWN = columns(SHOWN_STATE, `left(c.result, ${TOOL_RESULT_SHOWN_MAX_CHARS})`);

/** Calls of agents' tools: each is written down before it is made, and made by whoever has written it down. */
export function toolCallsTable(db: Db, hot: Db) {
  return {
    /**
     * Writes down a call in this state, unless it is there already; answers the row and whether this has made it. What
     * writes is there, too, when it was asked for by another message of the ticket that is not answered yet; one that
     * still waits belongs to the newest message that asks for it. Null when the lease on the chat is lost: then nothing
     * may be called. The chat's row is held against an erasure until the commit, so that no row of an erased
     * conversation is left behind.
     */
    async begin(
      project: ProjectId,
      { home, ticketId, messageId, leaseId, agentId }: ToolCaller,
      call: WantedCall,
      state: "running" | "waiting",
    ): Promise<{ call: ToolCallRecord; isNew: boolean } | null> {
      return hot.transaction(async (tx) => {
        const [chat] = await tx.query(
          `SELECT FROM chats WHERE project_id = $1 AND ticket_id = $2 AND lease_id = $3 AND chat_id <> ''
           FOR KEY SHARE`,
          [home, ticketId, leaseId],
        );
        if (chat === undefined) return null;
        const [known] = await tx.query<ToolCallRow>(
          `SELECT ${COLUMNS} FROM tool_calls c JOIN messages m ON m.id = c.message_id
           WHERE c.project_id = $1 AND c.ticket_id = $2 AND c.call_key = $4 AND c.occurrence = $5
             AND (c.message_id = $3 OR (c.access = 'write' AND ${IS_OPEN}))
           ORDER BY c.message_id = $3 DESC, c.id DESC LIMIT 1`,
          [project, ticketId, messageId, call.key, call.occurrence],
        );
        if (known !== undefined) {
          // Ids of messages grow with time.
          const moves = known.state === "waiting" && known.message_id < messageId;
          if (moves) {
            await tx.query("UPDATE tool_calls SET message_id = $3 WHERE project_id = $1 AND id = $2", [
              project,
              known.id,
              messageId,
            ]);
          }
          return { call: asRecord(moves ? { ...known, message_id: messageId } : known), isNew: false };
        }
        const [made] = await tx.query<ToolCallRow>(
          `INSERT INTO tool_calls AS c (id, project_id, ticket_id, message_id, agent_id, tool, mark, access, call_key,
             occurrence, arguments, state)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
           ON CONFLICT (message_id, project_id, call_key, occurrence) DO NOTHING RETURNING ${COLUMNS}`,
          [
            newId(),
            project,
            ticketId,
            messageId,
            agentId,
            call.tool,
            call.mark,
            call.access,
            call.key,
            call.occurrence,
            JSON.stringify(call.arguments),
            state,
          ],
        );
        // One that came in between was written down by another worker: it has the lease by now.
        return made === undefined ? null : { call: asRecord(made), isNew: true };
      });
    },

    /** Lets a call that only reads be made again: what it found is old, or its worker died. */
    async beginAgain(project: ProjectId, id: string): Promise<void> {
      await hot.query(
        `UPDATE tool_calls SET state = 'running', result = NULL, duration_ms = NULL, finished_at = NULL
         WHERE project_id = $1 AND id = $2 AND access = 'read' AND decided_at IS NULL AND state <> 'waiting'`,
        [project, id],
      );
    },

    /**
     * Takes a call that was approved, to make it: true for one worker alone, whatever happens to that one afterwards.
     */
    async takeApproved(project: ProjectId, id: string): Promise<boolean> {
      const rows = await hot.query(
        `UPDATE tool_calls SET state = 'running' WHERE project_id = $1 AND id = $2 AND state = 'approved' RETURNING id`,
        [project, id],
      );
      return rows.length > 0;
    },

    /** Writes down what came of a call. Whoever has made it knows better than whoever has found it unfinished. */
    async finish(project: ProjectId, id: string, { state, result, durationMs }: ToolCallEnd): Promise<void> {
      await hot.query(
        `UPDATE tool_calls SET state = $3, result = $4, duration_ms = $5, finished_at = now()
         WHERE project_id = $1 AND id = $2 AND state IN ('running', 'unknown')`,
        [project, id, state, result, durationMs],
      );
    },

    /** A call that is running although nobody makes it any more: whether it was made, nobody can tell. */
    async giveUp(project: ProjectId, id: string, result: string): Promise<void> {
      await hot.query(
        `UPDATE tool_calls SET state = 'unknown', result = $3, finished_at = now()
         WHERE project_id = $1 AND id = $2 AND state = 'running'`,
        [project, id, result],
      );
    },

    /** An approved call that is not made after all, since what it was approved for has changed. */
    async drop(project: ProjectId, id: string, result: string): Promise<void> {
      await hot.query(
        `UPDATE tool_calls SET state = 'failed', result = $3, finished_at = now()
         WHERE project_id = $1 AND id = $2 AND state = 'approved'`,
        [project, id, result],
      );
    },

    /** Calls of a ticket that operators have approved and that are not over, oldest first. */
    async listApproved(project: ProjectId, ticketId: string): Promise<ToolCallRecord[]> {
      const rows = await hot.query<ToolCallRow>(
        `SELECT ${COLUMNS} FROM tool_calls c
         WHERE c.project_id = $1 AND c.ticket_id = $2 AND c.state IN ('approved', 'running')
           AND c.decided_at IS NOT NULL ORDER BY c.id`,
        [project, ticketId],
      );
      return rows.map(asRecord);
    },

    /**
     * Calls for the messages of a ticket that are not answered yet which whoever answers them has to know of, oldest
     * first, with the whole result of each: those that operators have decided about, and those that write and were
     * begun, whatever became of the run that has made them; the newest twenty.
     */
    async listKnown(project: ProjectId, ticketId: string): Promise<ToolCallRecord[]> {
      const rows = await hot.query<ToolCallRow>(
        `SELECT ${COLUMNS} FROM tool_calls c JOIN messages m ON m.id = c.message_id
         WHERE c.project_id = $1 AND c.ticket_id = $2 AND ${IS_OPEN}
           AND (c.decided_at IS NOT NULL OR (c.access = 'write' AND c.state <> 'waiting'))
         ORDER BY c.id DESC LIMIT 20`,
        [project, ticketId],
      );
      return rows.map(asRecord).toReversed();
    },

    /** The call with this id as people see it, or null. */
    async find(project: ProjectId, id: string): Promise<ToolCallRecord | null> {
      const rows = await db.query<ToolCallRow>(
        `SELECT ${SHOWN} FROM tool_calls c WHERE c.project_id = $1 AND c.id = $2`,
        [project, id],
      );
      const [row] = rows;
      return row === undefined ? null : asRecord(row);
    },

    /** Calls of a project as people see them, newest first: those before the one with the id `before`. */
    async listPage(
      project: ProjectId,
      { limit, before, state }: { limit: number; before?: string | undefined; state?: ToolCallState | undefined },
    ): Promise<ToolCallRecord[]> {
      // Whoever asks for those that wait looks through no others; rejected are also some that are kept as waiting.
      const rows = await db.query<ToolCallRow>(
        `SELECT ${SHOWN} FROM tool_calls c
         WHERE c.project_id = $1 AND ($3::uuid IS NULL OR c.id < $3)
           ${state === "waiting" ? "AND c.state = 'waiting'" : ""}
           AND ($4::text IS NULL OR ${SHOWN_STATE} = $4)
         ORDER BY c.id DESC LIMIT $2`,
        [project, limit, before ?? null, state ?? null],
      );
      return rows.map(asRecord);
    },

    /** The newest calls for a ticket as people see them, oldest first; of this project's agents. */
    async listOfTicket(project: ProjectId, ticketId: string): Promise<ToolCallRecord[]> {
      const rows = await db.query<ToolCallRow>(
        `SELECT ${SHOWN} FROM tool_calls c WHERE c.ticket_id = $2 AND c.project_id = $1
         ORDER BY c.id DESC LIMIT ${SHOWN_MAX_COUNT}`,
        [project, ticketId],
      );
      return rows.map(asRecord).toReversed();
    },
  };
}

/**
 * Decides about a call that waits, in the transaction of the decision about its ticket. False when it does not wait any
 * more.
 */
export async function decideToolCall(
  tx: Db,
  project: ProjectId,
  { id, state, actor }: { id: string; state: "approved" | "rejected"; actor: string },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE tool_calls SET state = $3, decided_by = $4, decided_at = now()
     WHERE project_id = $1 AND id = $2 AND state = 'waiting' RETURNING id`,
    [project, id, state, actor],
  );
  return rows.length > 0;
}

function asRecord(row: ToolCallRow): ToolCallRecord {
  return {
    id: row.id,
    project: row.project_id as ProjectId,
    ticketId: row.ticket_id,
    messageId: row.message_id,
    agentId: row.agent_id,
    tool: row.tool,
    mark: row.mark,
    access: row.access,
    arguments: row.arguments,
    state: row.state,
    result: row.result,
    durationMs: row.duration_ms,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
  };
}
