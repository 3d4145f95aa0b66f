import type { Db } from "../db.ts";
import { LIST_COLUMNS, LIST_VALUES, microsecondsOf } from "./ticket-keys.ts";

/** Tickets that one step follows. */
const STEP_TICKETS = 1_000;

/** What ticket_list takes over when a ticket has changed. */
const OVERWRITTEN = LIST_COLUMNS.split(",")
  .map((column) => column.trim())
  .filter((column) => column !== "ticket_id")
  .map((column) => `${column} = excluded.${column}`)
  .join(", ");

/** What follows the changes of tickets, for their lists and for the search in them. */
export function ticketIndexTable(db: Db) {
  // Mostly there is nothing to do, and a lock would write something all the same.
  const IS_BEHIND = `
    SELECT settled_id < (SELECT coalesce(max(id), 0) FROM ticket_events) AS is_behind FROM ticket_index`;

  // SKIP LOCKED: of several replicas one follows, the others leave it to that one.
  const HOLD = `
    SELECT settled_id, reached_id,
      (SELECT coalesce(max(id), 0) FROM ticket_events) AS top_id,
      pg_snapshot_xmax(pg_current_snapshot())::text AS top_xmax,
      reached_xmax <= pg_snapshot_xmin(pg_current_snapshot()) AS is_reached_settled
    FROM ticket_index FOR UPDATE SKIP LOCKED`;

  // By what tells one state of a ticket from another, so that an event that is looked at again costs next to nothing.
  const FIND_CHANGED = `
    SELECT e.ticket_id FROM (SELECT DISTINCT ticket_id FROM ticket_events WHERE id > $1) e
    JOIN tickets t ON t.id = e.ticket_id
    LEFT JOIN ticket_list l ON l.ticket_id = t.id
    WHERE l.ticket_id IS NULL OR l.version <> t.version OR l.updated_us <> ${microsecondsOf("t.updated_at")}
    LIMIT ${STEP_TICKETS}`;

  // Both in the order of ids. Whoever indexes the words of one of them has deleted its row in the queue and not committed
  // yet: then this waits, and queues it again.
  const FOLLOW = `
    INSERT INTO ticket_list (${LIST_COLUMNS})
    SELECT ${LIST_VALUES} FROM tickets t WHERE t.id = ANY ($1::uuid[]) ORDER BY t.id
    ON CONFLICT (ticket_id) DO UPDATE SET ${OVERWRITTEN}`;
  const QUEUE_TEXTS = `
    INSERT INTO ticket_text_queue (ticket_id) SELECT id FROM unnest($1::uuid[]) AS i (id) ORDER BY id
    ON CONFLICT (ticket_id) DO UPDATE SET queued_at = now()`;

  return {
    /**
     * Takes over what has changed in tickets since the last step, and queues them for their words; false when there is
     * no more to take over, or another replica does it. Nothing is lost at any crash: an event counts as followed only
     * once every transaction that was on its way when it was seen has ended.
     */
    async follow(): Promise<boolean> {
      const [look] = await db.query<{ is_behind: boolean }>(IS_BEHIND);
      if (look?.is_behind !== true) return false;
      return db.transaction(async (tx) => {
        const [state] = await tx.query<{
          settled_id: number;
          reached_id: number;
          top_id: number;
          top_xmax: string;
          is_reached_settled: boolean;
        }>(HOLD);
        if (state === undefined) return false;
        const changed = await tx.query<{ ticket_id: string }>(FIND_CHANGED, [state.settled_id]);
        if (changed.length > 0) {
          const ids = changed.map((row) => row.ticket_id);
          await tx.query(FOLLOW, [ids]);
          await tx.query(QUEUE_TEXTS, [ids]);
        }
        if (changed.length === STEP_TICKETS) return true;
        if (state.is_reached_settled) {
          await tx.query(
            "UPDATE ticket_index SET settled_id = reached_id, reached_id = $1, reached_xmax = $2::xid8 WHERE is_only_row",
            [state.top_id, state.top_xmax],
          );
        }
        return false;
      });
    },
  };
}
