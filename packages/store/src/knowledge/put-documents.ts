import { ServiceError } from "@svc/contracts";
import { chunksTable, rangesOf } from "./chunks.ts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db } from "../db.ts";
import type { NewDocument, PutDocument } from "./documents.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { addPostings, addWords, loadKbIndex, markDead, numberChunks, saveKbIndex, tidyIndex } from "./kb-index.ts";
import type { KbIndex } from "./kb-index.ts";
import type { DocumentPostings } from "./postings.ts";

/** A document with its passages and their postings. */
export interface PreparedDocument {
  document: NewDocument;
  indexed: IndexedChunks;
  postings: DocumentPostings;
}

interface ExistingRow {
  id: string;
  key: string;
  chunk_count: number;
  /** False while it only waits to be read, and when it could never be: the counts of the base are without it. */
  was_read: boolean;
  is_same: boolean;
}

/**
 * Puts documents of different keys into a knowledge base, each in place of the one with the same key, and answers what
 * became of each. Part of one transaction, which holds the lock on the base until its end: writers to one base take
 * turns, so that its counts are right and two writers cannot wait for each other. Searches are not held up. Throws
 * `not_found` when this project has no such knowledge base.
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
    .filter(({ document }) => existing.get(document.key)?.is_same !== true)
    .map((item) => ({
      ...item,
      id: existing.get(item.document.key)?.id ?? newId(),
      first: numberChunks(index, item.indexed.chunks.length),
      termCount: item.indexed.chunks.reduce((sum, chunk) => sum + chunk.termCount, 0),
    }));
  if (changed.length > 0) {
    const replaced = changed
      .filter(({ document }) => existing.get(document.key)?.was_read === true)
      .map(({ id }) => id);
    const removed = await removeReplaced(tx, index, replaced);
    await writeDocuments(tx, project, kbId, changed);
    await dropWaiting(
      tx,
      project,
      changed.map(({ id }) => id),
    );
    await chunksTable(tx).insert(
      project,
      kbId,
      changed.map(({ id, indexed }) => ({ id, chunks: indexed.chunks })),
    );
    await writeIndex(tx, index, changed);
    await tidyIndex(tx, index);
    await saveKbIndex(tx, index);
    const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
    await tx.query(
      `UPDATE kbs SET document_count = document_count + $2, chunk_count = chunk_count + $3,
         term_total = term_total + $4, updated_at = now(),
         languages = languages || ARRAY(SELECT language FROM unnest($5::text[]) AS l (language)
           WHERE language <> ALL (languages))
       WHERE id = $1`,
      [
        kbId,
        changed.length - replaced.length,
        sumOf(changed.map(({ indexed }) => indexed.chunks.length)) - removed.chunkCount,
        sumOf(changed.map(({ termCount }) => termCount)) - removed.termCount,
        [...new Set(changed.map(({ document }) => document.language))],
      ],
    );
  }
  const idOf = new Map(changed.map(({ id, document }) => [document.key, id]));
  return items.map(({ document, indexed }): PutDocument => {
    const before = existing.get(document.key);
    if (before?.is_same === true) {
      return { documentId: before.id, status: "unchanged", chunkCount: before.chunk_count };
    }
    return {
      documentId: idOf.get(document.key) ?? "",
      status: before?.was_read === true ? "changed" : "added",
      chunkCount: indexed.chunks.length,
    };
  });
}

/** A document whose postings are made anew from the passages that it has. */
export interface DocumentToIndex {
  id: string;
  indexed: IndexedChunks;
  postings: DocumentPostings;
}

/**
 * The first version numbered the passages of a document from 1; postings count them from 0. In two steps, since no two may
 * have the same number even for a moment. Locks the passages that it changes; the caller has locked the knowledge base.
 */
