import { WIDGET_LIMITS } from "@svc/contracts";
import type { WidgetFile } from "@svc/contracts";
import type { Db } from "./db.ts";
import { newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

/** A file with its bytes. */
export interface FileContent {
  filename: string;
  mime: string;
  content: Buffer;
}

/** A file that a visitor has sent. */
export interface NewWidgetFile extends FileContent {
  ticketId: string;
}

/** A file that came with a message whose id is known already. */
export interface KeptFile extends NewWidgetFile {
  id: string;
  messageId: string;
}

/** What the files of a chat that come with their messages may be together in a day, in bytes. */
const DAILY_MAX_BYTES = 200 * 1024 * 1024;

/** What all files of a chat, and all of a project, may be together while no message names them, in bytes. */
const UNUSED_MAX_BYTES = { chat: 10 * WIDGET_LIMITS.fileMaxBytes, project: 1_000 * WIDGET_LIMITS.fileMaxBytes };
/** Files that one step of the sweeper goes through. */
const SWEEP_PAGE = 50;

interface FileRow {
  id: string;
  filename: string;
  mime: string;
  size_bytes: number;
}

const asFile = (row: FileRow): WidgetFile => ({
  fileId: row.id,
  filename: row.filename,
  mime: row.mime,
  sizeBytes: row.size_bytes,
});

/** Files of visitors: kept with the message that names them, removed where none does within a day. */
export function widgetFilesTable(db: Db) {
  // The sums are not locked: two uploads at once may pass a limit by one file each, which does no harm. That of a chat
  // alone would bound nothing, since visitors make their own chats.
  const INSERT = `
    INSERT INTO widget_files (id, project_id, ticket_id, filename, mime, content)
    SELECT $1, $2, $3, $4, $5, $6
    WHERE (
      SELECT coalesce(sum(octet_length(content)), 0) FROM widget_files
      WHERE ticket_id = $3 AND project_id = $2 AND message_id IS NULL
    ) + octet_length($6::bytea) <= $7 AND (
      SELECT coalesce(sum(octet_length(content)), 0) FROM widget_files WHERE project_id = $2 AND message_id IS NULL
    ) + octet_length($6::bytea) <= $8
    RETURNING id`;

  // A repeat finds its own file, which counts as any other. The sum is not locked: two at once may pass the limit by one.
  const KEEP = `
    INSERT INTO widget_files (id, project_id, ticket_id, message_id, filename, mime, content)
    SELECT $1, $2, $3, $4, $5, $6, $7
    WHERE (
      SELECT coalesce(sum(octet_length(content)), 0) FROM widget_files
      WHERE ticket_id = $3 AND project_id = $2 AND created_at > now() - interval '1 day'
    ) + octet_length($7::bytea) <= $8
    ON CONFLICT (id) DO UPDATE SET message_id = excluded.message_id
    RETURNING 1`;

  // Done again by a repeat of the message it finds its own files. Locks the files' rows, in the order of their ids.
  const TAKE = `
    WITH wanted AS MATERIALIZED (
      SELECT id FROM widget_files
      WHERE project_id = $1 AND ticket_id = $2 AND id = ANY ($4::uuid[]) AND (message_id IS NULL OR message_id = $3)
      ORDER BY id FOR UPDATE
    )
    UPDATE widget_files f SET message_id = $3 FROM wanted
    WHERE f.id = wanted.id AND (SELECT count(*) FROM wanted) = cardinality($4::uuid[])
    RETURNING f.id, f.filename, f.mime, octet_length(f.content) AS size_bytes`;

  // A visitor's own file, or the attachment of a reply. Reads only.
  const READ = `
    SELECT filename, mime, content FROM widget_files WHERE project_id = $1 AND ticket_id = $2 AND id = $3
    UNION ALL
    SELECT filename, mime, content FROM replies
    WHERE project_id = $1 AND ticket_id = $2 AND id = $3 AND type = 'attachment'`;

  // A message may have been reserved and never committed: then its files are unused too. SKIP LOCKED shares the work
  // among replicas and leaves a file alone that a message is just taking.
  const SWEEP = `
    WITH old AS MATERIALIZED (
      SELECT f.id, EXISTS (SELECT 1 FROM messages m WHERE m.id = f.message_id) AS is_used FROM widget_files f
      WHERE NOT f.is_kept AND f.created_at < now() - interval '${WIDGET_LIMITS.unusedFileHours} hours'
      ORDER BY f.created_at LIMIT ${SWEEP_PAGE} FOR UPDATE OF f SKIP LOCKED
    ), kept AS (
      UPDATE widget_files f SET is_kept = true FROM old WHERE f.id = old.id AND old.is_used
    ), gone AS (
      DELETE FROM widget_files f USING old WHERE f.id = old.id AND NOT old.is_used RETURNING 1
    )
    SELECT (SELECT count(*) FROM old) AS seen, (SELECT count(*) FROM gone) AS removed`;

  return {
    /** Keeps a file and answers its id; null when its chat or its project has too much that no message names. */
    async insert(
      project: ProjectId,
      { ticketId, filename, mime, content }: NewWidgetFile,
      maxBytes: { chat: number; project: number } = UNUSED_MAX_BYTES,
    ): Promise<string | null> {
      const values = [newId(), project, ticketId, filename, mime, content, maxBytes.chat, maxBytes.project];
      const [row] = await db.query<{ id: string }>(INSERT, values);
      return row?.id ?? null;
    },

    /**
     * Keeps a file for a message that is about to be committed; false when its chat has sent too much today. Safe to
     * repeat. A file whose message never comes is removed after a day, like any other.
     */
    async keep(project: ProjectId, file: KeptFile, dailyMaxBytes: number = DAILY_MAX_BYTES): Promise<boolean> {
      const { id, ticketId, messageId, filename, mime, content } = file;
      const values = [id, project, ticketId, messageId, filename, mime, content, dailyMaxBytes];
      return (await db.query(KEEP, values)).length > 0;
    },

    /** Name, type and size of a file that is kept for this message, or null. */
    async findKept(project: ProjectId, messageId: string, fileId: string): Promise<WidgetFile | null> {
      const [row] = await db.query<FileRow>(
        `SELECT id, filename, mime, octet_length(content) AS size_bytes FROM widget_files
         WHERE project_id = $1 AND message_id = $2 AND id = $3`,
        [project, messageId, fileId],
      );
      return row === undefined ? null : asFile(row);
    },

    /**
     * Gives files of a chat to a message, in the given order; null, and nothing is given, when one of them is not there
     * or belongs to another message. Safe to repeat. The ids are all different.
     */
    async take(
      project: ProjectId,
      ticketId: string,
      messageId: string,
      fileIds: readonly string[],
    ): Promise<WidgetFile[] | null> {
      const rows = await db.query<FileRow>(TAKE, [project, ticketId, messageId, fileIds]);
      const found = new Map(rows.map((row) => [row.id, asFile(row)]));
      const files = fileIds.flatMap((id) => found.get(id) ?? []);
      return files.length === fileIds.length ? files : null;
    },

    /** A file of a chat, sent by its visitor or with a reply; null when the chat has none of this id. */
    async find(project: ProjectId, ticketId: string, fileId: string): Promise<FileContent | null> {
      const [row] = await db.query<FileContent>(READ, [project, ticketId, fileId]);
      return row ?? null;
    },

    /** Removes some of the files of all projects that no message names after a day. True when there may be more. */
    async removeUnused(): Promise<boolean> {
      const [row] = await db.query<{ seen: number; removed: number }>(SWEEP);
      return (row?.seen ?? 0) === SWEEP_PAGE;
    },
  };
}
