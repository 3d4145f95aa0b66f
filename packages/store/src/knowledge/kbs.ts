import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { updateVersioned } from "../db.ts";
import type { Db, UpdateResult, VersionedId, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import * as chunks from "./chunks.ts";
import { stem } from "./kb-index.ts";
import type { IndexedChunks } from "./chunks.ts";
import type { DocumentPostings } from "./postings.ts";
import { dropWaitingIn, indexAgainIn, putDocuments } from "./put-documents.ts";
import type { NewDocument, PreparedDocument, PutDocument } from "./put-documents.ts";

/** A knowledge base: documents that agents answer from. */
export interface Kb {
  id: string;
  name: string;
  /** Documents that were put into it; those that are not read yet are in `KbState`. */
  documentCount: number;
  chunkCount: number;
  /** Languages of its documents so far (ISO 639-1): a query is stemmed as each of them. */
  languages: string[];
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** A knowledge base with what is going on in it. */
export interface KbState {
  id: string;
  name: string;
  /** All its documents, those that wait and those that failed included. */
  documentCount: number;
  chunkCount: number;
  /** What waits to be read: documents, and sitemaps whose pages are not known yet. */
  queuedCount: number;
  failedCount: number;
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** What stands before the id in the name of a knowledge base that was deleted: longer than any name that is taken. */
const DELETED_PREFIX = "deleted ".padEnd(KB_LIMITS.nameMaxChars + 1, "-");

const sql = statements("knowledge/kbs", {
  deletedPrefix: DELETED_PREFIX,
});

/**
 * The steps of the removal of a knowledge base, each of which is repeated until it finds nothing more. Dependent rows
 * are deleted with their row. Nothing else writes to a deleted knowledge base, so these statements never wait.
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

/** Makes a knowledge base, or returns the one of this project that has this name. */
export async function ensure(db: Db, project: ProjectId, name: string): Promise<{ kb: Kb; created: boolean }> {
  const row = await sql.ensure.one<Kb>(db, { id: newId(), project, name });
  if (row !== null) return { kb: row, created: true };
  const existing = await sql.findByName.one<Kb>(db, { project, name });
  if (existing === null) throw new Error(`knowledge base ${name} disappeared while it was being created`);
  return { kb: existing, created: false };
}

/** Makes a knowledge base; null when the project has one of this name. */
export async function insert(db: Db, project: ProjectId, name: string): Promise<KbState | null> {
  const id = newId();
  const count = await sql.insert.run(db, { id, project, name });
  return count === 0 ? null : findState(db, project, id);
}

/** All knowledge bases of a project by name. */
export const list = (db: Db, project: ProjectId) => sql.list.all<Kb>(db, { project });

/**
 * Knowledge bases of a project, newest first: those made before the one with the id `before`, and with `q` in the
 * name.
 */
export const listPage = (db: Db, project: ProjectId, { limit, before, q }: PageQuery) =>
  sql.listPage.all<KbState>(db, { project, limit, before, q });

/** Those of these knowledge bases that this project has. Others are left out silently: a search sees only its own. */
export const findAll = (db: Db, project: ProjectId, ids: readonly string[]) =>
  sql.findAll.all<Kb>(db, { project, ids });

/**
 * Changes the name and raises the version, where `versions` has the present one or is null. Returns
 * the result; `state` is the present one when it is another version, null when the project has no such knowledge base.
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
 * Deletes a knowledge base, where `versions` has its present version or is null: nobody finds it from then on, its
 * name is free, and no agent has it any more. What is in it is removed by `purge`, so that this takes no longer
 * however large it is. False when there is none of these versions.
 */
export function remove(db: Db, project: ProjectId, { id, versions }: VersionedId): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await sql.remove.any(tx, { project, id, versions }))) return false;
    await sql.removeFromAgents.run(tx, { project, id });
    return true;
  });
}

/**
 * Removes some of what deleted knowledge bases of all projects held, in short transactions. True when there may be
 * more to remove.
 */
export function purge(db: Db): Promise<boolean> {
  return db.transaction(async (tx) => {
    const kb = await sql.purge.one<{ id: string }>(tx);
    if (kb === null) return false;
    for (const step of PURGE_STEPS) if ((await step.run(tx, { id: kb.id })) > 0) return true;
    return false;
  });
}

/** Locks a knowledge base against its deletion until the commit, and nobody else. Throws not_found. */
export async function holdKb(tx: Db, project: ProjectId, kbId: string): Promise<void> {
  if (!(await sql.holdKb.any(tx, { project, kbId })))
    throw new ServiceError("not_found", "No knowledge base with this ID exists in this project.");
}

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

