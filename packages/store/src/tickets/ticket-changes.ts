import type { TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

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
  ticket_id: string;
  project_id: string;
  former_project_id: string | null;
  version: number;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  actor: string;
  stages: TicketStage[];
  mentions: string[];
}

/** What happens to the tickets of all projects, as it happens. */
export function ticketChangesOf(db: Db) {
  return {
    /** The newest event there is; 0 without any. */
    async findNewest(): Promise<number> {
      const rows = await db.query<{ id: number | null }>("SELECT max(id) AS id FROM ticket_events");
      return rows[0]?.id ?? 0;
    },

    /** Events after this one but those that are known, oldest first, with their tickets as they are now. */
    async listAfter(id: number, known: readonly number[], limit: number): Promise<TicketChangeRecord[]> {
      // Along the primary key; tickets are looked up one by one, and so is, for the few events that move a ticket to
      // another project, the move before: who had it until then, which is where it came in when there was none.
      const rows = await db.query<ChangeRow>(
        `SELECT e.id, e.ticket_id, t.project_id, t.version, t.status, t.stage, t.assignee, e.actor,
           CASE WHEN e.data ? 'projectId' OR e.actor = 'service' AND e.data ->> 'decision' = 'reroute' THEN coalesce((
             SELECT coalesce((m.data ->> 'projectId')::uuid, m.project_id) FROM ticket_events m
             WHERE m.ticket_id = e.ticket_id AND m.id < e.id
               AND (m.data ? 'projectId' OR m.actor = 'service' AND m.data ->> 'decision' = 'reroute')
             ORDER BY m.id DESC LIMIT 1
           ), e.project_id) END AS former_project_id,
           ARRAY(SELECT move ->> 'to' FROM jsonb_array_elements(e.moves) WITH ORDINALITY AS m (move, place)
                 ORDER BY place) AS stages,
           ARRAY(SELECT jsonb_array_elements_text(e.data -> 'mentions')) AS mentions
         FROM (SELECT * FROM ticket_events WHERE id > $1 AND id <> ALL ($2::bigint[]) ORDER BY id LIMIT $3) e
         JOIN tickets t ON t.id = e.ticket_id ORDER BY e.id`,
        [id, known, limit],
      );
      return rows.map((row) => ({
        id: row.id,
        ticketId: row.ticket_id,
        project: row.project_id,
        formerProject: row.former_project_id,
        version: row.version,
        status: row.status,
        stage: row.stage,
        assignee: row.assignee,
        actor: row.actor,
        stages: row.stages,
        mentions: row.mentions,
      }));
    },

    /** Notes for this operator in tickets that one of these projects works on, the newest first. */
    async listMentions(projects: readonly ProjectId[], operatorId: string, limit: number): Promise<MentionRecord[]> {
      // The index on mentions leads to the few events; a note from when another project had the ticket is that one's own.
      return db.query<MentionRecord>(
        `SELECT e.id, e.ticket_id AS "ticketId", t.project_id AS "projectId", t.subject, e.at, e.actor,
           o.name AS author, e.data ->> 'note' AS text
         FROM ticket_events e JOIN tickets t ON t.id = e.ticket_id AND t.project_id = ANY ($1::uuid[])
         LEFT JOIN operators o ON 'operator:' || o.id::text = e.actor
         WHERE e.data ? 'mentions' AND e.data -> 'mentions' @> to_jsonb($2::text) AND NOT EXISTS (
           SELECT FROM ticket_events moved WHERE moved.ticket_id = e.ticket_id AND moved.id > e.id
             AND moved.data ? 'projectId'
         )
         ORDER BY e.id DESC LIMIT $3`,
        [projects, operatorId, limit],
      );
    },
  };
}
