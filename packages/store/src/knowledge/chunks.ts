import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { loadKbIndex, markDead, removeSomeOfIndex, saveKbIndex, tidyIndex } from "./kb-index.ts";
import { POSTING_BYTES, decodePostings } from "./postings.ts";
import type { DocumentPostings } from "./postings.ts";
import { createStemmer } from "./stem-words.ts";

/** A passage of a document. */
export interface NewChunk {
  headingPath: string[];
  text: string;
  /** Place in the document's text, in UTF-16 units. */
  startOffset: number;
  endOffset: number;
  /** Length of the body in words. */
  termCount: number;
  /** Page of the document that it begins on, from 1; null where the document has no pages. */
  page: number | null;
}

/** The passages of a document with what it takes to index them. */
export interface IndexedChunks {
  chunks: readonly NewChunk[];
  /** Version of the indexing. */
  version: number;
  /** Makes the postings. `stem` answers the stem of each of some words, and is asked for a few thousand at a time. */
  post(stem: (words: readonly string[]) => Promise<readonly string[]>): Promise<DocumentPostings>;
}

/** A knowledge base with what ranking needs to know of it. */
export interface SearchedKb {
  id: string;
  number: number;
  documentCount: number;
  chunkCount: number;
  /** Sum of the chunks' term counts. */
  termTotal: number;
  /** Runs of numbers that have no passage any more: the first of each and the one behind its last, in turns. */
  deadNumbers: number[];
}

/** In which passages of a block a term stands. */
export interface PostingBlock {
  kbNumber: number;
  /** Index of the term in the search. */
  term: number;
  block: number;
  /** How many passages that is. */
  count: number;
  /** See `decodePostings`; null for a term that is too common for the bounds of a search. */
  postings: Uint16Array | null;
}

/** A document whose passages a search looks at, by their numbers in its knowledge base. */
export interface NumberedDocument {
  id: string;
  kbNumber: number;
  firstChunkNumber: number;
  chunkCount: number;
  termCount: number;
}

/** A passage with where it stands. */
export interface PassageRecord {
  id: string;
  kbId: string;
  documentId: string;
  ordinal: number;
  headingPath: string[];
  text: string;
  page: number | null;
}

/** A passage as it is shown. */
export interface FoundChunk {
  chunkId: string;
  documentId: string;
  kbId: string;
  title: string;
  url: string | null;
  mime: string;
  /** Its place among the passages of its document, from 0. */
  ordinal: number;
  headingPath: string[];
  text: string;
  page: number | null;
}

/** Chunks that one statement inserts, and characters of them unless one alone has more: bounds its parameters. */
const INSERT_BATCH = { chunks: 1_000, chars: 1_000_000 } as const;

/**
 * Postings that a search reads at most, unless its rarest term alone has more: bounds its time and its memory. The rarest
 * terms come first.
 */
const MAX_READ_POSTINGS = 400_000;

/** Words that stand for a misspelt one, looked at by their trigrams. */
const MAX_SIMILAR = 30;

