import { ServiceError } from "@svc/contracts";
import * as chunks from "./chunks.ts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { addPostings, addWords, loadKbIndex, markDead, numberChunks, saveKbIndex, tidyIndex } from "./kb-index.ts";
import type { KbIndex } from "./kb-index.ts";
import type { DocumentPostings } from "./postings.ts";
import { checkDocuments } from "../platform/quotas.ts";
import { columnsOf, statements } from "../sql.ts";

const sql = statements("knowledge/put-documents");

/** A document to put into a knowledge base. */
export interface NewDocument {
  key: string;
  title: string;
  url: string | null;
  mime: string;
  sizeBytes: number;
  /** Hash of the source of the chunks: documents with the same hash need no update. */
  contentHash: Buffer;
  language: string;
  /** Postgres's text search configuration of the language, as in `english`, or `simple`. */
  textSearchConfig: string;
}

/** Result of putting a document. */
export interface PutDocument {
  documentId: string;
  status: "added" | "changed" | "unchanged";
  chunkCount: number;
}

/** A document with its passages and their postings. */
export interface PreparedDocument {
  document: NewDocument;
  indexed: IndexedChunks;
  postings: DocumentPostings;
}

interface ExistingRow {
  id: string;
  key: string;
  chunkCount: number;
  /** False while it is queued, and if it could never be read: it is not included in the counts of the base. */
  wasRead: boolean;
  isSame: boolean;
}

/**
 * Puts documents with different keys into a knowledge base, each replacing the one with the same key, and returns the
 * result of each. Part of a transaction that locks the base until its end: writers to one base are serialized, which
 * keeps its counts correct and avoids deadlocks. Searches are not blocked. Throws `not_found` if this project has no
 * such knowledge base.
 */
export async function putDocuments(
  tx: Db,
  project: ProjectId,
  kbId: string,
  items: readonly PreparedDocument[],
): Promise<PutDocument[]> {
  const index = await lockKb(tx, project, kbId);
  const existing = await findExisting(tx, project, kbId, items);
  const changed = items
    .filter(({ document }) => existing.get(document.key)?.isSame !== true)
    .map((item) => ({
      ...item,
      id: existing.get(item.document.key)?.id ?? newId(),
      first: numberChunks(index, item.indexed.chunks.length),
      termCount: item.indexed.chunks.reduce((sum, chunk) => sum + chunk.termCount, 0),
    }));
  if (changed.length > 0) {
    const replaced = changed.filter(({ document }) => existing.get(document.key)?.wasRead === true).map(({ id }) => id);
    const removed = await removeReplaced(tx, index, replaced);
    await writeDocuments(tx, project, kbId, changed);
    await checkDocuments(tx, project);
    await deleteQueuedIngests(
      tx,
      project,
      changed.map(({ id }) => id),
    );
    await chunks.insert(
      tx,
      project,
      kbId,
      changed.map(({ id, indexed }) => ({ id, chunks: indexed.chunks })),
    );
    await writeIndex(tx, index, changed);
    await tidyIndex(tx, index);
    await saveKbIndex(tx, index);
    const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
    await sql.countChanges.run(tx, {
      kbId,
      documents: changed.length - replaced.length,
      chunks: sumOf(changed.map(({ indexed }) => indexed.chunks.length)) - removed.chunkCount,
      terms: sumOf(changed.map(({ termCount }) => termCount)) - removed.termCount,
      languages: [...new Set(changed.map(({ document }) => document.language))],
    });
  }
  const idOf = new Map(changed.map(({ id, document }) => [document.key, id]));
  return items.map(({ document, indexed }): PutDocument => {
    const before = existing.get(document.key);
    if (before?.isSame === true) {
      return { documentId: before.id, status: "unchanged", chunkCount: before.chunkCount };
    }
    return {
      documentId: idOf.get(document.key) ?? "",
      status: before?.wasRead === true ? "changed" : "added",
      chunkCount: indexed.chunks.length,
    };
  });
}

/** A document whose postings are regenerated from its passages. */
export interface DocumentToIndex {
  id: string;
  indexed: IndexedChunks;
  postings: DocumentPostings;
}

/**
 * Renumbers passages from 0, as postings require; the first version started at 1. In two steps, because of the unique
 * constraint. Locks the passages that it changes; the caller has locked the knowledge base.
 */
async function numberFromZero(tx: Db, documentIds: readonly string[]): Promise<void> {
  await sql.hideOldNumbers.run(tx, { documentIds });
  await sql.numberFromZero.run(tx, { documentIds });
}