/** Makes ready what takes long, stems and postings, so that a transaction need not wait for it. */
export const prepare = async (db: Db, document: NewDocument, indexed: IndexedChunks): Promise<PreparedDocument> => ({
  document,
  indexed,
  postings: await post(db, document.textSearchConfig, indexed),
});

/** As `putDocument` for documents of different keys at once, all in one transaction. */
async function putAll(
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

/** As `putDocument` for a document that `prepare` has made ready. */
async function putPrepared(db: Db, project: ProjectId, kbId: string, item: PreparedDocument): Promise<PutDocument> {
  const [putDocument] = await db.transaction((tx) => putDocuments(tx, project, kbId, [item]));
  if (putDocument === undefined) throw new Error("the document was not stored");
  return putDocument;
}

/** The ready document of this key if it has this hash, so that it need not be split again; otherwise null. */
const findUnchanged = (
  db: Db,
  project: ProjectId,
  kbId: string,
  { key, contentHash }: Pick<NewDocument, "key" | "contentHash">,
) => documentSql.findUnchanged.one<PutDocument>(db, { project, kbId, key, contentHash });

/** Documents of a knowledge base by title. */
const listDocuments = (db: Db, project: ProjectId, kbId: string) =>
  documentSql.list.all<KbDocument>(db, { project, kbId });

/** A document of a knowledge base of this project, or null. */
const findDocument = (db: Db, project: ProjectId, kbId: string, id: string) =>
  documentSql.find.one<DocumentState>(db, { project, kbId, id });

/**
 * Documents of a knowledge base, newest first: those made before the one with the id `before`, with `q` in title or
 * key, and of one status.
 */
const listDocumentPage = (
  db: Db,
  project: ProjectId,
  kbId: string,
  { limit, before, q, status }: PageQuery & { status?: DocumentStatus | undefined },
) => documentSql.listPage.all<DocumentState>(db, { project, kbId, limit, before, q, status });

/** The ready document of this key if it was read from a source with this hash, else null. */
export const findBySource = (db: Db, project: ProjectId, kbId: string, { key, hash }: { key: string; hash: Buffer }) =>
  documentSql.findBySource.one<PutDocument>(db, { project, kbId, key, hash });

/**
 * Notes what the text with this hash was read from; it holds until another text is putDocument. Does nothing when the
 * document has another text by now.
 */
const noteSource = (
  db: Db,
  project: ProjectId,
  { id, contentHash }: { id: string; contentHash: Buffer },
  { hash, mime, sizeBytes }: DocumentSource,
) => documentSql.noteSource.exec(db, { project, id, contentHash, hash, mime, sizeBytes });

/** Drops what waits to be read for a document, because what it has now is newer. */
const dropWaiting = (db: Db, project: ProjectId, id: string): Promise<void> =>
  db.transaction((tx) => dropWaitingIn(tx, project, [id]));

/**
 * Removes a document with its passages and what waits to be read for it. One transaction: a search finds all of it
 * or nothing. False when the knowledge base has none of this id.
 */
function removeDocument(db: Db, project: ProjectId, kbId: string, id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await documentSql.remove.run(tx, { project, kbId });
    const document = await documentSql.lockDocument.one<{ wasRead: boolean }>(tx, { project, kbId, id });
    if (document === null) return false;
    const removed = await chunks.removeOfDocument(tx, kbId, id);
    await documentSql.deleteDocument.run(tx, { id });
    await documentSql.countRemoval.run(tx, {
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
const putDocument = async (
  db: Db,
  project: ProjectId,
  kbId: string,
  { document, indexed }: { document: NewDocument; indexed: IndexedChunks },
): Promise<PutDocument> => putPrepared(db, project, kbId, await prepare(db, document, indexed));

/** As `findUnchanged` for many documents at once: of each, or null. */
async function findAllUnchanged(
  db: Db,
  project: ProjectId,
  kbId: string,
  documents: readonly Pick<NewDocument, "key" | "contentHash">[],
): Promise<(PutDocument | null)[]> {
  const rows = await documentSql.findAllUnchanged.all<PutDocument & { place: number }>(db, {
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
const findOutdated = (db: Db, version: number, limit: number, after: OutdatedDocument | null) =>
  documentSql.findOutdated.all<OutdatedDocument>(db, {
    version,
    limit,
    indexVersion: after?.indexVersion,
    id: after?.id,
  });

/**
 * Makes the postings of documents of one knowledge base again, from their passages as they were read; one that has
 * changed meanwhile is left out. One transaction; returns how many were indexed.
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
  return db.transaction((tx) => indexAgainIn(tx, project, kbId, ready));
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
  noteSource,
  dropWaiting,
  remove: removeDocument,
  put: putDocument,
  findAllUnchanged,
  findOutdated,
  indexAgain,
  prepare,
};
