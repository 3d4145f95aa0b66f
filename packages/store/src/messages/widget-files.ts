import { WIDGET_LIMITS } from "@svc/contracts";
import type { WidgetFile } from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { outlastDeadlocks } from "../outlast-deadlocks.ts";
import { describeBytes, storageFull } from "../platform/stored-bytes.ts";
import type { StoredBytes } from "../platform/stored-bytes.ts";

/** A file with its bytes. */
export interface FileContent {
  filename: string;
  mime: string;
  content: Buffer;
}

/** A file whose bytes are read piece by piece, each when it is asked for. */
export interface OpenedFile {
  filename: string;
  mime: string;
  sizeBytes: number;
  pieces: AsyncIterable<Buffer>;
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

/** What all files of a chat, and all of a project, may be together while no message names them, in bytes. */
const UNUSED_MAX_BYTES = { chat: 10 * WIDGET_LIMITS.fileMaxBytes, project: 1_000 * WIDGET_LIMITS.fileMaxBytes };
/** Bytes of a file that are in memory at once while it is sent. */
const PIECE_BYTES = 1_048_576;
/** Files of one project that one step of the retention goes through. */
const EXPIRE_PAGE = 50;
/** How often the files of a project are looked through. */
const EXPIRE_EVERY = "interval '1 hour'";
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

/**
 * Files of visitors: stored with the message that names them, removed where none does within a day, and emptied when the
 * retention of their project is over.
 */
export function widgetFilesTable(db: Db, storedBytes: StoredBytes) {
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

  // A repeat finds its own file.
  const KEEP = `
    INSERT INTO widget_files (id, project_id, ticket_id, message_id, filename, mime, content)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (id) DO UPDATE SET message_id = excluded.message_id`;

  // Of one conversation, by its index; the size of a content is known without reading it.
  const READ_CHAT = `
    SELECT coalesce(sum(octet_length(content)), 0)::float8 AS total,
      coalesce(sum(octet_length(content)) FILTER (WHERE created_at > now() - interval '1 day'), 0)::float8 AS day
    FROM widget_files WHERE ticket_id = $2 AND project_id = $1`;

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

  // As an erasure, it locks messages before files. Another replica that has the same page finds nothing left to do. The
  // message no longer says where the file is, so that no reader offers it.
  const EXPIRE = `
    WITH old AS MATERIALIZED (
      SELECT id, ticket_id, message_id FROM widget_files
      WHERE project_id = $1 AND expired_at IS NULL AND created_at < now() - make_interval(days => $2)
      ORDER BY created_at LIMIT ${EXPIRE_PAGE}
    ), held AS MATERIALIZED (
      SELECT m.id FROM messages m WHERE m.id IN (SELECT message_id FROM old) ORDER BY m.id FOR NO KEY UPDATE
    ), marked AS (
      UPDATE messages m SET attachments = (
        SELECT jsonb_agg(CASE
          WHEN EXISTS (SELECT 1 FROM old o WHERE o.message_id = m.id AND right(a.item ->> 'url', 36) = o.id::text)
          THEN a.item - 'url' || '{"expired":true}' ELSE a.item END ORDER BY a.place)
        FROM jsonb_array_elements(m.attachments) WITH ORDINALITY a (item, place)
      )
      FROM held WHERE m.id = held.id AND jsonb_typeof(m.attachments) = 'array'
    ), emptied AS (
      UPDATE widget_files f SET content = '', expired_at = now() FROM old
      WHERE f.id = old.id AND f.expired_at IS NULL AND (SELECT count(*) FROM held) >= 0
      RETURNING 1
    )
    SELECT (SELECT count(*)::integer FROM old) AS seen, (SELECT count(*)::integer FROM emptied) AS expired`;

  // A visitor's own file, or the attachment of a reply. Reads only.
  const READ = `
    SELECT filename, mime, content FROM widget_files
    WHERE project_id = $1 AND ticket_id = $2 AND id = $3 AND expired_at IS NULL
    UNION ALL
    SELECT filename, mime, content FROM replies
    WHERE project_id = $1 AND ticket_id = $2 AND id = $3 AND type = 'attachment'`;

  // The same, and of its bytes a piece only.
  const READ_PIECE = `
    SELECT filename, mime, octet_length(content) AS size_bytes, substring(content FROM $4 FOR ${PIECE_BYTES}) AS piece
    FROM (${READ}) AS file`;

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

  /**
   * Throws storage_full when the conversation, its last 24 hours, the project or the installation has no room for a file.
   * Nothing is locked: uploads in flight may pass a limit by their own bytes each.
   */
  async function checkRoom(project: ProjectId, ticketId: string, bytes: number): Promise<void> {
    const [row] = await db.query<{ total: number; day: number }>(READ_CHAT, [project, ticketId]);
    const { conversationMaxBytes, visitorDayMaxBytes } = storedBytes.limits;
    if ((row?.total ?? 0) + bytes > conversationMaxBytes) {
      throw storageFull(
        `The files of this conversation are too large: at most ${describeBytes(conversationMaxBytes)} together are stored.`,
      );
    }
    if ((row?.day ?? 0) + bytes > visitorDayMaxBytes) {
      throw storageFull(
        `The files of this conversation are too large: at most ${describeBytes(visitorDayMaxBytes)} are stored within 24 hours. Try again tomorrow.`,
      );
    }
    await storedBytes.checkRoom(project, "visitorFiles", bytes);
  }

  return {
    /**
     * Stores a file and returns its id; null when its conversation or project has too many files that no message names.
     * Throws storage_full.
     */
    async insert(
      project: ProjectId,
      { ticketId, filename, mime, content }: NewWidgetFile,
      maxBytes: { chat: number; project: number } = UNUSED_MAX_BYTES,
    ): Promise<string | null> {
      await checkRoom(project, ticketId, content.length);
      const values = [newId(), project, ticketId, filename, mime, content, maxBytes.chat, maxBytes.project];
      const [row] = await db.query<{ id: string }>(INSERT, values);
      return row?.id ?? null;
    },

    /**
     * Stores a file for a message that is about to be committed. Safe to repeat. A file whose message never comes is
     * removed after a day, like any other. Throws storage_full.
     */
    async keep(project: ProjectId, file: KeptFile): Promise<void> {
      const { id, ticketId, messageId, filename, mime, content } = file;
      await checkRoom(project, ticketId, content.length);
      await db.query(KEEP, [id, project, ticketId, messageId, filename, mime, content]);
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

    /**
     * Opens a file as `find` finds it. The pieces end with an error if the file expires or is erased while it is read.
     */
    async open(project: ProjectId, ticketId: string, fileId: string): Promise<OpenedFile | null> {
      async function readFrom(offset: number) {
        const values = [project, ticketId, fileId, offset + 1];
        const [row] = await db.query<{ filename: string; mime: string; size_bytes: number; piece: Buffer }>(
          READ_PIECE,
          values,
        );
        return row;
      }
      const first = await readFrom(0);
      if (first === undefined) return null;
      const { filename, mime, size_bytes: sizeBytes } = first;
      async function* pieces(piece: Buffer) {
        yield piece;
        for (let sent = piece.length; sent < sizeBytes;) {
          const next = (await readFrom(sent))?.piece;
          if (next === undefined || next.length === 0) throw new Error("the file was deleted while it was read");
          yield next;
          sent += next.length;
        }
      }
      return { filename, mime, sizeBytes, pieces: pieces(first.piece) };
    },

    /**
     * Empties some files of the next project that are older than its `fileRetentionDays`; their conversations show them as
     * expired. Each project has its turn once an hour. Returns how many files, and whether there may be more to do; null
     * when it is no project's turn.
     */
    async expire(): Promise<{ project: ProjectId; expired: number; isMore: boolean } | null> {
      const [due] = await db.query<{ id: string; days: number }>(
        `UPDATE projects SET file_purge_at = now() + ${EXPIRE_EVERY}
         WHERE id = (
           SELECT id FROM projects
           WHERE file_retention_days IS NOT NULL AND deleted_at IS NULL AND file_purge_at <= now()
           ORDER BY file_purge_at LIMIT 1 FOR UPDATE SKIP LOCKED
         ) RETURNING id, file_retention_days AS days`,
      );
      if (due === undefined) return null;
      const [row] = await outlastDeadlocks(db, (tx) =>
        tx.query<{ seen: number; expired: number }>(EXPIRE, [due.id, due.days]),
      );
      const isMore = row?.seen === EXPIRE_PAGE;
      if (isMore) await db.query("UPDATE projects SET file_purge_at = now() WHERE id = $1", [due.id]);
      return { project: asProjectId(due.id), expired: row?.expired ?? 0, isMore };
    },

    /** Removes some of the files of all projects that no message names after a day. True when there may be more. */
    async removeUnused(): Promise<boolean> {
      const [row] = await db.query<{ seen: number; removed: number }>(SWEEP);
      return (row?.seen ?? 0) === SWEEP_PAGE;
    },
  };
}
