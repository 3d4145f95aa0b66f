import type { Db } from "../db.ts";
import { LIST_COLUMNS, LIST_VALUES, microsecondsOf } from "./ticket-keys.ts";
import { statements } from "../sql.ts";

/** Tickets that one step follows. */
const STEP_TICKETS = 1_000;

/** What ticket_list takes over when a ticket has changed. */
const OVERWRITTEN = LIST_COLUMNS.split(",")
  .map((column) => column.trim())
  .filter((column) => column !== "ticket_id")
  .map((column) => `${column} = excluded.${column}`)
  .join(", ");

const sql = statements("tickets/ticket-index", {
  microsecondsOf: microsecondsOf("t.updated_at"),
  stepTickets: STEP_TICKETS,
  listColumns: LIST_COLUMNS,
  listValues: LIST_VALUES,
  overwritten: OVERWRITTEN,
});

/**
 * Takes over what has changed in tickets since the last step, and queues them for their words; false when there is
 * no more to take over, or another replica does it. Nothing is lost at any crash: an event counts as followed only
 * once every transaction that was on its way when it was seen has ended.
 */
export async function follow(db: Db): Promise<boolean> {
  const look = await sql.isBehind.one<{ isBehind: boolean }>(db);
  if (look?.isBehind !== true) return false;
  return db.transaction(async (tx) => {
    const state = await sql.hold.one<{
      settledId: number;
      reachedId: number;
      topId: number;
      topXmax: string;
      isReachedSettled: boolean;
    }>(tx);
    if (state === null) return false;
    const changed = await sql.findChanged.all<{ ticketId: string }>(tx, { settledId: state.settledId });
    if (changed.length > 0) {
      const ids = changed.map((row) => row.ticketId);
      await sql.follow.run(tx, { ids });
      await sql.queueTexts.run(tx, { id: ids });
    }
    if (changed.length === STEP_TICKETS) return true;
    if (state.isReachedSettled) {
      await sql.updateTicketIndex.run(tx, { topId: state.topId, topXmax: state.topXmax });
    }
    return false;
  });
}
