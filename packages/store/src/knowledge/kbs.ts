import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { updateVersioned } from "../db.ts";
import type { Db, UpdateResult, VersionedId, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { columnsOf, statements } from "../sql.ts";
import * as chunks from "./chunks.ts";
import { stem } from "./kb-index.ts";
import type { IndexedChunks } from "./chunks.ts";
import type { DocumentPostings } from "./postings.ts";
import { deleteQueuedIngests, reindexDocuments, putDocuments } from "./put-documents.ts";
import type { NewDocument, PreparedDocument, PutDocument } from "./put-documents.ts";

/** A knowledge base: documents that agents answer from. */
export interface Kb {
  id: string;
  name: string;
  /** Number of documents that were read; unread ones are in `KbState`. */
  documentCount: number;
  chunkCount: number;
  /** Languages of its documents so far (ISO 639-1): a query is stemmed as each of them. */
  languages: string[];
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** A knowledge base with the state of its documents. */
export interface KbState {
  id: string;
  name: string;
  /** All its documents, including queued and failed ones. */
  documentCount: number;
  chunkCount: number;
  /** Queued documents, and sitemaps whose pages are not known yet. */
  queuedCount: number;
  failedCount: number;
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** Prefix of the name of a deleted knowledge base, before its id: longer than any valid name. */
const DELETED_PREFIX = "deleted ".padEnd(KB_LIMITS.nameMaxChars + 1, "-");

const sql = statements("knowledge/kbs", {
  deletedPrefix: DELETED_PREFIX,
});

/**
 * Steps of removing a knowledge base, each repeated until it finds nothing. Dependent rows are deleted with their row.
 * Nothing else writes to a deleted knowledge base, so these statements never wait.
 */
const PURGE_STEPS = [
  sql.purgeIngests,
  sql.purgeDocuments,
  sql.purgeArticleImages,
  sql.purgeArticles,
  sql.purgePostings,
  sql.purgeWords,
  sql.purgeTerms,
  sql.purgeSelf,
] as const;

/** Returns a knowledge base, or null if the project has none with this id. */
export const findState = (db: Db, project: ProjectId, id: string) => sql.findState.one<KbState>(db, { project, id });

/** Creates a knowledge base, or returns the one of this project with this name. */
export async function ensure(db: Db, project: ProjectId, name: string): Promise<{ kb: Kb; created: boolean }> {
  const row = await sql.ensure.one<Kb>(db, { id: newId(), project, name });
  if (row !== null) return { kb: row, created: true };
  const existing = await sql.findByName.one<Kb>(db, { project, name });
  if (existing === null) throw new Error(`knowledge base ${name} disappeared while it was being created`);
  return { kb: existing, created: false };
}

/** Creates a knowledge base; null if the project has one with this name. */
export async function insert(db: Db, project: ProjectId, name: string): Promise<KbState | null> {
  const id = newId();
  const count = await sql.insert.run(db, { id, project, name });
  return count === 0 ? null : findState(db, project, id);
}

/** Returns all knowledge bases of a project by name. */
export const list = (db: Db, project: ProjectId) => sql.list.all<Kb>(db, { project });

/**
 * Returns knowledge bases of a project, newest first: those created before the one with id `before`, and with `q` in
 * the name.
 */
export const listPage = (db: Db, project: ProjectId, { limit, before, q }: PageQuery) =>
  sql.listPage.all<KbState>(db, { project, limit, before, q });

/** Returns those of these knowledge bases that this project has; others are silently skipped. */
export const findAll = (db: Db, project: ProjectId, ids: readonly string[]) =>
  sql.findAll.all<Kb>(db, { project, ids });

/**
 * Changes the name and raises the version, if `versions` contains the current one or is null. Returns the result;
 * `state` is the current one if it has another version, null if the project has no such knowledge base.
 */
export async function update(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  change: { name?: string | undefined },
): Promise<{ result: UpdateResult; state: KbState | null }> {
  const result = await updateVersioned(() => sql.update.run(db, { project, id, name: change.name, versions }));
  return { result, state: await findState(db, project, id) };
}

/**
 * Deletes a knowledge base, if `versions` contains its current version or is null: it can no longer be found, its name
 * is free, and agents lose it. `purge` removes its content, so that this is fast for any size. Returns false if there
 * is none of these versions.
 */
export function remove(db: Db, project: ProjectId, { id, versions }: VersionedId): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await sql.remove.any(tx, { project, id, versions }))) return false;
    await sql.removeFromAgents.run(tx, { project, id });
    return true;
  });
}

