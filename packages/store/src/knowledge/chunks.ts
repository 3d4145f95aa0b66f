import { stateOf } from "../context.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { loadKbIndex, markDead, removeSomeOfIndex, saveKbIndex, tidyIndex } from "./kb-index.ts";
import { POSTING_BYTES, decodePostings } from "./postings.ts";
import type { DocumentPostings } from "./postings.ts";
import { columnsOf, statements } from "../sql.ts";

/** A passage of a document. */
export interface NewChunk {
  headingPath: string[];
  text: string;
  /** Position in the document's text, in UTF-16 units. */
  startOffset: number;
  endOffset: number;
  /** Length of the body in words. */
  termCount: number;
  /** Page of the document that it begins on, from 1; null if the document has no pages. */
  page: number | null;
}

/** The passages of a document and the data to index them. */
export interface IndexedChunks {
  chunks: readonly NewChunk[];
  /** Version of the indexing. */
  version: number;
  /** Creates the postings. `stem` returns the stems of words, and is called with a few thousand at a time. */
  post(stem: (words: readonly string[]) => Promise<readonly string[]>): Promise<DocumentPostings>;
}

/** A knowledge base with the data that ranking needs. */
export interface SearchedKb {
  id: string;
  number: number;
  documentCount: number;
  chunkCount: number;
  /** Sum of the chunks' term counts. */
  termTotal: number;
  /** Runs of deleted numbers: alternating the first number of each and the one after its last. */
  deadNumbers: number[];
  /** Languages of its documents, as ISO 639-1. */
  languages: string[];
  /** Changes whenever its documents do. */
  version: string;
}

/** The passages of a block that contain a term. */
export interface PostingBlock {
  kbNumber: number;
  /** Index of the term in the search. */
  term: number;
  block: number;
  /** Number of these passages. */
  count: number;
  /** See `decodePostings`; null for a term that is too common for the bounds of a search. */
  postings: Uint16Array | null;
}

/** A document whose passages are searched, by their numbers in its knowledge base. */
export interface NumberedDocument {
  id: string;
  kbNumber: number;
  firstChunkNumber: number;
  chunkCount: number;
  termCount: number;
}

/** A passage with its location. */
export interface PassageRecord {
  id: string;
  kbId: string;
  documentId: string;
  ordinal: number;
  headingPath: string[];
  text: string;
  page: number | null;
}

/** A passage for display. */
export interface FoundChunk {
  chunkId: string;
  documentId: string;
  kbId: string;
  title: string;
  url: string | null;
  mime: string;
  /** Its index among the passages of its document, from 0. */
  ordinal: number;
  headingPath: string[];
  text: string;
  page: number | null;
}

/** Limits of one INSERT: chunks, and their total characters unless a single one has more. */
const INSERT_BATCH = { chunks: 1_000, chars: 1_000_000 } as const;

/**
 * Maximum of postings that a search reads, unless its rarest term alone has more: bounds its time and its memory. The
 * rarest terms come first.
 */
const MAX_READ_POSTINGS = 400_000;

/** Number of similar words that are compared by their trigrams. */
const MAX_SIMILAR = 30;

const sql = statements("knowledge/chunks", {
  maxReadPostingsPostingBytes: MAX_READ_POSTINGS * POSTING_BYTES,
  maxSimilar: MAX_SIMILAR,
});

/** Whether pg_trgm is available; null until it was checked. */
const trigramsOf = stateOf((_db: Db): { isKnown: boolean | null } => ({ isKnown: null }));

/** Returns true if the functions of pg_trgm are in the search path of this connection. */
async function knowsTrigrams(db: Db): Promise<boolean> {
  const trigrams = trigramsOf(db);
  trigrams.isKnown ??= (await sql.knowsTrigrams.one(db))?.has === true;
  return trigrams.isKnown;
}

/**
 * Inserts the chunks of documents in order. Part of `documents.put`, in a transaction that has locked the knowledge
 * base.
 */
export async function insert(
  db: Db,
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

    await sql.insert.run(db, {
      ...columnsOf(batch, "documentId", "ordinal", "text", "startOffset", "endOffset", "termCount", "page"),
      project,
      kbId,
      id: batch.map(() => newId()),
      headingPath: batch.map(({ headingPath }) => JSON.stringify(headingPath)),
    });
  }
}

/**
 * Removes the chunks of a document from the base and its index, and returns their number. Part of a transaction that
 * has locked the knowledge base.
 */
export async function removeOfDocument(
  db: Db,
  kbId: string,
  documentId: string,
): Promise<{ chunkCount: number; termCount: number }> {
  const index = await loadKbIndex(db, kbId);
  if (index === null) {
    await removeSomeOfIndex(db, kbId);
  } else {
    markDead(index, await rangesOf(db, [documentId]));
    await sql.removeOfDocument.run(db, { documentId });
    await tidyIndex(db, index);
    await saveKbIndex(db, index);
  }
  const row = await sql.deleteOfDocument.one(db, { kbId, documentId });
  return { chunkCount: row?.chunkCount ?? 0, termCount: row?.termCount ?? 0 };
}

