import { OPERATOR_FILE_LIMITS } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { StoredBytes } from "../platform/stored-bytes.ts";
import type { FileContent } from "../messages/widget-files.ts";

/** Files that one step of the sweeper removes. */
const SWEEP_PAGE = 50;

/** Files of operators, from when they are handed in until the reply that they go with is sent. */
export function operatorFilesTable(db: Db, storedBytes: StoredBytes) {
  // The sum is not locked: two uploads at once may pass the limit by one file, which does no harm.
  const INSERT = `
    INSERT INTO operator_files (id, project_id, ticket_id, filename, mime, content)
    SELECT $1, $2, $3, $4, $5, $6
    WHERE (
      SELECT coalesce(sum(octet_length(content)), 0) FROM operator_files
      WHERE ticket_id = $3 AND project_id = $2 AND NOT is_used
    ) + octet_length($6::bytea) <= ${OPERATOR_FILE_LIMITS.unusedMaxBytes}
    RETURNING id`;

  // SKIP LOCKED shares the work among replicas, and leaves a file alone that a decision is just taking.
  const SWEEP = `
    DELETE FROM operator_files WHERE id IN (
      SELECT id FROM operator_files
      WHERE NOT is_used AND created_at < now() - interval '${OPERATOR_FILE_LIMITS.unusedHours} hours'
      ORDER BY created_at LIMIT ${SWEEP_PAGE} FOR UPDATE SKIP LOCKED
    ) RETURNING 1`;

  return {
    /**
     * Stores a file of a ticket and returns its id; null when the ticket has too much that no decision names. Throws
     * storage_full.
     */
    async insert(home: ProjectId, ticketId: string, { filename, mime, content }: FileContent): Promise<string | null> {
      await storedBytes.checkRoom(home, "operatorFiles", content.length);
      const [row] = await db.query<{ id: string }>(INSERT, [newId(), home, ticketId, filename, mime, content]);
      return row?.id ?? null;
    },

    /** These files, in their order; those that are not there are left out. */
    async read(home: ProjectId, ticketId: string, ids: readonly string[]): Promise<FileContent[]> {
      if (ids.length === 0) return [];
      return db.query<FileContent>(
        `SELECT f.filename, f.mime, f.content FROM unnest($3::uuid[]) WITH ORDINALITY wanted (id, place)
         JOIN operator_files f ON f.id = wanted.id AND f.project_id = $1 AND f.ticket_id = $2
         ORDER BY wanted.place`,
        [home, ticketId, ids],
      );
    },

    /** Removes some of the files of all projects that no decision names after a day. True when there may be more. */
    async removeUnused(): Promise<boolean> {
      return (await db.query(SWEEP)).length === SWEEP_PAGE;
    },
  };
}

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
  const taken = await tx.query(
    `UPDATE operator_files SET is_used = true
     WHERE project_id = $1 AND ticket_id = $2 AND id = ANY ($3::uuid[]) RETURNING 1`,
    [home, ticketId, ids],
  );
  return taken.length === ids.length;
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
  await tx.query(
    `UPDATE operator_files SET is_used = false, created_at = now()
     WHERE project_id = $1 AND ticket_id = $2 AND id = ANY ($3::uuid[])`,
    [home, ticketId, ids],
  );
}

/** Removes files whose reply is sent, within its transaction. */
export async function dropOperatorFiles(
  tx: Db,
  home: ProjectId,
  ticketId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query("DELETE FROM operator_files WHERE project_id = $1 AND ticket_id = $2 AND id = ANY ($3::uuid[])", [
    home,
    ticketId,
    ids,
  ]);
}
