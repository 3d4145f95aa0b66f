import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** Somebody who looks at a ticket. */
export interface ViewerRecord {
  operatorId: string;
  name: string;
  isTyping: boolean;
}

/** Where somebody is: one tab of a browser in one session. */
export interface PresencePlace {
  sessionId: string;
  tab: string;
}

/** Whoever has not said anything for so long is gone. */
const GONE_SECONDS = 45;

/** Who looks at which ticket right now. */
export function operatorPresenceTable(db: Db) {
  return {
    /** Notes what a tab shows; answers the ticket that it has shown before, where that is another one. */
    async put(
      project: ProjectId,
      { sessionId, tab }: PresencePlace,
      shown: { operatorId: string; ticketId: string; isTyping: boolean },
    ): Promise<string | null> {
      const rows = await db.query<{ before: string | null }>(
        // What is read in the same statement is what was there before it.
        `WITH before AS (SELECT ticket_id FROM operator_presence WHERE session_id = $1 AND tab = $2),
           written AS (
             INSERT INTO operator_presence (session_id, tab, operator_id, project_id, ticket_id, is_typing)
             SELECT $1, $2, $3, $4, t.id, $6 FROM tickets t WHERE t.id = $5
             ON CONFLICT (session_id, tab) DO UPDATE SET operator_id = EXCLUDED.operator_id,
               project_id = EXCLUDED.project_id, ticket_id = EXCLUDED.ticket_id, is_typing = EXCLUDED.is_typing,
               seen_at = now()
             RETURNING 1)
         SELECT (SELECT ticket_id FROM before) AS before FROM written`,
        [sessionId, tab, shown.operatorId, project, shown.ticketId, shown.isTyping],
      );
      const before = rows[0]?.before ?? null;
      return before === shown.ticketId ? null : before;
    },

    /** Notes that a tab shows no ticket any more; answers the one that it has shown, or null. */
    async remove({ sessionId, tab }: PresencePlace): Promise<string | null> {
      const rows = await db.query<{ ticket_id: string }>(
        "DELETE FROM operator_presence WHERE session_id = $1 AND tab = $2 RETURNING ticket_id",
        [sessionId, tab],
      );
      return rows[0]?.ticket_id ?? null;
    },

    /** Forgets whoever is gone without a word, and answers the tickets that they have looked at. */
    async sweep(): Promise<string[]> {
      const rows = await db.query<{ ticket_id: string }>(
        "DELETE FROM operator_presence WHERE seen_at < now() - make_interval(secs => $1) RETURNING ticket_id",
        [GONE_SECONDS],
      );
      return [...new Set(rows.map(({ ticket_id }) => ticket_id))];
    },

    /** Who looks at each of these tickets, with the project that they do it in; of several tabs, one that types. */
    async list(ticketIds: readonly string[]): Promise<(ViewerRecord & { ticketId: string; project: string })[]> {
      const rows = await db.query<{
        ticket_id: string;
        project_id: string;
        operator_id: string;
        name: string;
        is_typing: boolean;
      }>(
        `SELECT p.ticket_id, p.project_id, p.operator_id, o.name, bool_or(p.is_typing) AS is_typing
         FROM operator_presence p
         JOIN operators o ON o.id = p.operator_id
         JOIN operator_sessions s ON s.id = p.session_id
         WHERE p.ticket_id = ANY ($1::uuid[]) AND p.seen_at > now() - make_interval(secs => $2)
         GROUP BY p.ticket_id, p.project_id, p.operator_id, o.name ORDER BY o.name, p.operator_id`,
        [ticketIds, GONE_SECONDS],
      );
      return rows.map((row) => ({
        ticketId: row.ticket_id,
        project: row.project_id,
        operatorId: row.operator_id,
        name: row.name,
        isTyping: row.is_typing,
      }));
    },
  };
}