/** The passages of documents, and the index by which they are searched. */
export function chunksTable(db: Db) {
  let hasTrigrams: boolean | null = null;

  /** Whether this connection finds the functions of pg_trgm. */
  async function knowsTrigrams(): Promise<boolean> {
    if (hasTrigrams !== null) return hasTrigrams;
    const rows = await db.query<{ has: boolean }>(
      "SELECT to_regoperator('%(text,text)') IS NOT NULL AND to_regproc('similarity') IS NOT NULL AS has",
    );
    return (hasTrigrams = rows[0]?.has === true);
  }

  // The statements of a search hide the length of their arrays behind a SELECT: else Postgres plans each of them anew
  // every time, which takes longer than running it. The blocks of each term are read by the primary key: OFFSET 0 keeps the planner from joining in another way, whatever
  // it believes about the table. Long postings stay where they are until it is clear that they are wanted.
  const READ_POSTINGS = `
    WITH scope AS (
      SELECT id, number, document_count, chunk_count, term_total, blocks, dead_numbers FROM kbs
      WHERE project_id = $1 AND id = ANY ((SELECT $2::uuid[])::uuid[]) AND deleted_at IS NULL
    ), found AS MATERIALIZED (
      SELECT s.number AS kb_number, t.place::integer AS term, b.block, p.postings
      FROM scope s CROSS JOIN unnest((SELECT $3::text[])) WITH ORDINALITY AS t (term, place)
      CROSS JOIN unnest(s.blocks) AS b (block)
      CROSS JOIN LATERAL (
        SELECT postings FROM kb_postings WHERE kb_number = s.number AND block = b.block AND term = t.term OFFSET 0
      ) AS p
    ), sizes AS (
      SELECT term, sum(octet_length(postings)) AS bytes FROM found GROUP BY term
    ), bounds AS MATERIALIZED (
      SELECT term, sum(bytes) OVER w <= ${MAX_READ_POSTINGS * POSTING_BYTES} OR row_number() OVER w = 1 AS is_read
      FROM sizes WINDOW w AS (ORDER BY bytes, term)
    )
    SELECT s.id, s.number, s.document_count, s.chunk_count, s.term_total, s.dead_numbers, NULL::integer AS term,
      NULL::integer AS block, NULL::integer AS bytes, NULL::bytea AS postings
    FROM scope s
    UNION ALL
    SELECT NULL, f.kb_number, NULL, NULL, NULL, NULL, f.term - 1, f.block, octet_length(f.postings),
      CASE WHEN b.is_read THEN f.postings END
    FROM found f JOIN bounds b USING (term)`;

  return {
    /** Postgres's stemmers: see `createStemmer`. */
    stem: createStemmer(db),

    /**
     * Inserts the chunks of documents in their order. Part of `documents.put`, in a transaction that has locked the
     * knowledge base.
     */
    async insert(
      project: ProjectId,
      kbId: string,
      documents: readonly { id: string; chunks: readonly NewChunk[] }[],
    ): Promise<void> {
      const all = documents.flatMap(({ id, chunks }) =>
        chunks.map((chunk, ordinal) => ({ ...chunk, documentId: id, ordinal })),
      );
      for (let first = 0, end = 0; first < all.length; first = end) {
        end = endOfBatch(all, first);
        const batch = all.slice(first, end);
        // Headings go as JSON: unnest would flatten an array of arrays.
        await db.query(
          `INSERT INTO chunks (id, project_id, kb_id, document_id, ordinal, heading_path, text, start_offset,
             end_offset, term_count, page)
           SELECT i.id, $1, $2, i.document_id, i.ordinal, ARRAY(SELECT jsonb_array_elements_text(i.heading_path)),
             i.text, i.start_offset, i.end_offset, i.term_count, i.page
           FROM unnest($3::uuid[], $4::uuid[], $5::integer[], $6::jsonb[], $7::text[], $8::integer[], $9::integer[],
               $10::integer[], $11::integer[])
             AS i (id, document_id, ordinal, heading_path, text, start_offset, end_offset, term_count, page)`,
          [
            project,
            kbId,
            batch.map(() => newId()),
            batch.map(({ documentId }) => documentId),
            batch.map(({ ordinal }) => ordinal),
            batch.map(({ headingPath }) => JSON.stringify(headingPath)),
            batch.map(({ text }) => text),
            batch.map(({ startOffset }) => startOffset),
            batch.map(({ endOffset }) => endOffset),
            batch.map(({ termCount }) => termCount),
            batch.map(({ page }) => page),
          ],
        );
      }
    },

    /**
     * Removes the chunks of a document from the base and from its index, and answers how much that was. Part of a
     * transaction that has locked the knowledge base.
     */
    async removeOfDocument(kbId: string, documentId: string): Promise<{ chunkCount: number; termCount: number }> {
      const index = await loadKbIndex(db, kbId);
      if (index === null) {
        await removeSomeOfIndex(db, kbId);
      } else {
        markDead(index, await rangesOf(db, [documentId]));
        await db.query("UPDATE documents SET first_chunk_number = NULL WHERE id = $1", [documentId]);
        await tidyIndex(db, index);
        await saveKbIndex(db, index);
      }
      const rows = await db.query<{ chunk_count: number; term_count: number }>(
        `WITH gone AS (DELETE FROM chunks WHERE kb_id = $1 AND document_id = $2 RETURNING term_count)
         SELECT count(*) AS chunk_count, coalesce(sum(term_count), 0) AS term_count FROM gone`,
        [kbId, documentId],
      );
      return { chunkCount: rows[0]?.chunk_count ?? 0, termCount: rows[0]?.term_count ?? 0 };
    },

    /**
     * The postings of these terms in those of these knowledge bases that belong to the project, of one moment. The
     * commonest terms come without their postings when there are too many.
     */
    async readPostings(
      project: ProjectId,
      search: { kbIds: readonly string[]; terms: readonly string[] },
    ): Promise<{ kbs: SearchedKb[]; blocks: PostingBlock[] }> {
      const rows = await db.prepared<PostingRow>("chunks_read_postings", READ_POSTINGS, [
        project,
        search.kbIds,
        search.terms,
      ]);
      return {
        kbs: rows.filter(isKb).map((row) => ({
          id: row.id,
          number: row.number,
          documentCount: row.document_count,
          chunkCount: row.chunk_count,
          termTotal: row.term_total,
          deadNumbers: row.dead_numbers,
        })),
        blocks: rows.flatMap((row) =>
          isKb(row)
            ? []
            : [
                {
                  kbNumber: row.number,
                  term: row.term,
                  block: row.block,
                  count: row.bytes / POSTING_BYTES,
                  postings: row.postings === null ? null : decodePostings(row.postings),
                },
              ],
        ),
      };
    },

    /**
     * A passage of this project with the ones around it in its document, in their order; none where the passage is gone,
     * as when its document was read anew.
     */
    async listAround(project: ProjectId, id: string, distance: number): Promise<PassageRecord[]> {
      const rows = await db.query<{
        id: string;
        kb_id: string;
        document_id: string;
        ordinal: number;
        heading_path: string[];
        text: string;
        page: number | null;
      }>(
        `SELECT c.id, c.kb_id, c.document_id, c.ordinal, c.heading_path, c.text, c.page
         FROM chunks a JOIN chunks c ON c.document_id = a.document_id
           AND c.ordinal BETWEEN a.ordinal - $3 AND a.ordinal + $3
         WHERE a.project_id = $1 AND a.id = $2 ORDER BY c.ordinal`,
        [project, id, distance],
      );
      return rows.map((row) => ({
        id: row.id,
        kbId: row.kb_id,
        documentId: row.document_id,
        ordinal: row.ordinal,
        headingPath: row.heading_path,
        text: row.text,
        page: row.page,
      }));
    },

    /** The passages of documents of this project, in their order. */
    async list(project: ProjectId, documentIds: readonly string[]): Promise<(NewChunk & { documentId: string })[]> {
      const rows = await db.query<{
        document_id: string;
        heading_path: string[];
        text: string;
        start_offset: number;
        end_offset: number;
        term_count: number;
        page: number | null;
      }>(
        `SELECT document_id, heading_path, text, start_offset, end_offset, term_count, page FROM chunks
         WHERE project_id = $1 AND document_id = ANY ($2::uuid[]) ORDER BY document_id, ordinal`,
        [project, documentIds],
      );
      return rows.map((row) => ({
        documentId: row.document_id,
        headingPath: row.heading_path,
        text: row.text,
        startOffset: row.start_offset,
        endOffset: row.end_offset,
        termCount: row.term_count,
        page: row.page,
      }));
    },

    /** The documents of passages, each once. A number that has no passage any more has none. */
    async findDocuments(passages: readonly { kbId: string; number: number }[]): Promise<NumberedDocument[]> {
      const rows = await db.prepared<{
        id: string;
        kb_number: number;
        first_chunk_number: number;
        chunk_count: number;
        term_count: number;
      }>(
        "chunks_find_documents",
        `SELECT DISTINCT d.id, k.number AS kb_number, d.first_chunk_number, d.chunk_count, d.term_count
         FROM unnest((SELECT $1::uuid[]), (SELECT $2::integer[])) AS p (kb_id, number) CROSS JOIN LATERAL (
           SELECT id, first_chunk_number, chunk_count, term_count FROM documents
           WHERE kb_id = p.kb_id AND first_chunk_number <= p.number ORDER BY first_chunk_number DESC LIMIT 1
         ) AS d JOIN kbs k ON k.id = p.kb_id
         WHERE p.number < d.first_chunk_number + d.chunk_count`,
        [passages.map(({ kbId }) => kbId), passages.map(({ number }) => number)],
      );
      return rows.map((row) => ({
        id: row.id,
        kbNumber: row.kb_number,
        firstChunkNumber: row.first_chunk_number,
        chunkCount: row.chunk_count,
        termCount: row.term_count,
      }));
    },

    /**
     * Passages of this project by their documents and ordinals, in this order; null for one that is not there any more,
     * or whose document has other numbers by now.
     */
    async read(
      project: ProjectId,
      passages: readonly { document: Pick<NumberedDocument, "id" | "firstChunkNumber">; ordinal: number }[],
    ): Promise<(FoundChunk | null)[]> {
      const rows = await db.prepared<ChunkRow & { place: number }>(
        "chunks_read",
        `SELECT p.place::integer, c.id, c.document_id, c.kb_id, d.title, d.url, d.mime, c.ordinal, c.heading_path,
           c.text, c.page
         FROM unnest((SELECT $2::uuid[]), (SELECT $3::integer[]), (SELECT $4::integer[])) WITH ORDINALITY
           AS p (document_id, first_chunk_number, ordinal, place)
         JOIN documents d ON d.id = p.document_id AND d.first_chunk_number = p.first_chunk_number
         JOIN chunks c ON c.document_id = p.document_id AND c.ordinal = p.ordinal
         WHERE c.project_id = $1`,
        [
          project,
          passages.map(({ document }) => document.id),
          passages.map(({ document }) => document.firstChunkNumber),
          passages.map(({ ordinal }) => ordinal),
        ],
      );
      const byPlace = new Map(rows.map((row) => [row.place - 1, asFound(row)]));
      return passages.map((_, place) => byPlace.get(place) ?? null);
    },

    /**
     * Words of knowledge bases that a misspelt word may stand for: those of `variants` that there are, and, where the
     * extension pg_trgm is there, the words most like it, best first.
     */
    async findSimilarWords(
      kbNumbers: readonly number[],
      misspelt: { word: string; variants: readonly string[] },
    ): Promise<string[]> {
      const rows = await db.prepared<{ word: string }>(
        "chunks_find_variants",
        `SELECT DISTINCT w.word FROM unnest((SELECT $1::integer[])) AS k (number)
         CROSS JOIN unnest((SELECT $2::text[])) AS v (word) JOIN kb_words w ON w.kb_number = k.number AND w.word = v.word`,
        [kbNumbers, misspelt.variants],
      );
      if (rows.length > 0 || !(await knowsTrigrams())) return rows.map(({ word }) => word);
      const similar = await db.prepared<{ word: string }>(
        "chunks_find_similar",
        `SELECT word FROM kb_words WHERE kb_number = ANY ($1::integer[]) AND word % $2
         GROUP BY word ORDER BY similarity(word, $2) DESC, word LIMIT ${MAX_SIMILAR}`,
        [kbNumbers, misspelt.word],
      );
      return similar.map(({ word }) => word);
    },
  };
}

