import { OPERATOR_FILE_LIMITS } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { FileContent } from "../messages/widget-files.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** Files that one step of the sweeper removes. */
const SWEEP_PAGE = 50;

const sql = statements("tickets/operator-files", {
  operatorFileLimitsUnusedMaxBytes: OPERATOR_FILE_LIMITS.unusedMaxBytes,
  operatorFileLimitsUnusedHours: OPERATOR_FILE_LIMITS.unusedHours,
  sweepPage: SWEEP_PAGE,
});

/**
 * Stores a file of a ticket and returns its id; null when the ticket has too much that no decision names. Throws
 * storage_full.
 */
export async function insert(
  context: Context,
  home: ProjectId,
  ticketId: string,
  { filename, mime, content }: FileContent,
): Promise<string | null> {
  await context.storedBytes.checkRoom(home, "operatorFiles", content.length);
  const row = await sql.insert.one<{ id: string }>(context.db, {
    id: newId(),
    home,
    ticketId,
    filename,
    mime,
    content,
  });
  return row?.id ?? null;
}

/** These files, in their order; those that are not there are left out. */
export async function read(
  context: Context,
  home: ProjectId,
  ticketId: string,
  ids: readonly string[],
): Promise<FileContent[]> {
  if (ids.length === 0) return [];
  return sql.read.all<FileContent>(context.db, { home, ticketId, ids });
}

/** Removes some of the files of all projects that no decision names after a day. True when there may be more. */
export const removeUnused = async (context: Context): Promise<boolean> =>
  (await sql.sweep.all(context.db)).length === SWEEP_PAGE;

/**
 * Gives files of a ticket to a decision, within its transaction. False when one of them is not there. One that another
 * decision has had is as good: that one was given up, or its reply is sent and the file is gone.
 */
export async function takeOperatorFiles(
  tx: Db,
  home: ProjectId,
  ticketId: string,
  ids: readonly string[],
): Promise<boolean> {
  if (ids.length === 0) return true;
  const count = await sql.takeOperatorFiles.run(tx, { home, ticketId, ids });
  return count === ids.length;
}

/**
 * Lets go of files of a reply that was given up and will not be tried again, within the transaction that says so: like
 * those that no decision names, they are gone after a day.
 */
export async function freeOperatorFiles(
  tx: Db,
  home: ProjectId,
  ticketId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql.freeOperatorFiles.run(tx, { home, ticketId, ids });
}

/** Removes files whose reply is sent, within its transaction. */
export async function dropOperatorFiles(
  tx: Db,
  home: ProjectId,
  ticketId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql.dropOperatorFiles.run(tx, { home, ticketId, ids });
}
