import type { TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/ticket-changes");

/** Something that has happened to a ticket, told to whoever looks at lists of them. */
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

interface ChangeRow {
  id: number;
  ticketId: string;
  projectId: string;
  formerProjectId: string | null;
  version: number;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  actor: string;
  stages: TicketStage[];
  mentions: string[];
}

/** The newest event there is; 0 without any. */
export async function findNewest(db: Db): Promise<number> {
  const row = await sql.findNewest.one<{ id: number | null }>(db);
  return row?.id ?? 0;
}

/** Events after this one but those that are known, oldest first, with their tickets as they are now. */
export async function listAfter(
  db: Db,
  id: number,
  known: readonly number[],
  limit: number,
): Promise<TicketChangeRecord[]> {
  const rows = await sql.listAfter.all<ChangeRow>(db, { id, known, limit });
  return rows.map((row) => ({
    id: row.id,
    ticketId: row.ticketId,
    project: row.projectId,
    formerProject: row.formerProjectId,
    version: row.version,
    status: row.status,
    stage: row.stage,
    assignee: row.assignee,
    actor: row.actor,
    stages: row.stages,
    mentions: row.mentions,
  }));
}

/** Notes for this operator in tickets that one of these projects works on, the newest first. */
export async function listMentions(
  db: Db,
  projects: readonly ProjectId[],
  operatorId: string,
  limit: number,
): Promise<MentionRecord[]> {
  return sql.listMentions.all<MentionRecord>(db, { projects, operatorId, limit });
}
