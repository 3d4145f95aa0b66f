import type { ReplyAuthor } from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/operator-replies");

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
  homeProjectId: string;
  ticketId: string;
  messageId: string;
  firstSeq: number;
  questions: string[];
  language: string | null;
  decision: OperatorReply["decision"] | null;
  author: ReplyAuthor;
  text: string;
  createdAt: Date;
}

/** Those of the tickets that people of a project work on, the newest first. */
export async function list(db: Db, project: ProjectId, query: OperatorReplyQuery): Promise<OperatorReply[]> {
  const { agentId, ticketIds, from, to, limit } = query;
  const rows = await sql.list.all<Row>(db, { project, agentId, ticketIds, from, to, limit });
  return rows.map((row) => ({
    home: asProjectId(row.homeProjectId),
    ticketId: row.ticketId,
    messageId: row.messageId,
    firstSeq: row.firstSeq,
    questions: row.questions,
    language: row.language,
    decision: row.decision ?? (row.author === "agent" ? "approve" : "reply"),
    author: row.author,
    text: row.text,
    decidedAt: row.createdAt,
  }));
}

/** Which of these tickets people of the project work on. */
export async function findTickets(db: Db, project: ProjectId, ticketIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql.findTickets.all<{ id: string }>(db, { project, ticketIds });
  return new Set(rows.map(({ id }) => id));
}
