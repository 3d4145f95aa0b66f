import type { TicketPriority, TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { asConfidence } from "./ticket-record.ts";
import { anyTwoOf } from "./ticket-texts.ts";

/** Where triage has sent an issue, for the outcome of its run. */
export interface IssueRoute {
  /** Who works on it from now on. */
  project: ProjectId;
  /** What its ticket's priority becomes; null where it stays. */
  priority: TicketPriority | null;
}

/** What became of an issue. */
export interface IssueRecord {
  /** Who works on it. */
  project: ProjectId;
  projectName: string;
  agentId: string | null;
  confidence: number | null;
  stage: TicketStage;
  /** Why triage has chosen so; null where it has not. */
  why: string | null;
}

/** A ticket that an issue may be about as well. */
export interface OpenTicket {
  ticketId: string;
  subject: string;
  /** The beginning of its first message. */
  text: string;
}

/** A ticket in short. */
export interface TicketBrief {
  ticketId: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
}

/** Thrown when the project that an issue is to go to was deleted meanwhile: triage has to choose anew. */
export class ProjectGoneError extends Error {
  constructor() {
    super("the project selected by triage was deleted in the meantime");
    this.name = "ProjectGoneError";
  }
}

/** Tickets that an issue is compared with: the newest of the project, and so many with words of it. */
const NEWEST = 200;
const WITH_WORDS = 200;

/** What a ticket is about is said in its beginning. */
const MAX_TEXT_CHARS = 4_000;

/**
 * Gives the ticket of an issue to the project that triage has chosen, in the transaction of its run's outcome. To be
 * called before the outcome is committed: the project's row is locked first, as whoever deletes a project does, so that
 * no ticket goes to a project that is gone. Throws ProjectGoneError.
 */
export async function lockRoute(tx: Db, { project }: IssueRoute): Promise<void> {
  const [found] = await tx.query("SELECT 1 FROM projects WHERE id = $1 AND deleted_at IS NULL FOR KEY SHARE", [
    project,
  ]);
  if (found === undefined) throw new ProjectGoneError();
}

/** Moves the ticket, whose row the outcome of the run has locked in this transaction. */
export async function applyRoute(
  tx: Db,
  home: ProjectId,
  ticketId: string,
  { project, priority }: IssueRoute,
): Promise<void> {
  await tx.query(
    `UPDATE tickets SET project_id = $3, priority = coalesce($4, priority) WHERE home_project_id = $1 AND id = $2`,
    [home, ticketId, project, priority],
  );
}

/** What is asked about submitted issues. */
export function issuesTable(db: Db) {
  return {
    /**
     * What became of an issue that came in to this project; null as long as its ticket is not opened. The reason is that
     * of the newest run that has chosen, and null where the ticket has gone to another project since: it names agents and
     * examples of the one that was chosen. Locks nothing.
     */
    async find(home: ProjectId, ticketId: string): Promise<IssueRecord | null> {
      const [row] = await db.query<{
        project_id: string;
        project_name: string;
        agent_id: string | null;
        confidence: number | null;
        stage: TicketStage;
        why: string | null;
      }>(
        `SELECT t.project_id, p.name AS project_name, t.agent_id, t.confidence, t.stage, (
           SELECT CASE WHEN coalesce(moved.project_id, e.project_id) = t.project_id THEN e.data -> 'triage' ->> 'why' END
           FROM ticket_events e LEFT JOIN LATERAL (
             SELECT coalesce((m.data ->> 'projectId')::uuid, m.project_id) AS project_id FROM ticket_events m
             WHERE m.project_id = $1 AND m.ticket_id = $2 AND m.id <= e.id
               AND (m.data ? 'projectId' OR m.actor = 'service' AND m.data ->> 'decision' = 'reroute')
             ORDER BY m.id DESC LIMIT 1
           ) moved ON true
           WHERE e.project_id = $1 AND e.ticket_id = $2 AND e.data ? 'possibleDuplicates' ORDER BY e.id DESC LIMIT 1
         ) AS why
         FROM tickets t JOIN projects p ON p.id = t.project_id WHERE t.home_project_id = $1 AND t.id = $2`,
        [home, ticketId],
      );
      if (row === undefined) return null;
      return {
        project: asProjectId(row.project_id),
        projectName: row.project_name,
        agentId: row.agent_id,
        confidence: asConfidence(row.confidence),
        stage: row.stage,
        why: row.why,
      };
    },

    /**
     * True when an issue was sent to where it is, by triage or by a person: a further run leaves it there. Reads the few
     * events of its ticket; locks nothing.
     */
    async isRouted(home: ProjectId, ticketId: string): Promise<boolean> {
      const [row] = await db.query(
        `SELECT 1 FROM ticket_events WHERE project_id = $1 AND ticket_id = $2
           AND (data ? 'possibleDuplicates' OR data ->> 'decision' = 'reroute') LIMIT 1`,
        [home, ticketId],
      );
      return row !== undefined;
    },

    /** How often the ticket of an issue was resolved, and whether it is now. Reads the few events of its ticket. */
    async findResolutions(home: ProjectId, ticketId: string): Promise<{ count: number; isResolved: boolean }> {
      const [row] = await db.query<{ count: number; is_resolved: boolean }>(
        `SELECT t.status = 'resolved' AS is_resolved, (
           SELECT count(*)::int FROM ticket_events
           WHERE project_id = $1 AND ticket_id = $2 AND data ->> 'decision' = 'resolve'
         ) AS count
         FROM tickets t WHERE t.home_project_id = $1 AND t.id = $2`,
        [home, ticketId],
      );
      return { count: row?.count ?? 0, isResolved: row?.is_resolved ?? false };
    },

    /** True when the message is the first that its chat still has. */
    async isFirst(home: ProjectId, ticketId: string, seq: number): Promise<boolean> {
      const [row] = await db.query(
        "SELECT 1 FROM messages WHERE project_id = $1 AND ticket_id = $2 AND seq < $3 LIMIT 1",
        [home, ticketId, seq],
      );
      return row === undefined;
    },

    /**
     * Tickets of a project that are not closed and may be about the same as another one: the newest ones, and those that
     * have two of these words, whose index may be a second behind. Both are read by an index, and bounded; locks nothing.
     */
    async listComparable(project: ProjectId, ticketId: string, words: readonly string[]): Promise<OpenTicket[]> {
      const rows = await db.query<{ id: string; subject: string; text: string }>(
        `WITH near AS (
           (SELECT id FROM tickets WHERE project_id = $1 ORDER BY created_at DESC LIMIT ${NEWEST})
           UNION
           (SELECT ticket_id FROM ticket_texts WHERE $3::text <> '' AND document @@ $3::tsquery AND project_id = $1
            LIMIT ${WITH_WORDS})
         )
         SELECT t.id, t.subject, left(m.text, ${MAX_TEXT_CHARS}) AS text
         FROM near JOIN tickets t USING (id) CROSS JOIN LATERAL (
           SELECT text FROM messages WHERE ticket_id = t.id ORDER BY seq LIMIT 1
         ) m
         WHERE t.project_id = $1 AND t.id <> $2 AND t.status IN ('open', 'pending')
         ORDER BY t.created_at, t.id`,
        [project, ticketId, anyTwoOf(project, words)],
      );
      return rows.map(({ id, subject, text }) => ({ ticketId: id, subject, text }));
    },

    /** Those of these tickets that the project works on. */
    async listBriefs(project: ProjectId, ticketIds: readonly string[]): Promise<TicketBrief[]> {
      const rows = await db.query<{ id: string; subject: string; status: TicketStatus; stage: TicketStage }>(
        "SELECT id, subject, status, stage FROM tickets WHERE project_id = $1 AND id = ANY ($2::uuid[])",
        [project, ticketIds],
      );
      return rows.map(({ id, ...brief }) => ({ ticketId: id, ...brief }));
    },
  };
}
