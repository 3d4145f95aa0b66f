import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import type { ReplyAuthor, TicketStage, TicketStatus } from "@svc/contracts";

/** Something that has happened to a ticket, told to the process that looks at lists of them. */
export interface TicketChangeRecord {
  /** Of the event; grows with time, but for events of transactions that end late. */
  id: number;
  ticketId: string;
  /** The project that works on the ticket now. */
  project: string;
  /** The one that had it before, where by this event another one has it; else null. */
  formerProject: string | null;
  version: number;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  actor: string;
  /** The stages that it has gone to by this, in their order. */
  stages: TicketStage[];
  /** Ids of the operators whom a note is for. */
  mentions: string[];
}

/** A note that is for an operator. */
export interface MentionRecord {
  /** Of its event. */
  id: number;
  ticketId: string;
  /** The project that works on the ticket. */
  projectId: ProjectId;
  subject: string;
  at: Date;
  actor: string;
  /** Name of the operator who wrote it; null where there is none any more. */
  author: string | null;
  text: string;
}

/** The newest event there is; 0 without any. */
export async function findNewest(db: Db): Promise<number> {
  const row = await sql.findNewest.one<{ id: number | null }>(db);
  return row?.id ?? 0;
}

/** Events after this one but those that are known, oldest first, with their tickets as they are now. */
export const listAfter = (db: Db, id: number, known: readonly number[], limit: number) =>
  sql.listAfter.all<TicketChangeRecord>(db, { id, known, limit });

/** Notes for this operator in tickets that one of these projects works on, the newest first. */
export const listMentions = (db: Db, projects: readonly ProjectId[], operatorId: string, limit: number) =>
  sql.listMentions.all<MentionRecord>(db, { projects, operatorId, limit });

const sql = statements("tickets/ticket-changes");

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

type ReplyRow = Omit<OperatorReply, "decision"> & { decision: OperatorReply["decision"] | null };

/** Those of the tickets that people of a project work on, the newest first. */
export async function listOperatorReplies(
  db: Db,
  project: ProjectId,
  query: OperatorReplyQuery,
): Promise<OperatorReply[]> {
  const { agentId, ticketIds, from, to, limit } = query;
  const rows = await sql.listOperatorReplies.all<ReplyRow>(db, { project, agentId, ticketIds, from, to, limit });
  return rows.map((row) => ({ ...row, decision: row.decision ?? (row.author === "agent" ? "approve" : "reply") }));
}

/** Which of these tickets people of the project work on. */
export async function findTickets(db: Db, project: ProjectId, ticketIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql.findTickets.all<{ id: string }>(db, { project, ticketIds });
  return new Set(rows.map(({ id }) => id));
}
