import type { Db, PageQuery } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { columnsOf, statements } from "../sql.ts";
import * as chunks from "./chunks.ts";
import type { IndexedChunks } from "./chunks.ts";
import { stem } from "./kb-index.ts";
import type { DocumentPostings } from "./postings.ts";
import { deleteQueuedIngests, putDocuments, reindexDocuments } from "./put-documents.ts";
import type { NewDocument, PreparedDocument, PutDocument } from "./put-documents.ts";

/** State of a document: queued, searchable, or failed (`error` has the reason). */
export type DocumentStatus = "queued" | "ready" | "failed";

/** A document of a knowledge base; its text is in its chunks. */
export interface KbDocument {
  id: string;
  kbId: string;
  /** Identifier in its source: path, URL or a chosen name, unique in its knowledge base. */
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

/** A document with its queued ingest, if any: then `error` is the reason why the last attempt failed. */
export interface DocumentState extends Omit<KbDocument, "language"> {
  /** ISO 639-1; null until it was read. */
  language: string | null;
}

/** The source of a document. */
export interface DocumentSource {
  /** Hash of the submitted content. */
  hash: Buffer;
  mime: string;
  sizeBytes: number;
}

/** The language of an unread document (ISO 639-2: undetermined). */
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

/** Prepares stems and postings, which take long, so that no transaction has to wait for them. */
export const prepare = async (db: Db, document: NewDocument, indexed: IndexedChunks): Promise<PreparedDocument> => ({
  document,
  indexed,
  postings: await post(db, document.textSearchConfig, indexed),
});

/** As `putDocument`, for documents with different keys, all in one transaction. */
async function putAll(
  db: Db,
  project: ProjectId,
  kbId: string,
  documents: readonly { document: NewDocument; indexed: IndexedChunks }[],
): Promise<PutDocument[]> {
  // Outside the transaction, since other writers to the same base wait for its end.
  const items: PreparedDocument[] = [];
  for (const { document, indexed } of documents) items.push(await prepare(db, document, indexed));
  return db.transaction((tx) => putDocuments(tx, project, kbId, items));
}

/** As `putDocument`, for a document that `prepare` has prepared. */
async function putPrepared(db: Db, project: ProjectId, kbId: string, item: PreparedDocument): Promise<PutDocument> {
  const [putDocument] = await db.transaction((tx) => putDocuments(tx, project, kbId, [item]));
  if (putDocument === undefined) throw new Error("the document was not stored");
  return putDocument;
}

/** Returns the ready document with this key if it has this hash, so that it need not be split again; otherwise null. */
const findUnchanged = (
  db: Db,
  project: ProjectId,
  kbId: string,
  { key, contentHash }: Pick<NewDocument, "key" | "contentHash">,
) => sql.findUnchanged.one<PutDocument>(db, { project, kbId, key, contentHash });

/** Returns documents of a knowledge base by title. */
const listDocuments = (db: Db, project: ProjectId, kbId: string) => sql.list.all<KbDocument>(db, { project, kbId });

/** Returns a document of a knowledge base of this project, or null. */
const findDocument = (db: Db, project: ProjectId, kbId: string, id: string) =>
  sql.find.one<DocumentState>(db, { project, kbId, id });

/**
 * Returns documents of a knowledge base, newest first: those created before the one with id `before`, with `q` in title
 * or key, and of one status.
 */
const listDocumentPage = (
  db: Db,
  project: ProjectId,
  kbId: string,
  { limit, before, q, status }: PageQuery & { status?: DocumentStatus | undefined },
) => sql.listPage.all<DocumentState>(db, { project, kbId, limit, before, q, status });

/** Returns the ready document with this key if it was read from a source with this hash, else null. */
export const findBySource = (db: Db, project: ProjectId, kbId: string, { key, hash }: { key: string; hash: Buffer }) =>
  sql.findBySource.one<PutDocument>(db, { project, kbId, key, hash });

/**
 * Records the source of the text with this hash, until another text is put. Has no effect if the document has another
 * text now.
 */
const recordSource = (
  db: Db,
  project: ProjectId,
  { id, contentHash }: { id: string; contentHash: Buffer },
  { hash, mime, sizeBytes }: DocumentSource,
) => sql.recordSource.exec(db, { project, id, contentHash, hash, mime, sizeBytes });

/** Drops the queued ingest of a document, because its present content is newer. */
const deleteQueuedIngest = (db: Db, project: ProjectId, id: string): Promise<void> =>
  db.transaction((tx) => deleteQueuedIngests(tx, project, [id]));

/**
 * Removes a document with its passages and queued ingests, in one transaction: a search finds all of it or nothing.
 * Returns false if the knowledge base has no document with this id.
 */
function removeDocument(db: Db, project: ProjectId, kbId: string, id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await sql.remove.run(tx, { project, kbId });
    const document = await sql.lockDocument.one(tx, { project, kbId, id });
    if (document === null) return false;
    const removed = await chunks.removeOfDocument(tx, kbId, id);
    await sql.deleteDocument.run(tx, { id });
    await sql.countRemoval.run(tx, { ...removed, kbId, documentCount: document.wasRead ? 1 : 0 });
    return true;
  });
}

/**
 * Puts a document with its chunks into a knowledge base, replacing the one with the same key and its queued ingests.
 * One transaction: a search finds the old document or the new one, never a mix. Throws `not_found` if this project has
 * no such knowledge base.
 */
const putDocument = async (
  db: Db,
  project: ProjectId,
  kbId: string,
  { document, indexed }: { document: NewDocument; indexed: IndexedChunks },
): Promise<PutDocument> => putPrepared(db, project, kbId, await prepare(db, document, indexed));

/** As `findUnchanged`, for many documents: for each, the document or null. */
async function findAllUnchanged(
  db: Db,
  project: ProjectId,
  kbId: string,
  documents: readonly Pick<NewDocument, "key" | "contentHash">[],
): Promise<(PutDocument | null)[]> {
  const rows = await sql.findAllUnchanged.all<PutDocument & { place: number }>(db, {
    ...columnsOf(documents, "key", "contentHash"),
    project,
    kbId,
  });
  const byPosition = new Map(rows.map(({ place: position, ...found }) => [position - 1, found]));
  return documents.map((_, position) => byPosition.get(position) ?? null);
}

/**
 * Returns documents of all projects whose postings are in an older format than `version`, in a fixed order, after
 * `after` if given.
 */
const findOutdated = (db: Db, version: number, limit: number, after: OutdatedDocument | null) =>
  sql.findOutdated.all<OutdatedDocument>(db, {
    version,
    limit,
    indexVersion: after?.indexVersion,
    id: after?.id,
  });

/**
 * Regenerates the postings of documents of one knowledge base from their passages; documents that have changed in the
 * meantime are skipped. One transaction; returns how many were indexed.
 */
async function indexAgain(
  db: Db,
  project: ProjectId,
  kbId: string,
  items: readonly { id: string; textSearchConfig: string; indexed: IndexedChunks }[],
): Promise<number> {
  const ready = await Promise.all(
    items.map(async (item) => ({ ...item, postings: await post(db, item.textSearchConfig, item.indexed) })),
  );
  return db.transaction((tx) => reindexDocuments(tx, project, kbId, ready));
}

/** Functions of `store.documents`. */
export const documents = {
  putAll,
  putPrepared,
  findUnchanged,
  list: listDocuments,
  find: findDocument,
  listPage: listDocumentPage,
  findBySource,
  recordSource,
  deleteQueuedIngest,
  remove: removeDocument,
  put: putDocument,
  findAllUnchanged,
  findOutdated,
  indexAgain,
  prepare,
};
