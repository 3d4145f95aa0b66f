import { WIDGET_LIMITS, OPERATOR_FILE_LIMITS } from "@svc/contracts";
import type { WidgetFile } from "@svc/contracts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { retryOnDeadlock } from "../db.ts";
import { describeBytes, storageFull } from "../platform/stored-bytes.ts";
import { statements } from "../sql.ts";
import { readObject, readWhole } from "./file-objects.ts";
import type { Context } from "../context.ts";
import type { Db } from "../db.ts";

/** A file with its bytes. */
export interface FileContent {
  filename: string;
  mime: string;
  content: Buffer;
}

/** A file whose bytes are read in parts, on demand. */
export interface OpenedFile {
  filename: string;
  mime: string;
  sizeBytes: number;
  pieces: AsyncGenerator<Buffer>;
}

/** A file that a visitor has sent. */
export interface NewWidgetFile extends FileContent {
  ticketId: string;
}

/** A file of a message whose id is already known. */
export interface NewMessageFile extends NewWidgetFile {
  id: string;
  messageId: string;
}

/** Maximum total size of the unused files of a chat, and of a project, in bytes. */
const UNUSED_MAX_BYTES = { chat: 10 * WIDGET_LIMITS.fileMaxBytes, project: 1_000 * WIDGET_LIMITS.fileMaxBytes };
/** Bytes of a file that are in memory at once while it is sent. */
const PIECE_BYTES = 1_048_576;
/** Files per step of the retention. */
const EXPIRE_PAGE = 50;
/** Files per step of the sweeper. */
const SWEEP_PAGE = 50;

interface FileRow {
  id: string;
  filename: string;
  mime: string;
  sizeBytes: number;
}

/** A part of a file; `piece` is empty if the file is in the object store. */
interface FilePiece {
  filename: string;
  mime: string;
  sizeBytes: number;
  objectId: string | null;
  piece: Buffer;
}

const deletedWhileRead = () => new Error("the file was deleted while it was read");

const asFile = (row: FileRow): WidgetFile => ({
  fileId: row.id,
  filename: row.filename,
  mime: row.mime,
  sizeBytes: row.sizeBytes,
});

const sql = statements("messages/widget-files", {
  expirePage: EXPIRE_PAGE,
  pieceBytes: PIECE_BYTES,
  widgetLimitsUnusedFileHours: WIDGET_LIMITS.unusedFileHours,
  sweepPage: SWEEP_PAGE,
});

/**
 * Throws storage_full if a file would exceed the limit of the conversation, of its last 24 hours, of the project or of
 * the installation. Nothing is locked: concurrent uploads may exceed a limit by their own size each.
 */
async function checkRoom(context: Context, project: ProjectId, ticketId: string, bytes: number): Promise<void> {
  const row = await sql.sumChat.one(context.db, { project, ticketId });
  const { conversationMaxBytes, visitorDayMaxBytes } = context.storedBytes.limits;
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
  await context.storedBytes.checkRoom(project, "visitorFiles", bytes);
}

/**
 * Stores a file and returns its id; null if its conversation or project has too many unused files. Throws storage_full.
 */
export async function insert(
  context: Context,
  project: ProjectId,
  { ticketId, filename, mime, content }: NewWidgetFile,
  maxBytes: { chat: number; project: number } = UNUSED_MAX_BYTES,
): Promise<string | null> {
  await checkRoom(context, project, ticketId, content.length);
  const id = newId();
  const limits = { chatMaxBytes: maxBytes.chat, projectMaxBytes: maxBytes.project };
  const count = await sql.insert.run(context.db, { id, project, ticketId, filename, mime, content, ...limits });
  return count === 0 ? null : id;
}

/**
 * Stores a file for a message that is about to be committed. Safe to repeat. A file whose message is never committed is
 * deleted after a day. Throws storage_full.
 */
export async function insertForMessage(context: Context, project: ProjectId, file: NewMessageFile): Promise<void> {
  const { id, ticketId, messageId, filename, mime, content } = file;
  await checkRoom(context, project, ticketId, content.length);
  await sql.insertForMessage.run(context.db, { id, project, ticketId, messageId, filename, mime, content });
}

/** Returns name, type and size of a file that is stored for this message, or null. */
export async function findOfMessage(
  context: Context,
  project: ProjectId,
  messageId: string,
  fileId: string,
): Promise<WidgetFile | null> {
  const row = await sql.findOfMessage.one<FileRow>(context.db, { project, messageId, fileId });
  return row === null ? null : asFile(row);
}

/**
 * Assigns files of a chat to a message, in the given order; returns null, without changes, if one of them does not
 * exist or belongs to another message. Safe to repeat. The ids must be distinct.
 */
// oxlint-disable-next-line max-params -- Fence, range and caller are one value each.
export async function assign(
  context: Context,
  project: ProjectId,
  ticketId: string,
  messageId: string,
  fileIds: readonly string[],
): Promise<WidgetFile[] | null> {
  const rows = await sql.assign.all<FileRow>(context.db, { project, ticketId, messageId, fileIds });
  const found = new Map(rows.map((row) => [row.id, asFile(row)]));
  const files = fileIds.flatMap((id) => found.get(id) ?? []);
  return files.length === fileIds.length ? files : null;
}

