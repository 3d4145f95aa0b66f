import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("people/operator-presence");

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

/** Notes what a tab shows; answers the ticket that it has shown before, where that is another one. */
export async function put(
  db: Db,
  project: ProjectId,
  { sessionId, tab }: PresencePlace,
  shown: { operatorId: string; ticketId: string; isTyping: boolean },
): Promise<string | null> {
  const row = await sql.put.one<{ before: string | null }>(db, {
    sessionId,
    tab,
    operatorId: shown.operatorId,
    project,
    ticketId: shown.ticketId,
    isTyping: shown.isTyping,
  });
  const before = row?.before ?? null;
  return before === shown.ticketId ? null : before;
}

/** Notes that a tab shows no ticket any more; answers the one that it has shown, or null. */
export async function remove(db: Db, { sessionId, tab }: PresencePlace): Promise<string | null> {
  const row = await sql.remove.one<{ ticketId: string }>(db, { sessionId, tab });
  return row?.ticketId ?? null;
}

/** Forgets whoever is gone without a word, and answers the tickets that they have looked at. */
export async function sweep(db: Db): Promise<string[]> {
  const rows = await sql.sweep.all<{ ticketId: string }>(db, { goneSeconds: GONE_SECONDS });
  return [...new Set(rows.map(({ ticketId }) => ticketId))];
}

/** Who looks at each of these tickets, with the project that they do it in; of several tabs, one that types. */
export async function list(
  db: Db,
  ticketIds: readonly string[],
): Promise<(ViewerRecord & { ticketId: string; project: string })[]> {
  const rows = await sql.list.all<{
    ticketId: string;
    projectId: string;
    operatorId: string;
    name: string;
    isTyping: boolean;
  }>(db, { ticketIds, goneSeconds: GONE_SECONDS });
  return rows.map((row) => ({
    ticketId: row.ticketId,
    project: row.projectId,
    operatorId: row.operatorId,
    name: row.name,
    isTyping: row.isTyping,
  }));
}