async function numberFromZero(tx: Db, documentIds: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE chunks c SET ordinal = -c.ordinal
     FROM (SELECT document_id FROM chunks WHERE document_id = ANY ($1::uuid[])
       GROUP BY document_id HAVING min(ordinal) = 1) late
     WHERE c.document_id = late.document_id`,
    [documentIds],
  );
  await tx.query("UPDATE chunks SET ordinal = -ordinal - 1 WHERE document_id = ANY ($1::uuid[]) AND ordinal < 0", [
    documentIds,
  ]);
}

/**
 * Makes the postings of documents anew, from the passages that they had when they were read. One that has changed since
 * then, or that another process has indexed, is left as it is. Part of one transaction; answers how many were indexed.
 */
export async function indexAgain(
  tx: Db,
  project: ProjectId,
  kbId: string,
  items: readonly DocumentToIndex[],
): Promise<number> {
  const index = await lockKb(tx, project, kbId);
  const rows = await tx.query<{ id: string }>(
    `SELECT d.id FROM documents d JOIN unnest($2::uuid[], $3::smallint[], $4::integer[]) AS i (id, version, chunk_count)
       ON d.id = i.id AND d.index_version < i.version AND d.chunk_count = i.chunk_count
     WHERE d.kb_id = $1`,
    [
      kbId,
      items.map(({ id }) => id),
      items.map(({ indexed }) => indexed.version),
      items.map(({ indexed }) => indexed.chunks.length),
    ],
  );
  const outdated = new Set(rows.map(({ id }) => id));
  const changed = items
    .filter(({ id }) => outdated.has(id))
    .map((item) => ({
      ...item,
      first: numberChunks(index, item.indexed.chunks.length),
      termCount: item.indexed.chunks.reduce((sum, chunk) => sum + chunk.termCount, 0),
    }));
  const ids = changed.map(({ id }) => id);
  markDead(index, await rangesOf(tx, ids));
  await tx.query(
    "DELETE FROM chunk_terms WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id = ANY ($1::uuid[]))",
    [ids],
  );
  await numberFromZero(tx, ids);
  await tx.query(
    `UPDATE chunks c SET term_count = i.term_count
     FROM unnest($1::uuid[], $2::integer[], $3::integer[]) AS i (document_id, ordinal, term_count)
     WHERE c.document_id = i.document_id AND c.ordinal = i.ordinal AND c.term_count <> i.term_count`,
    [
      changed.flatMap(({ id, indexed }) => indexed.chunks.map(() => id)),
      changed.flatMap(({ indexed }) => indexed.chunks.map((_, ordinal) => ordinal)),
      changed.flatMap(({ indexed }) => indexed.chunks.map(({ termCount }) => termCount)),
    ],
  );
  await tx.query(
    `UPDATE documents d SET first_chunk_number = i.first, term_count = i.term_count, index_version = i.version
     FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::smallint[]) AS i (id, first, term_count, version)
     WHERE d.id = i.id`,
    [
      ids,
      changed.map(({ first }) => first),
      changed.map(({ termCount }) => termCount),
      changed.map(({ indexed }) => indexed.version),
    ],
  );
  await writeIndex(tx, index, changed);
  await tidyIndex(tx, index);
  await saveKbIndex(tx, index);
  await tx.query(
    `UPDATE kbs SET term_total = (SELECT coalesce(sum(c.term_count), 0) FROM chunks c JOIN documents d
       ON d.id = c.document_id WHERE d.kb_id = $1) WHERE id = $1`,
    [kbId],
  );
  return changed.length;
}

async function lockKb(tx: Db, project: ProjectId, kbId: string): Promise<KbIndex> {
  const kbs = await tx.query(
    "SELECT id FROM kbs WHERE project_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE",
    [project, kbId],
  );
  const index = kbs.length === 0 ? null : await loadKbIndex(tx, kbId);
  if (index === null) throw new ServiceError("not_found", "No knowledge base with this ID exists in this project.");
  return index;
}

async function findExisting(
  tx: Db,
  project: ProjectId,
  kbId: string,
  items: readonly PreparedDocument[],
): Promise<Map<string, ExistingRow>> {
  const rows = await tx.query<ExistingRow>(
    `SELECT d.id, d.key, d.chunk_count, d.content_hash <> '' AS was_read,
       d.content_hash = i.content_hash AND d.status = 'ready' AS is_same
     FROM unnest($3::text[], $4::bytea[]) AS i (key, content_hash) JOIN documents d
       ON d.project_id = $1 AND d.kb_id = $2 AND d.key = i.key`,
    [project, kbId, items.map(({ document }) => document.key), items.map(({ document }) => document.contentHash)],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

async function removeReplaced(
  tx: Db,
  index: KbIndex,
  ids: readonly string[],
): Promise<{ chunkCount: number; termCount: number }> {
  if (ids.length === 0) return { chunkCount: 0, termCount: 0 };
  markDead(index, await rangesOf(tx, ids));
  const rows = await tx.query<{ chunk_count: number; term_count: number }>(
    `WITH gone AS (DELETE FROM chunks WHERE document_id = ANY ($1::uuid[]) RETURNING term_count)
     SELECT count(*) AS chunk_count, coalesce(sum(term_count), 0) AS term_count FROM gone`,
    [ids],
  );
  return { chunkCount: rows[0]?.chunk_count ?? 0, termCount: rows[0]?.term_count ?? 0 };
}

type NumberedItem = PreparedDocument & { id: string; first: number | null; termCount: number };

/** A replaced document keeps its id, and with it the links to it. */
async function writeDocuments(
  tx: Db,
  project: ProjectId,
  kbId: string,
  numbered: readonly NumberedItem[],
): Promise<void> {
  // In one order of keys, as whoever hands in documents locks them.
  const items = numbered.toSorted((a, b) => (a.document.key < b.document.key ? -1 : 1));
  await tx.query(
    `INSERT INTO documents (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language, status,
       chunk_count, first_chunk_number, term_count, index_version)
     SELECT i.id, $1, $2, i.key, i.title, i.url, i.mime, i.size_bytes, i.content_hash, i.language, 'ready',
       i.chunk_count, i.first, i.term_count, i.version
     FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::bytea[], $10::text[],
         $11::integer[], $12::integer[], $13::integer[], $14::smallint[])
       AS i (id, key, title, url, mime, size_bytes, content_hash, language, chunk_count, first, term_count, version)
     ON CONFLICT (kb_id, key) DO UPDATE SET title = excluded.title, url = excluded.url, mime = excluded.mime,
       size_bytes = excluded.size_bytes, content_hash = excluded.content_hash, language = excluded.language,
       status = 'ready', error = NULL, chunk_count = excluded.chunk_count, updated_at = now(),
       first_chunk_number = excluded.first_chunk_number, term_count = excluded.term_count,
       index_version = excluded.index_version`,
    [
      project,
      kbId,
      items.map(({ id }) => id),
      items.map(({ document }) => document.key),
      items.map(({ document }) => document.title),
      items.map(({ document }) => document.url),
      items.map(({ document }) => document.mime),
      items.map(({ document }) => document.sizeBytes),
      items.map(({ document }) => document.contentHash),
      items.map(({ document }) => document.language),
      items.map(({ indexed }) => indexed.chunks.length),
      items.map(({ first }) => first),
      items.map(({ termCount }) => termCount),
      items.map(({ indexed }) => indexed.version),
    ],
  );
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

/**
 * Drops what waits to be read for documents, since something newer is in its place. Whoever reads it has lost its lease
 * by that.
 */
export async function dropWaiting(tx: Db, project: ProjectId, documentIds: readonly string[]): Promise<void> {
  await tx.query("DELETE FROM ingests WHERE project_id = $1 AND document_id = ANY ($2::uuid[])", [
    project,
    documentIds,
  ]);
}
