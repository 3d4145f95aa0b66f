import type { ReplyAuthor } from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** A reply that a person has approved, edited or written, and what it answered. */
export interface OperatorReply {
  /** Where the ticket came in: what was said in it belongs to that project. */
  home: ProjectId;
  ticketId: string;
  /** The newest of the messages that it answered. */
  messageId: string;
  /** Place of the oldest of them in the chat. */
  firstSeq: number;
  /** Their texts, oldest first, each at most 50,000 characters. */
  questions: string[];
  /** Of the chat (ISO 639-1); null where no message has said so. */
  language: string | null;
  decision: "approve" | "edit" | "reply";
  author: ReplyAuthor;
  text: string;
  decidedAt: Date;
}

/** Which of them are asked for. */
export interface OperatorReplyQuery {
  /** Of the tickets that this agent has; of any where `ticketIds` is given. */
  agentId: string;
  ticketIds: readonly string[] | null;
  from: Date | null;
  to: Date | null;
  limit: number;
}

interface Row {
  home_project_id: string;
  ticket_id: string;
  message_id: string;
  first_seq: number;
  questions: string[];
  language: string | null;
  decision: OperatorReply["decision"] | null;
  author: ReplyAuthor;
  text: string;
  created_at: Date;
}

/** What people have sent, over the decisions that were carried out. */
export function operatorRepliesOf(db: Db) {
  // What has been erased is not there any more. A reply that answers no message was sent without being asked, and is left
  // out. A reply that failed and was sent again counts once, by the try that succeeded; that one has no event of its own
  // with the former decision's name, and its author tells whose words it has. Locks nothing.
  const LIST = `
    SELECT t.home_project_id, r.ticket_id, asked.message_id, asked.first_seq, asked.questions, t.language, r.author,
      r.text, r.created_at, (
        SELECT e.data ->> 'decision' FROM ticket_events e
        WHERE e.ticket_id = r.ticket_id AND e.project_id = r.project_id AND e.message_id = r.answers_message_id
          AND e.data ->> 'decision' IN ('approve', 'edit', 'reply') AND e.at <= r.created_at + interval '1 second'
        ORDER BY e.id DESC LIMIT 1
      ) AS decision
    FROM tickets t JOIN reviews r ON r.ticket_id = t.id AND r.project_id = t.home_project_id
    CROSS JOIN LATERAL (
      SELECT min(m.seq) AS first_seq, array_agg(m.text ORDER BY m.seq) AS questions,
        (array_agg(m.id ORDER BY m.seq DESC))[1] AS message_id
      FROM messages m WHERE m.project_id = r.project_id AND m.ticket_id = r.ticket_id AND m.id = ANY (r.covers)
    ) asked
    WHERE t.project_id = $1 AND t.status <> 'spam'
      AND ($3::uuid[] IS NULL AND t.agent_id = $2 OR t.id = ANY ($3))
      AND r.kind = 'send' AND r.finished_at IS NOT NULL AND r.failure IS NULL AND btrim(r.text) <> ''
      AND ($4::timestamptz IS NULL OR r.created_at >= $4) AND ($5::timestamptz IS NULL OR r.created_at < $5)
      AND asked.message_id IS NOT NULL
    ORDER BY r.created_at DESC, r.id DESC LIMIT $6`;

  return {
    /** Those of the tickets that people of a project work on, the newest first. */
    async list(project: ProjectId, query: OperatorReplyQuery): Promise<OperatorReply[]> {
      const { agentId, ticketIds, from, to, limit } = query;
      const rows = await db.query<Row>(LIST, [project, agentId, ticketIds, from, to, limit]);
      return rows.map((row) => ({
        home: asProjectId(row.home_project_id),
        ticketId: row.ticket_id,
        messageId: row.message_id,
        firstSeq: row.first_seq,
        questions: row.questions,
        language: row.language,
        decision: row.decision ?? (row.author === "agent" ? "approve" : "reply"),
        author: row.author,
        text: row.text,
        decidedAt: row.created_at,
      }));
    },

    /** Which of these tickets people of the project work on. */
    async findTickets(project: ProjectId, ticketIds: readonly string[]): Promise<Set<string>> {
      const rows = await db.query<{ id: string }>(
        "SELECT id FROM tickets WHERE project_id = $1 AND id = ANY ($2::uuid[])",
        [project, ticketIds],
      );
      return new Set(rows.map(({ id }) => id));
    },
  };
}