/** Returns a file of a chat, sent by its visitor or with a reply; null if the chat has no file with this id. */
export async function find(
  context: Context,
  project: ProjectId,
  ticketId: string,
  fileId: string,
): Promise<FileContent | null> {
  const row = await sql.read.one<FileContent & { objectId: string | null }>(context.db, { project, ticketId, fileId });
  if (row === null) return null;
  const { filename, mime, content, objectId } = row;
  return { filename, mime, content: objectId === null ? content : await readWhole(context.objects, objectId) };
}

/** Opens a file as `find` does. Reading fails if the file expires or is erased while it is read. */
export async function open(
  context: Context,
  project: ProjectId,
  ticketId: string,
  fileId: string,
): Promise<OpenedFile | null> {
  function readFrom(offset: number) {
    return sql.readPiece.one<FilePiece>(context.db, { project, ticketId, fileId, from: offset + 1 });
  }
  const first = await readFrom(0);
  if (first === null) return null;
  const { filename, mime, sizeBytes } = first;
  /** Yields the rest of the file, wherever its content is by then. */
  async function* rest(row: FilePiece | null, sent: number): AsyncGenerator<Buffer> {
    if (row === null) throw deletedWhileRead();
    if (row.objectId === null) yield row.piece;
    else yield* readObject(context.objects, row.objectId, sent);
  }
  async function* pieces(start: FilePiece) {
    let sent = 0;
    for (let row: FilePiece | null = start; ; row = await readFrom(sent)) {
      const before = sent;
      for await (const piece of rest(row, sent)) {
        yield piece;
        sent += piece.length;
      }
      if (sent >= sizeBytes) return;
      if (sent === before) throw deletedWhileRead();
    }
  }
  return { filename, mime, sizeBytes, pieces: pieces(first) };
}

/**
 * Removes the contents of some files of the next project that are older than its `fileRetentionDays`; their
 * conversations show them as expired. Each project is processed once an hour. Returns how many files, and whether there
 * may be more to do; null if no project is due.
 */
export async function expire(
  context: Context,
): Promise<{ project: ProjectId; expired: number; isMore: boolean } | null> {
  const due = await sql.claimDueProject.one<{ id: string; days: number }>(context.db);
  if (due === null) return null;
  const [row] = await retryOnDeadlock(context.db, (tx) => sql.expireSome.all(tx, due));
  const isMore = row?.seen === EXPIRE_PAGE;
  if (isMore) await sql.repeatSoon.run(context.db, { id: due.id });
  return { project: asProjectId(due.id), expired: row?.expired ?? 0, isMore };
}

/** Deletes some unused files of all projects that are older than a day. Returns true if there may be more. */
export async function removeUnused(context: Context): Promise<boolean> {
  const row = await sql.sweep.one(context.db);
  return (row?.seen ?? 0) === SWEEP_PAGE;
}

const operatorFileSql = statements("tickets/operator-files", {
  operatorFileLimitsUnusedMaxBytes: OPERATOR_FILE_LIMITS.unusedMaxBytes,
  operatorFileLimitsUnusedHours: OPERATOR_FILE_LIMITS.unusedHours,
  sweepPage: SWEEP_PAGE,
});

/**
 * Stores a file of a ticket and returns its id; null if the unused files of the ticket are too large. Throws
 * storage_full.
 */
async function insertOperatorFile(
  context: Context,
  home: ProjectId,
  ticketId: string,
  { filename, mime, content }: FileContent,
): Promise<string | null> {
  await context.storedBytes.checkRoom(home, "operatorFiles", content.length);
  const row = await operatorFileSql.insert.one(context.db, {
    id: newId(),
    home,
    ticketId,
    filename,
    mime,
    content,
  });
  return row?.id ?? null;
}

/** Returns these files in this order; missing ones are skipped. */
async function readOperatorFile(
  context: Context,
  home: ProjectId,
  ticketId: string,
  ids: readonly string[],
): Promise<FileContent[]> {
  if (ids.length === 0) return [];
  return operatorFileSql.read.all<FileContent>(context.db, { home, ticketId, ids });
}

/** Deletes some unused operator files of all projects that are older than a day. Returns true if there may be more. */
const removeUnusedOperatorFiles = async (context: Context): Promise<boolean> =>
  (await operatorFileSql.sweep.all(context.db)).length === SWEEP_PAGE;

/**
 * Assigns files of a ticket to a decision, in its transaction. Returns false if one of them does not exist. Files of
 * another decision are allowed: either that one has failed, or its reply was sent and the file is deleted.
 */
export async function assignOperatorFiles(
  tx: Db,
  home: ProjectId,
  ticketId: string,
  ids: readonly string[],
): Promise<boolean> {
  if (ids.length === 0) return true;
  const count = await operatorFileSql.assignOperatorFiles.run(tx, { home, ticketId, ids });
  return count === ids.length;
}

const onOperatorFiles =
  (name: "releaseOperatorFiles" | "deleteOperatorFiles") =>
  async (tx: Db, home: ProjectId, ticketId: string, ids: readonly string[]): Promise<void> => {
    if (ids.length > 0) await operatorFileSql[name].run(tx, { home, ticketId, ids });
  };

/**
 * Releases files of an undeliverable reply that will not be sent again, in the transaction that records that: like
 * unused files, they are deleted after a day.
 */
export const releaseOperatorFiles = onOperatorFiles("releaseOperatorFiles");

/** Deletes files whose reply was sent, in the same transaction. */
export const deleteOperatorFiles = onOperatorFiles("deleteOperatorFiles");

/** Functions of `store.operatorFiles`. */
export const operatorFiles = {
  insert: insertOperatorFile,
  read: readOperatorFile,
  removeUnused: removeUnusedOperatorFiles,
};