/**
 * Regenerates the postings of documents, from the passages that they had when they were read. Documents that have
 * changed since then, or that another process has indexed, are skipped. Part of one transaction; returns how many were
 * indexed.
 */
export async function reindexDocuments(
  tx: Db,
  project: ProjectId,
  kbId: string,
  items: readonly DocumentToIndex[],
): Promise<number> {
  const index = await lockKb(tx, project, kbId);
  const rows = await sql.lockUnchanged.all(tx, {
    kbId,
    id: items.map(({ id }) => id),
    version: items.map(({ indexed }) => indexed.version),
    chunkCount: items.map(({ indexed }) => indexed.chunks.length),
  });
  const outdated = new Set(rows.map(({ id }) => id));
  const changed = items
    .filter(({ id }) => outdated.has(id))
    .map((item) => ({
      ...item,
      first: numberChunks(index, item.indexed.chunks.length),
      termCount: item.indexed.chunks.reduce((sum, chunk) => sum + chunk.termCount, 0),
    }));
  const ids = changed.map(({ id }) => id);
  markDead(index, await chunks.rangesOf(tx, ids));
  await sql.deleteTerms.run(tx, { ids });
  await numberFromZero(tx, ids);
  await sql.saveTermCounts.run(tx, {
    documentId: changed.flatMap(({ id, indexed }) => indexed.chunks.map(() => id)),
    ordinal: changed.flatMap(({ indexed }) => indexed.chunks.map((_, ordinal) => ordinal)),
    termCount: changed.flatMap(({ indexed }) => indexed.chunks.map(({ termCount }) => termCount)),
  });
  await sql.savePlaces.run(tx, {
    ...columnsOf(changed, "first", "termCount"),
    id: ids,
    version: changed.map(({ indexed }) => indexed.version),
  });
  await writeIndex(tx, index, changed);
  await tidyIndex(tx, index);
  await saveKbIndex(tx, index);
  await sql.sumTerms.run(tx, { kbId });
  return changed.length;
}

async function lockKb(tx: Db, project: ProjectId, kbId: string): Promise<KbIndex> {
  const count = await sql.lockKb.run(tx, { project, kbId });
  const index = count === 0 ? null : await loadKbIndex(tx, kbId);
  if (index === null) throw new ServiceError("not_found", "No knowledge base with this ID exists in this project.");
  return index;
}

async function findExisting(
  tx: Db,
  project: ProjectId,
  kbId: string,
  items: readonly PreparedDocument[],
): Promise<Map<string, ExistingRow>> {
  const rows = await sql.findExisting.all<ExistingRow>(tx, {
    project,
    kbId,
    key: items.map(({ document }) => document.key),
    contentHash: items.map(({ document }) => document.contentHash),
  });
  return new Map(rows.map((row) => [row.key, row]));
}

async function removeReplaced(
  tx: Db,
  index: KbIndex,
  ids: readonly string[],
): Promise<{ chunkCount: number; termCount: number }> {
  if (ids.length === 0) return { chunkCount: 0, termCount: 0 };
  markDead(index, await chunks.rangesOf(tx, ids));
  const row = await sql.deleteChunks.one(tx, { ids });
  return { chunkCount: row?.chunkCount ?? 0, termCount: row?.termCount ?? 0 };
}

type NumberedItem = PreparedDocument & { id: string; first: number | null; termCount: number };

/** A replaced document keeps its id, and with it the links to it. */
async function writeDocuments(
  tx: Db,
  project: ProjectId,
  kbId: string,
  numbered: readonly NumberedItem[],
): Promise<void> {
  // In the order of keys, in which submitted documents are locked too.
  const items = numbered.toSorted((a, b) => (a.document.key < b.document.key ? -1 : 1));
  const documents = items.map(({ document }) => document);
  await sql.writeDocuments.run(tx, {
    ...columnsOf(items, "id", "first", "termCount"),
    ...columnsOf(documents, "key", "title", "url", "mime", "sizeBytes", "contentHash", "language"),
    project,
    kbId,
    chunkCount: items.map(({ indexed }) => indexed.chunks.length),
    version: items.map(({ indexed }) => indexed.version),
  });
}

async function writeIndex(
  tx: Db,
  index: KbIndex,
  items: readonly { first: number | null; postings: DocumentPostings }[],
): Promise<void> {
  await addPostings(tx, index, items);
  await addWords(
    tx,
    index,
    items.flatMap(({ postings }) => postings.words),
  );
}

/** Drops queued ingests of documents that a newer version replaces. Their workers lose their leases. */
export const deleteQueuedIngests = (tx: Db, project: ProjectId, documentIds: readonly string[]) =>
  sql.deleteQueuedIngests.exec(tx, { project, documentIds });