/**
 * Removes a part of the content of deleted knowledge bases of all projects, in short transactions. Returns true if
 * there may be more to remove.
 */
export function purge(db: Db): Promise<boolean> {
  return db.transaction(async (tx) => {
    const kb = await sql.purge.one(tx);
    if (kb === null) return false;
    for (const step of PURGE_STEPS) if ((await step.run(tx, { id: kb.id })) > 0) return true;
    return false;
  });
}

/** Locks a knowledge base against its deletion until the commit, without excluding others. Throws not_found. */
export async function holdKb(tx: Db, project: ProjectId, kbId: string): Promise<void> {
  if (!(await sql.holdKb.any(tx, { project, kbId })))
    throw new ServiceError("not_found", "No knowledge base with this ID exists in this project.");
}

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

const documentSql = statements("knowledge/documents", { unreadLanguage: UNREAD_LANGUAGE });

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
) => documentSql.findUnchanged.one<PutDocument>(db, { project, kbId, key, contentHash });

/** Returns documents of a knowledge base by title. */
const listDocuments = (db: Db, project: ProjectId, kbId: string) =>
  documentSql.list.all<KbDocument>(db, { project, kbId });

/** Returns a document of a knowledge base of this project, or null. */
const findDocument = (db: Db, project: ProjectId, kbId: string, id: string) =>
  documentSql.find.one<DocumentState>(db, { project, kbId, id });

/**
 * Returns documents of a knowledge base, newest first: those created before the one with id `before`, with `q` in title
 * or key, and of one status.
 */
const listDocumentPage = (
  db: Db,
  project: ProjectId,
  kbId: string,
  { limit, before, q, status }: PageQuery & { status?: DocumentStatus | undefined },
) => documentSql.listPage.all<DocumentState>(db, { project, kbId, limit, before, q, status });

/** Returns the ready document with this key if it was read from a source with this hash, else null. */
export const findBySource = (db: Db, project: ProjectId, kbId: string, { key, hash }: { key: string; hash: Buffer }) =>
  documentSql.findBySource.one<PutDocument>(db, { project, kbId, key, hash });

/**
 * Records the source of the text with this hash, until another text is put. Has no effect if the document has another
 * text now.
 */
const recordSource = (
  db: Db,
  project: ProjectId,
  { id, contentHash }: { id: string; contentHash: Buffer },
  { hash, mime, sizeBytes }: DocumentSource,
) => documentSql.recordSource.exec(db, { project, id, contentHash, hash, mime, sizeBytes });

/** Drops the queued ingest of a document, because its present content is newer. */
const deleteQueuedIngest = (db: Db, project: ProjectId, id: string): Promise<void> =>
  db.transaction((tx) => deleteQueuedIngests(tx, project, [id]));

/**
 * Removes a document with its passages and queued ingests, in one transaction: a search finds all of it or nothing.
 * Returns false if the knowledge base has no document with this id.
 */
function removeDocument(db: Db, project: ProjectId, kbId: string, id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await documentSql.remove.run(tx, { project, kbId });
    const document = await documentSql.lockDocument.one(tx, { project, kbId, id });
    if (document === null) return false;
    const removed = await chunks.removeOfDocument(tx, kbId, id);
    await documentSql.deleteDocument.run(tx, { id });
    await documentSql.countRemoval.run(tx, { ...removed, kbId, documentCount: document.wasRead ? 1 : 0 });
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
  const rows = await documentSql.findAllUnchanged.all<PutDocument & { place: number }>(db, {
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
  documentSql.findOutdated.all<OutdatedDocument>(db, {
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
