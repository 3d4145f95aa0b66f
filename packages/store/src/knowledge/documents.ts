import * as chunks from "./chunks.ts";
import { stem } from "./kb-index.ts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { DocumentPostings } from "./postings.ts";
import { dropWaitingIn, indexAgainIn, putDocuments } from "./put-documents.ts";
import type { PreparedDocument } from "./put-documents.ts";
import { statements } from "../sql.ts";

/** State of a document: it waits for its ingestion, can be found, or could not be read (`error` says why). */
export type DocumentStatus = "queued" | "ready" | "failed";

/** A document of a knowledge base; its text lies in its chunks. */
export interface KbDocument {
  id: string;
  kbId: string;
  /** What its source calls it: path, URL or a chosen name, unique in its knowledge base. */
  key: string;
  title: string;
  url: string | null;
  mime: string;
  sizeBytes: number;
  /** ISO 639-1. */
  language: string;
  status: DocumentStatus;
  error: string | null;
  chunkCount: number;
  updatedAt: Date;
}

/** A document with what waits to be read for it: while anything does, `error` is why the last try to read it failed. */
export interface DocumentState extends Omit<KbDocument, "language"> {
  /** ISO 639-1; null until it was read for the first time. */
  language: string | null;
}

/** What a document was read from. */
export interface DocumentSource {
  /** Hash of all that was handed in. */
  hash: Buffer;
  mime: string;
  sizeBytes: number;
}

/** A document as it is put into a knowledge base. */
export interface NewDocument {
  key: string;
  title: string;
  url: string | null;
  mime: string;
  sizeBytes: number;
  /** Hash of all that the chunks are made from: the same hash means that there is nothing to do. */
  contentHash: Buffer;
  language: string;
  /** Postgres's text search configuration of the language, as in `english`, or `simple`. */
  textSearchConfig: string;
}

/** What a put did. */
export interface PutDocument {
  documentId: string;
  status: "added" | "changed" | "unchanged";
  chunkCount: number;
}

/** The language of a document that was not read yet (ISO 639-2: undetermined). */
export const UNREAD_LANGUAGE = "und";

const sql = statements("knowledge/documents", { unreadLanguage: UNREAD_LANGUAGE });

/** A document whose postings are to be regenerated. */
export interface OutdatedDocument {
  id: string;
  project: ProjectId;
  kbId: string;
  title: string;
  /** ISO 639-1. */
  language: string;
  chunkCount: number;
  indexVersion: number;
}

function post(db: Db, config: string, indexed: IndexedChunks): Promise<DocumentPostings> {
  return indexed.post(async (words) => {
    const stems = await stem(db, config, words);
    return words.map((word) => stems.get(word) ?? word);
  });
}

/** Makes ready what takes long, stems and postings, so that a transaction need not wait for it. */
export async function prepare(db: Db, document: NewDocument, indexed: IndexedChunks): Promise<PreparedDocument> {
  return { document, indexed, postings: await post(db, document.textSearchConfig, indexed) };
}

/** As `put` for documents of different keys at once, all in one transaction. */
export async function putAll(
  db: Db,
  project: ProjectId,
  kbId: string,
  documents: readonly { document: NewDocument; indexed: IndexedChunks }[],
): Promise<PutDocument[]> {
  // Outside the transaction, since a process that puts into the same base waits for its end.
  const items: PreparedDocument[] = [];
  for (const { document, indexed } of documents) items.push(await prepare(db, document, indexed));
  return db.transaction((tx) => putDocuments(tx, project, kbId, items));
}

/** As `put` for a document that `prepare` has made ready. */
export async function putPrepared(
  db: Db,
  project: ProjectId,
  kbId: string,
  item: PreparedDocument,
): Promise<PutDocument> {
  const [put] = await db.transaction((tx) => putDocuments(tx, project, kbId, [item]));
  if (put === undefined) throw new Error("the document was not stored");
  return put;
}

async function findUnchangedIn(
  on: Db,
  project: ProjectId,
  kbId: string,
  document: Pick<NewDocument, "key" | "contentHash">,
): Promise<PutDocument | null> {
  const row = await sql.findUnchanged.one<{ id: string; chunkCount: number }>(on, {
    project,
    kbId,
    key: document.key,
    contentHash: document.contentHash,
  });
  return row === null ? null : { documentId: row.id, status: "unchanged", chunkCount: row.chunkCount };
}

/** Documents of a knowledge base by title. */
export async function list(db: Db, project: ProjectId, kbId: string): Promise<KbDocument[]> {
  return sql.list.all<KbDocument>(db, { project, kbId });
}

/** A document of a knowledge base of this project, or null. */
export async function find(db: Db, project: ProjectId, kbId: string, id: string): Promise<DocumentState | null> {
  const row = await sql.find.one<DocumentState>(db, { project, kbId, id });
  return row;
}

/**
 * Documents of a knowledge base, newest first: those made before the one with the id `before`, with `q` in title or
 * key, and of one status.
 */