/**
 * Returns the postings of these terms in those of these knowledge bases that belong to the project, in one snapshot.
 * The most common terms have no postings if there are too many.
 */
export async function readPostings(
  db: Db,
  project: ProjectId,
  search: { kbIds: readonly string[]; terms: readonly string[] },
): Promise<{ kbs: SearchedKb[]; blocks: PostingBlock[] }> {
  const rows = await sql.readPostings.all<PostingRow>(db, { ...search, project });
  return {
    kbs: rows.filter(isKb).map((row) => ({
      id: row.id,
      number: row.number,
      documentCount: row.documentCount,
      chunkCount: row.chunkCount,
      termTotal: row.termTotal,
      deadNumbers: row.deadNumbers,
      languages: row.languages,
      version: row.version,
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
}

/**
 * Returns a passage of this project with its neighbors in the document, in order; none if the passage no longer exists,
 * for example after its document was replaced.
 */
export const listAround = (db: Db, project: ProjectId, id: string, distance: number) =>
  sql.listAround.all<PassageRecord>(db, { project, id, distance });

/** Returns the passages of documents of this project, in order. */
export const list = (db: Db, project: ProjectId, documentIds: readonly string[]) =>
  sql.list.all<NewChunk & { documentId: string }>(db, { project, documentIds });

/** Returns the documents of passages, each once. Deleted numbers have none. */
export const findDocuments = (db: Db, passages: readonly { kbId: string; number: number }[]) =>
  sql.findDocuments.all<NumberedDocument>(db, {
    ...columnsOf(passages, "kbId", "number"),
  });

/** Returns all documents of knowledge bases that have passages. */
export const listDocuments = (db: Db, kbIds: readonly string[]): Promise<NumberedDocument[]> =>
  sql.listDocuments.all<NumberedDocument>(db, { kbIds });

/**
 * Reads passages of this project by their documents and ordinals, in this order; null for one that no longer exists, or
 * whose document has other numbers now. `versions` are those of the knowledge bases in the same snapshot, by ID.
 */
export async function read(
  db: Db,
  project: ProjectId,
  kbIds: readonly string[],
  passages: readonly { document: Pick<NumberedDocument, "id" | "firstChunkNumber">; ordinal: number }[],
): Promise<{ chunks: (FoundChunk | null)[]; versions: Map<string, string> }> {
  const rows = await sql.read.all<FoundChunk & { place: number; version: string | null }>(db, {
    project,
    kbIds,
    id: passages.map(({ document }) => document.id),
    firstChunkNumber: passages.map(({ document }) => document.firstChunkNumber),
    ordinal: passages.map(({ ordinal }) => ordinal),
  });
  const versions = new Map(rows.flatMap(({ kbId, version }) => (version === null ? [] : [[kbId, version] as const])));
  const found = rows.flatMap(({ place: position, version, ...chunk }) =>
    version === null ? [[position - 1, chunk] as const] : [],
  );
  const byPosition = new Map<number, FoundChunk>(found);
  return { chunks: passages.map((_, position) => byPosition.get(position) ?? null), versions };
}

/**
 * Returns words of knowledge bases that a misspelled word may stand for: those of `variants` that exist, and, if the
 * extension pg_trgm is installed, the most similar words, best first.
 */
export async function findSimilarWords(
  db: Db,
  kbNumbers: readonly number[],
  misspelt: { word: string; variants: readonly string[] },
): Promise<string[]> {
  const rows = await sql.findSimilarWords.all(db, { kbNumbers, variants: misspelt.variants });
  if (rows.length > 0 || !(await knowsTrigrams(db))) return rows.map(({ word }) => word);
  const similar = await sql.listLikeWords.all(db, { kbNumbers, word: misspelt.word });
  return similar.map(({ word }) => word);
}

/** Returns the end of the batch of chunks that begins at `first`. */
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

/** Returns the number ranges of documents' passages. */
export const rangesOf = (
  db: Db,
  documentIds: readonly string[],
): Promise<{ id: string; first: number; count: number }[]> => sql.rangesOf.all(db, { documentIds });

/** A knowledge base, or, if the id is null, a block of its postings. */
type PostingRow = { [Name in keyof SearchedKb]: SearchedKb[Name] | null } & {
  number: number;
  term: number;
  block: number;
  bytes: number;
  postings: Buffer | null;
};

function isKb(row: PostingRow): row is PostingRow & SearchedKb {
  return row.id !== null;
}

export { stem } from "./kb-index.ts";
