import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import type { SavedView } from "@svc/contracts";

/** Somebody who looks at a ticket. */
export interface ViewerRecord {
  operatorId: string;
  name: string;
  isTyping: boolean;
}

/** Where somebody is: one tab of a browser in one session. */
export interface PresenceTab {
  sessionId: string;
  tab: string;
}

/** A viewer that was silent for this long has left. */
const GONE_SECONDS = 45;

/** Notes what a tab shows; returns the ticket that it has shown before, where that is another one. */
export async function putPresence(
  db: Db,
  project: ProjectId,
  { sessionId, tab }: PresenceTab,
  shown: { operatorId: string; ticketId: string; isTyping: boolean },
): Promise<string | null> {
  const row = await sql.putPresence.one<{ before: string | null }>(db, {
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

/** Notes that a tab shows no ticket any more; returns the one that it has shown, or null. */
export async function removePresence(db: Db, { sessionId, tab }: PresenceTab): Promise<string | null> {
  const row = await sql.removePresence.one<{ ticketId: string }>(db, { sessionId, tab });
  return row?.ticketId ?? null;
}

/** Removes viewers that disappeared without notice, and returns the tickets that they have looked at. */
export async function sweepPresence(db: Db): Promise<string[]> {
  const rows = await sql.sweepPresence.all<{ ticketId: string }>(db, { goneSeconds: GONE_SECONDS });
  return [...new Set(rows.map(({ ticketId }) => ticketId))];
}

/** Who looks at each of these tickets, with the project that they do it in; of several tabs, one that types. */
export const listViewers = (db: Db, ticketIds: readonly string[]) =>
  sql.listViewers.all<ViewerRecord & { ticketId: string; project: string }>(db, {
    ticketIds,
    goneSeconds: GONE_SECONDS,
  });

const sql = statements("people/operator-views");

/** An operator's views, in the order in which they were saved; those of deleted projects are left out. */
export const listViews = (db: Db, operatorId: string) => sql.listViews.all<SavedView>(db, { operatorId });

/**
 * Keeps a view in the place of the one of the same name; `project` null for one of all projects. False where the
 * operator has `maxCount` others already. Locks the operator's row, so that two calls at once cannot both be the last.
 */
export function putView(
  db: Db,
  operatorId: string,
  { name, view, filters }: Omit<SavedView, "project">,
  { project, maxCount }: { project: ProjectId | null; maxCount: number },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await sql.putView.run(tx, { operatorId });
    return sql.insertView.any(tx, {
      operatorId,
      name,
      project,
      view,
      filters: JSON.stringify(filters),
      maxCount,
    });
  });
}

/** Deletes a view; false where the operator has none of this name. */
export const removeView = (db: Db, operatorId: string, name: string) => sql.removeView.any(db, { operatorId, name });
