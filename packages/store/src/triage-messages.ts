import type { Db } from "./db.ts";
import type { ProjectId } from "./ids.ts";

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

/** Messages that triage learns from. */
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

    /** Changes whenever what `list` answers does. */
    async findMark(project: ProjectId): Promise<string> {
      const rows = await db.prepared<{ mark: string }>(
        "triage_messages_mark",
        "SELECT count(*) || ':' || coalesce(max(seq), 0) AS mark FROM triage_messages WHERE project_id = $1",
        [project],
      );
      return rows[0]?.mark ?? "";
    },

    /** What has been decided in a project, the newest first. */
    async list(project: ProjectId): Promise<Pick<DecidedMessage, "agentId" | "text">[]> {
      const rows = await db.query<{ agent_id: string | null; text: string }>(
        "SELECT agent_id, text FROM triage_messages WHERE project_id = $1 ORDER BY seq DESC",
        [project],
      );
      return rows.map(({ agent_id, text }) => ({ agentId: agent_id, text }));
    },
  };
}