export async function listPage(
  db: Db,
  project: ProjectId,
  kbId: string,
  options: {
    limit: number;
    before?: string | undefined;
    q?: string | undefined;
    status?: DocumentStatus | undefined;
  },
): Promise<DocumentState[]> {
  const rows = await sql.listPage.all<DocumentState>(db, {
    project,
    kbId,
    limit: options.limit,
    id: options.before,
    q: options.q,
    status: options.status,
  });
  return rows;
}

/** The ready document of this key if it was read from a source with this hash, else null. */
export async function findBySource(
  db: Db,
  project: ProjectId,
  kbId: string,
  key: string,
  hash: Buffer,
): Promise<PutDocument | null> {
  const row = await sql.findBySource.one<{ id: string; chunkCount: number }>(db, { project, kbId, key, hash });
  return row === null ? null : { documentId: row.id, status: "unchanged", chunkCount: row.chunkCount };
}

/**
 * Notes what the text with this hash was read from; it holds until another text is put. Does nothing when the
 * document has another text by now.
 */
export async function noteSource(
  db: Db,
  project: ProjectId,
  id: string,
  contentHash: Buffer,
  source: DocumentSource,
): Promise<void> {
  await sql.noteSource.run(db, {
    project,
    id,
    contentHash,
    hash: source.hash,
    mime: source.mime,
    sizeBytes: source.sizeBytes,
  });
}

/** Drops what waits to be read for a document, because what it has now is newer. */
export const dropWaiting = (db: Db, project: ProjectId, id: string): Promise<void> =>
  db.transaction((tx) => dropWaitingIn(tx, project, [id]));

/**
 * Removes a document with its passages and what waits to be read for it. One transaction: a search finds all of it
 * or nothing. False when the knowledge base has none of this id.
 */
export function remove(db: Db, project: ProjectId, kbId: string, id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await sql.remove.run(tx, { project, kbId });
    const document = await sql.lockDocument.one<{ wasRead: boolean }>(tx, { project, kbId, id });
    if (document === null) return false;
    const removed = await chunks.removeOfDocument(tx, kbId, id);
    await sql.deleteDocument.run(tx, { id });
    await sql.countRemoval.run(tx, {
      kbId,
      documentCount: document.wasRead ? 1 : 0,
      chunkCount: removed.chunkCount,
      termCount: removed.termCount,
    });
    return true;
  });
}

/** The ready document of this key if it has this hash, so that it need not be cut again; else null. */
export const findUnchanged = (
  db: Db,
  project: ProjectId,
  kbId: string,
  document: Pick<NewDocument, "key" | "contentHash">,
): Promise<PutDocument | null> => findUnchangedIn(db, project, kbId, document);

/**
 * Puts a document with its chunks into a knowledge base, in place of the one with the same key and of what waits to
 * be read for it. One transaction: a search sees the old document or the new one, never half of it. Throws `not_found`
 * when this project has no such knowledge base.
 */
export async function put(
  db: Db,
  project: ProjectId,
  kbId: string,
  document: NewDocument,
  indexed: IndexedChunks,
): Promise<PutDocument> {
  return putPrepared(db, project, kbId, await prepare(db, document, indexed));
}

/** As `findUnchanged` for many documents at once: of each, or null. */
export async function findAllUnchanged(
  db: Db,
  project: ProjectId,
  kbId: string,
  documents: readonly Pick<NewDocument, "key" | "contentHash">[],
): Promise<(PutDocument | null)[]> {
  const rows = await sql.findAllUnchanged.all<{ place: number; id: string; chunkCount: number }>(db, {
    project,
    kbId,
    key: documents.map(({ key }) => key),
    contentHash: documents.map(({ contentHash }) => contentHash),
  });
  const byPlace = new Map(rows.map((row) => [row.place - 1, row]));
  return documents.map((_, place) => {
    const row = byPlace.get(place);
    return row === undefined ? null : { documentId: row.id, status: "unchanged", chunkCount: row.chunkCount };
  });
}

/**
 * Documents of all projects whose postings were made in an older way than `version`, in one order, those after
 * `after` if that is given.
 */
export async function findOutdated(
  db: Db,
  version: number,
  limit: number,
  after: OutdatedDocument | null,
): Promise<OutdatedDocument[]> {
  const rows = await sql.findOutdated.all<{
    id: string;
    projectId: string;
    kbId: string;
    title: string;
    language: string;
    chunkCount: number;
    indexVersion: number;
  }>(db, { version, limit, indexVersion: after?.indexVersion, id: after?.id });
  return rows.map((row) => ({
    id: row.id,
    project: asProjectId(row.projectId),
    kbId: row.kbId,
    title: row.title,
    language: row.language,
    chunkCount: row.chunkCount,
    indexVersion: row.indexVersion,
  }));
}

/**
 * Makes the postings of documents of one knowledge base again, from their passages as they were read; one that has
 * changed meanwhile is left out. One transaction; returns how many were indexed.
 */
export async function indexAgain(
  db: Db,
  project: ProjectId,
  kbId: string,
  items: readonly { id: string; textSearchConfig: string; indexed: IndexedChunks }[],
): Promise<number> {
  const ready = await Promise.all(
    items.map(async (item) => ({ ...item, postings: await post(db, item.textSearchConfig, item.indexed) })),
  );
  return db.transaction((tx) => indexAgainIn(tx, project, kbId, ready));
}
