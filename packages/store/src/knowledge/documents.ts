import * as chunks from "./chunks.ts";
import { stem } from "./kb-index.ts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db, PageQuery } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import type { DocumentPostings } from "./postings.ts";
import { dropWaitingIn, indexAgainIn, putDocuments } from "./put-documents.ts";
import type { NewDocument, PreparedDocument, PutDocument } from "./put-documents.ts";
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
export const prepare = async (db: Db, document: NewDocument, indexed: IndexedChunks): Promise<PreparedDocument> => ({
  document,
  indexed,
  postings: await post(db, document.textSearchConfig, indexed),
});

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

/** The ready document of this key if it has this hash, so that it need not be split again; otherwise null. */
export const findUnchanged = (
  db: Db,
  project: ProjectId,
  kbId: string,
  { key, contentHash }: Pick<NewDocument, "key" | "contentHash">,
) => sql.findUnchanged.one<PutDocument>(db, { project, kbId, key, contentHash });

/** Documents of a knowledge base by title. */
export const list = (db: Db, project: ProjectId, kbId: string) => sql.list.all<KbDocument>(db, { project, kbId });

/** A document of a knowledge base of this project, or null. */
export const find = (db: Db, project: ProjectId, kbId: string, id: string) =>
  sql.find.one<DocumentState>(db, { project, kbId, id });

/**
 * Documents of a knowledge base, newest first: those made before the one with the id `before`, with `q` in title or
 * key, and of one status.
 */
export const listPage = (
  db: Db,
  project: ProjectId,
  kbId: string,
  { limit, before, q, status }: PageQuery & { status?: DocumentStatus | undefined },
) => sql.listPage.all<DocumentState>(db, { project, kbId, limit, before, q, status });

/** The ready document of this key if it was read from a source with this hash, else null. */
export const findBySource = (db: Db, project: ProjectId, kbId: string, { key, hash }: { key: string; hash: Buffer }) =>
  sql.findBySource.one<PutDocument>(db, { project, kbId, key, hash });

/**
 * Notes what the text with this hash was read from; it holds until another text is put. Does nothing when the
 * document has another text by now.
 */
export const noteSource = (
  db: Db,
  project: ProjectId,
  { id, contentHash }: { id: string; contentHash: Buffer },
  { hash, mime, sizeBytes }: DocumentSource,
) => sql.noteSource.exec(db, { project, id, contentHash, hash, mime, sizeBytes });

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

/**
 * Puts a document with its chunks into a knowledge base, in place of the one with the same key and of what waits to
 * be read for it. One transaction: a search sees the old document or the new one, never half of it. Throws `not_found`
 * when this project has no such knowledge base.
 */
export const put = async (
  db: Db,
  project: ProjectId,
  kbId: string,
  { document, indexed }: { document: NewDocument; indexed: IndexedChunks },
): Promise<PutDocument> => putPrepared(db, project, kbId, await prepare(db, document, indexed));

/** As `findUnchanged` for many documents at once: of each, or null. */
export async function findAllUnchanged(
  db: Db,
  project: ProjectId,
  kbId: string,
  documents: readonly Pick<NewDocument, "key" | "contentHash">[],
): Promise<(PutDocument | null)[]> {
  const rows = await sql.findAllUnchanged.all<PutDocument & { place: number }>(db, {
    project,
    kbId,
    key: documents.map(({ key }) => key),
    contentHash: documents.map(({ contentHash }) => contentHash),
  });
  const byPosition = new Map(rows.map(({ place: position, ...found }) => [position - 1, found]));
  return documents.map((_, position) => byPosition.get(position) ?? null);
}

/**
 * Documents of all projects whose postings were made in an older way than `version`, in one order, those after
 * `after` if that is given.
 */
export const findOutdated = (db: Db, version: number, limit: number, after: OutdatedDocument | null) =>
  sql.findOutdated.all<OutdatedDocument>(db, {
    version,
    limit,
    indexVersion: after?.indexVersion,
    id: after?.id,
  });

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