/** Where the batch of chunks ends that begins at `first`. */
function endOfBatch(chunks: readonly NewChunk[], first: number): number {
  let chars = chunks[first]?.text.length ?? 0;
  let end = first + 1;
  while (end < chunks.length && end - first < INSERT_BATCH.chunks) {
    chars += chunks[end]?.text.length ?? 0;
    if (chars > INSERT_BATCH.chars) break;
    end += 1;
  }
  return end;
}

/** The numbers of documents' passages. */
export async function rangesOf(
  db: Db,
  documentIds: readonly string[],
): Promise<{ id: string; first: number; count: number }[]> {
  return db.query(
    `SELECT id, first_chunk_number AS first, chunk_count AS count FROM documents
     WHERE id = ANY ($1::uuid[]) AND first_chunk_number IS NOT NULL`,
    [documentIds],
  );
}

interface KbRow {
  id: string;
  number: number;
  document_count: number;
  chunk_count: number;
  term_total: number;
  dead_numbers: number[];
}

type PostingRow =
  | KbRow
  | { id: null; number: number; term: number; block: number; bytes: number; postings: Buffer | null };

function isKb(row: PostingRow): row is KbRow {
  return row.id !== null;
}

/** A passage as its columns say. */
export interface ChunkRow {
  id: string;
  document_id: string;
  kb_id: string;
  title: string;
  url: string | null;
  mime: string;
  ordinal: number;
  heading_path: string[];
  text: string;
  page: number | null;
}

/** The passage of a row. */
export function asFound(row: ChunkRow): FoundChunk {
  return {
    chunkId: row.id,
    documentId: row.document_id,
    kbId: row.kb_id,
    title: row.title,
    url: row.url,
    mime: row.mime,
    ordinal: row.ordinal,
    headingPath: row.heading_path,
    text: row.text,
    page: row.page,
  };
}
