import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** A message whose agent a person has decided. */
export interface DecidedMessage {
  messageId: string;
  ticketId: string;
  /** Null: it is for none of the agents. */
  agentId: string | null;
  text: string;
}

/** So many are kept for each project, the newest: more teach nothing new. */
const MAX_KEPT = 10_000;

/** The newest resolved tickets that are learned from. */
const MAX_TICKETS = 2_000;

/** What a message is about is said in its beginning. */
const MAX_TEXT_CHARS = 4_000;

/** Messages that triage learns from: those that a person has decided, and what resolved tickets began with. */
export function triageMessagesTable(db: Db) {
  return {
    /**
     * Notes what a person has decided about a message; a later decision on the same message takes its place. Of more
     * than 10,000 the oldest go.
     */
    async note(project: ProjectId, decided: DecidedMessage): Promise<void> {
      // A decision that takes another one's place gets a new number, so that replicas notice it.
      await db.query(
        `INSERT INTO triage_messages (project_id, message_id, ticket_id, agent_id, text) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, message_id) DO UPDATE SET seq = DEFAULT, agent_id = excluded.agent_id`,
        [project, decided.messageId, decided.ticketId, decided.agentId, decided.text],
      );
      await db.query(
        `DELETE FROM triage_messages WHERE project_id = $1 AND seq <
           (SELECT seq FROM triage_messages WHERE project_id = $1 ORDER BY seq DESC OFFSET ${MAX_KEPT - 1} LIMIT 1)`,
        [project],
      );
    },

    /** Changes whenever what `list` answers does, also when something of it is erased. */
    async findMark(project: ProjectId): Promise<string> {
      const rows = await db.prepared<{ mark: string }>(
        "triage_messages_mark",
        `SELECT count(*) || ':' || coalesce(max(seq), 0) || ':' || coalesce((SELECT max(resolved_at)::text FROM tickets
           WHERE project_id = $1 AND status = 'resolved'), '')
           || ':' || coalesce((SELECT erasures FROM projects WHERE id = $1), 0) AS mark
         FROM triage_messages WHERE project_id = $1`,
        [project],
      );
      return rows[0]?.mark ?? "";
    },

    /**
     * What is known of a project: what has been decided, the newest first, and then what the last 2,000 resolved tickets
     * began with, for the agent that had them. A decision about such a message is the one that counts.
     */
    async list(project: ProjectId): Promise<Pick<DecidedMessage, "agentId" | "text">[]> {
      const rows = await db.query<{ agent_id: string | null; text: string }>(
        // The first message of each ticket by the index on places; texts are cut before they are sent.
        `(SELECT agent_id, left(text, ${MAX_TEXT_CHARS}) AS text FROM triage_messages WHERE project_id = $1 ORDER BY seq DESC)
         UNION ALL
         (SELECT t.agent_id, left(m.text, ${MAX_TEXT_CHARS}) FROM (
            SELECT id, agent_id, resolved_at FROM tickets WHERE project_id = $1 AND status = 'resolved'
            ORDER BY resolved_at DESC NULLS LAST LIMIT ${MAX_TICKETS}
          ) t CROSS JOIN LATERAL (
            SELECT id, text FROM messages WHERE ticket_id = t.id ORDER BY seq LIMIT 1
          ) m
          WHERE t.agent_id IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM triage_messages d WHERE d.project_id = $1 AND d.message_id = m.id)
          ORDER BY t.resolved_at DESC NULLS LAST)`,
        [project],
      );
      return rows.map(({ agent_id, text }) => ({ agentId: agent_id, text }));
    },
  };
}
